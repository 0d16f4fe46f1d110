// Tells of calls and tries on channels of node:diagnostics_channel. Where nobody subscribes, it does nothing.
import { channel } from "node:diagnostics_channel";
import { middleware, type Middleware } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call, type Call } from "../call";
import { type AttemptReport, TransportError, type TransportErrorCode } from "../error";
import { callOf } from "./own_call";

/** On `leat.transport.call.start`. Paths are without secrets that are known. */
export interface CallStarted {
    /** The same in all messages of one call, and no other's in this process. */
    readonly id: number;
    readonly method: string;
    readonly path: string;
    readonly route: string | undefined;
}

/** On `leat.transport.call.end`, once for each start: after the body, also of a stream. */
export interface CallEnded extends CallStarted {
    /** Undefined if the call failed. */
    readonly status: number | undefined;
    /** Undefined if it came to a response; `middleware.failed` for what is no error of the transport. */
    readonly code: TransportErrorCode | undefined;
    readonly attempts: readonly AttemptReport[];
    readonly tookMs: number;
}

/** On `leat.transport.attempt.start`. */
export interface AttemptStarted {
    readonly id: number;
    /** Of the try, from 1. */
    readonly number: number;
    readonly method: string;
    readonly path: string;
}

/** On `leat.transport.attempt.end`. */
export interface AttemptEnded extends AttemptStarted {
    /** The origin; undefined if the try came to none. */
    readonly node: string | undefined;
    readonly status: number | undefined;
    readonly code: TransportErrorCode | undefined;
}

const callStart = channel("leat.transport.call.start");
const callEnd = channel("leat.transport.call.end");
const attemptStart = channel("leat.transport.attempt.start");
const attemptEnd = channel("leat.transport.attempt.end");

let lastId = 0;

/** What is known of a call that somebody hears of. */
class Told {
    readonly id: number;
    readonly started: CallStarted;
    status: number | undefined = undefined;
    code: TransportErrorCode | undefined = undefined;

    constructor(own: Call, method: string, path: string) {
        this.id = ++lastId;
        this.started = { id: this.id, method, path: own.redactor.text(path), route: own.options.route };
    }
}

const told = slot("diagnostics_told").of<Told>();

/**
 * Publishes each call and each try. Two middleware, one of each scope: `middleware: [diagnostics(), …]`. A call is told of from its
 * start on or not at all; what a subscriber throws is an uncaught exception of the process, and does nothing to the call.
 */
export function diagnostics(): readonly [Middleware<"call">, Middleware<"attempt">] {
    return [CALL, ATTEMPT];
}

const CALL = middleware({
    name: "diagnostics",
    scope: "call",
    reads: [call],
    writes: [told],
    onRequest(context) {
        if (!callStart.hasSubscribers && !callEnd.hasSubscribers && !attemptStart.hasSubscribers && !attemptEnd.hasSubscribers) return undefined;
        const own = callOf(context);
        const state = new Told(own, context.request.method, context.request.path);
        callStart.publish(state.started);
        own.onEnd(() => ended(own, state));
        return { set: { diagnostics_told: state } };
    },
    onComplete(context) {
        const state = context.get(told);
        if (state === undefined) return undefined;
        state.status = context.response?.status;
        state.code = context.response === undefined ? codeOf(context.error) : undefined;
        return undefined;
    },
});

const ATTEMPT = middleware({
    name: "diagnostics.attempt",
    scope: "attempt",
    reads: [call, told],
    onRequest(context) {
        const state = context.get(told);
        if (state === undefined || !attemptStart.hasSubscribers) return undefined;
        attemptStart.publish(attemptOf(state, callOf(context), context.attempt, context.request));
        return undefined;
    },
    onComplete(context) {
        const state = context.get(told);
        if (state === undefined || !attemptEnd.hasSubscribers) return undefined;
        const own = callOf(context);
        const started = attemptOf(state, own, context.attempt, context.request);
        attemptEnd.publish({ ...started, node: own.node, status: context.response?.status, code: context.response === undefined ? codeOf(context.error) : undefined } satisfies AttemptEnded);
        return undefined;
    },
});

function ended(own: Call, state: Told): void {
    // A call that is ended from outside does not wait for what is inside of it.
    if (state.status === undefined && state.code === undefined) state.code = codeOf(own.signal.reason);
    const attempts = own.attempts.map((each) => ({ ...each }));
    callEnd.publish({ ...state.started, status: state.status, code: state.code, attempts, tookMs: own.clock.nowMs() - own.startedMs } satisfies CallEnded);
}

function attemptOf({ id }: Told, own: Call, number: number, { method, path }: { readonly method: string; readonly path: string }): AttemptStarted {
    return { id, number, method, path: own.redactor.text(path) };
}

function codeOf(error: unknown): TransportErrorCode {
    return error instanceof TransportError ? error.code : "middleware.failed";
}
