// What is inside of all middleware: one try, on one node, by the connection.
import { Readable } from "node:stream";
import { type ContextOf } from "../middleware/context";
import { type Request, type Response } from "../middleware/message";
import { type Body, type BodySource, FactoryBody, OnceBody } from "./body/body";
import { call } from "./call";
import { type Timer } from "./clock";
import { type Connection, type ConnectionResponse } from "./connection/connection";
import { TransportError } from "./error";
import { type LiveCall } from "./live";
import { type Node } from "./nodes/node";
import { type Nodes } from "./nodes/pool";
import { Abort } from "./signal";

/** Makes the sender of a transport's plan. */
export function senderOf(connection: Connection, nodes: Nodes): (request: Request, context: ContextOf<"attempt", typeof call>) => Promise<Response> {
    return (request, context) => send(connection, nodes, request, context.get(call) as LiveCall);
}

async function send(connection: Connection, nodes: Nodes, request: Request, live: LiveCall): Promise<Response> {
    const node = nodes.pick(live.lastNode);
    const { origin, prefix } = node.spec;
    live.lastNode = node;
    live.node = origin;
    const body = request.body as Body | undefined;
    // Before the node counts it: a body that is used up is nobody's failure but the caller's.
    const opened = body instanceof FactoryBody || body instanceof OnceBody ? open(body) : undefined;
    const own = live.tryTimeoutMs === Infinity ? undefined : new Try(live);
    const startedMs = live.clock.nowMs();
    node.begin();
    try {
        const response = await connection.send({
            origin,
            method: request.method,
            path: prefix === "" ? request.path : prefix + request.path,
            headers: opened?.length === undefined ? request.headers : { ...request.headers, "content-length": String(opened.length) },
            body: opened === undefined ? (body as string | Uint8Array | undefined) : opened.bytes(),
            signal: own ?? live,
            asStream: live.asStream,
            rawBytesMax: live.limits.rawBytesMax,
        });
        succeeded(node, live, response, startedMs);
        if (own !== undefined && response.body instanceof Readable && !response.body.closed) response.body.once("close", () => own.end());
        else own?.end();
        // A stream may begin before the request's body is at its end.
        if (opened !== undefined && response.body instanceof Readable) live.onEnd(opened.close);
        else opened?.close();
        return response;
    } catch (error) {
        own?.end();
        opened?.close();
        throw failed(node, live, error, startedMs);
    }
}

function succeeded(node: Node, live: LiveCall, { status }: ConnectionResponse, startedMs: number): void {
    const nowMs = live.clock.nowMs();
    const tookMs = nowMs - startedMs;
    node.answered(nowMs, tookMs);
    live.report({ number: live.attempts.length + 1, node: node.spec.origin, status, code: undefined, reason: String(status), tookMs });
}

function failed(node: Node, live: LiveCall, thrown: unknown, startedMs: number): TransportError {
    const nowMs = live.clock.nowMs();
    const error = thrown instanceof TransportError ? thrown : new TransportError("connection.broken", "the connection failed", { cause: thrown });
    if (error.kind === "not_sent" || error.kind === "broken" || error.kind === "timed_out") node.failed(nowMs);
    else node.gaveUp();
    live.report({ number: live.attempts.length + 1, node: node.spec.origin, status: undefined, code: error.code, reason: live.redactor.text(error.message), tookMs: nowMs - startedMs });
    return error;
}

/** The signal of one try: the call's, and its own time. */
class Try extends Abort {
    readonly #live: LiveCall;
    readonly #timer: Timer;

    constructor(live: LiveCall) {
        super();
        this.#live = live;
        const timeoutMs = live.tryTimeoutMs;
        this.#timer = live.clock.after(timeoutMs, () => this.abort(new TransportError("connection.timeout", `the try took longer than its ${Math.round(timeoutMs)} ms`)));
        if (live.aborted) this.abort(live.reason);
        else live.addEventListener("abort", this.#aborted);
    }

    end(): void {
        this.#timer.cancel();
        this.#live.removeEventListener("abort", this.#aborted);
    }

    readonly #aborted = (): void => this.abort(this.#live.reason);
}

interface Opened {
    readonly length: number | undefined;
    bytes(): AsyncGenerator<Uint8Array, void, undefined>;
    /** Lets go of a stream that was not read to its end. */
    readonly close: () => void;
}

/** A body's stream, for one try. */
function open(body: FactoryBody | OnceBody): Opened {
    let source: BodySource;
    try {
        source = body.open();
    } catch (cause) {
        throw cause instanceof TransportError ? cause : bodyFailed(cause);
    }
    // A factory may give anything, since its types are not checked everywhere.
    if (typeof source !== "object" || (source as unknown) === null || !(Symbol.asyncIterator in source)) throw new TransportError("request.invalid", "the function of the body made no stream; it returns a Readable, or an async iterable of bytes");
    const iterator = source[Symbol.asyncIterator]();
    let isDone = false;
    return {
        length: body.byteLength,
        async *bytes() {
            for (;;) {
                let step: IteratorResult<Uint8Array | string>;
                try {
                    step = await iterator.next();
                } catch (cause) {
                    isDone = true;
                    throw bodyFailed(cause);
                }
                if (step.done === true) {
                    isDone = true;
                    return;
                }
                yield typeof step.value === "string" ? Buffer.from(step.value) : step.value;
            }
        },
        close: () => {
            if (isDone) return;
            isDone = true;
            // A stream that waits for its next piece would not notice `return` before that came.
            if (source instanceof Readable) source.destroy();
            else iterator.return?.().then(undefined, () => undefined);
        },
    };
}

function bodyFailed(cause: unknown): TransportError {
    return new TransportError("request.body_failed", "the body failed while it was read", { cause });
}

