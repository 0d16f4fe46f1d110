// The one error of the transport: which mistake it is, whose, and what every try came to.
import { type Response } from "../middleware/message";

/** What went wrong. They are stable: programs may compare them. */
export type TransportErrorCode =
    /** An option of the transport, of a built-in middleware or of a connection is not what it takes. Nothing was sent. */
    | "options.invalid"
    /** A call has a URL, a header, a body or an option that cannot be sent. Nothing was sent. */
    | "request.invalid"
    /** A body that can be read once was asked for a second time. */
    | "request.body_used"
    /** A body of the caller's failed while it was read. `cause` is its error. */
    | "request.body_failed"
    /** The caller's signal aborted. `cause` is its reason. */
    | "call.aborted"
    /** The call's `timeoutMs` was over, wherever the call was by then. */
    | "call.deadline"
    /** The transport was closed. */
    | "transport.closed"
    /** There is no node that the call may go to. */
    | "node.none"
    /** Another try of the same call answered first, so this one was given up: see `hedge`. Seen in `attempts` only. */
    | "hedge.lost"
    /** A breaker refused the call. */
    | "breaker.open"
    /** No connection came about, so nothing was sent. */
    | "connection.failed"
    /** The peer said that it did nothing with the request (HTTP/2 has ways to say so). */
    | "connection.not_processed"
    /** The connection broke after something was sent, and before the response was whole. */
    | "connection.broken"
    /** One try took longer than it may; the call may have time left. */
    | "connection.timeout"
    /** What came is no HTTP. */
    | "connection.protocol"
    /** A body was larger than a limit: as it came, decoded, or in the ratio of both. `limit` is the limit's name. */
    | "response.limit"
    /** A body does not decode by its `content-encoding`. */
    | "response.encoding"
    /** A body is not what its `content-type` says, or carries what must not get into an object. */
    | "response.body"
    /** The status is one of those that are errors here (`throwStatus`). `response` has it. */
    | "response.status"
    /** The peer is not the product that it should be. */
    | "product.mismatch"
    /** No credentials came about. `cause` tells why. */
    | "auth.failed"
    /** A middleware threw something else than this error: `cause`. */
    | "middleware.failed";

/** How a try ended, in the words of the retry policy. */
export type FailureKind = "not_sent" | "not_processed" | "broken" | "timed_out" | "other";

const KINDS: Readonly<Partial<Record<TransportErrorCode, FailureKind>>> = {
    "connection.failed": "not_sent",
    "connection.not_processed": "not_processed",
    "connection.broken": "broken",
    "connection.protocol": "broken",
    "connection.timeout": "timed_out",
};

/** One try of a call, as errors and events tell of it. It has no headers and no bodies. */
export interface AttemptReport {
    /** From 1. */
    readonly number: number;
    /** The origin that it went to; undefined if it came to none. */
    readonly node: string | undefined;
    /** Undefined if no response came. */
    readonly status: number | undefined;
    /** Undefined if a response came. */
    readonly code: TransportErrorCode | undefined;
    /** In words: of a failure its message, else the status. */
    readonly reason: string;
    readonly tookMs: number;
}

/** What an error may carry. */
export interface TransportErrorDetails {
    readonly cause?: unknown;
    /** Which limit, of `response.limit`. */
    readonly limit?: string;
    /** The response that is the error, or in which it was found. */
    readonly response?: Response;
}

/**
 * Every failure of the transport. Its message, its stack and its enumerable members name the method, the path and the node, and
 * never headers or bodies; secrets are taken out of them by value. `response` is there to be asked for, and no logger walks into it.
 */
export class TransportError extends Error {
    override readonly name = "TransportError";
    readonly code: TransportErrorCode;
    readonly limit: string | undefined;
    /** All tries of the call in their order; empty as long as the error is inside of the call. */
    attempts: readonly AttemptReport[] = [];
    readonly #response: Response | undefined;

    constructor(code: TransportErrorCode, message: string, details?: TransportErrorDetails) {
        super(message, details?.cause === undefined ? undefined : { cause: details.cause });
        this.code = code;
        this.limit = details?.limit;
        this.#response = details?.response;
    }

    /** The response, where one came. */
    get response(): Response | undefined {
        return this.#response;
    }

    /** What the retry policy calls it. */
    get kind(): FailureKind {
        return KINDS[this.code] ?? "other";
    }
}

/** The one message of a wrong option: where it is, what was found, and what it takes. */
export function wrongOption(name: string, given: unknown, accepted: string): TransportError {
    return new TransportError("options.invalid", `${name} is ${shown(given)}; it takes ${accepted}`);
}

/** A call that cannot be sent. */
export function wrongRequest(name: string, given: unknown, accepted: string): TransportError {
    return new TransportError("request.invalid", `${name} is ${shown(given)}; it takes ${accepted}`);
}

/** The kind of a value and never the value of a text, which may be a secret. */
export function shown(given: unknown): string {
    if (given === null) return "null";
    if (Array.isArray(given)) return `an array of ${given.length}`;
    switch (typeof given) {
        case "undefined":
            return "missing";
        case "number":
        case "boolean":
            return String(given);
        case "string":
            return given === "" ? "an empty string" : "a string";
        case "object":
            return `an object (${Object.getPrototypeOf(given) === null ? "without prototype" : ((given.constructor as { readonly name?: string } | undefined)?.name ?? "Object")})`;
        default:
            return `a ${typeof given}`;
    }
}
