// What is inside of all middleware: one try, on one node, by the connection.
import { Readable } from "node:stream";
import { type ContextOf } from "../middleware/context";
import { isThenable } from "../middleware/apply";
import { type Awaitable, type Request, type Response } from "../middleware/message";
import { type Body, FactoryBody, OnceBody } from "./body/body";
import { open, type Opened } from "./body/open";
import { call } from "./call";
import { type Connection, type ConnectionResponse } from "./connection/connection";
import { TransportError } from "./error";
import { type LiveCall } from "./live";
import { type Node } from "./nodes/node";
import { type Nodes } from "./nodes/pool";
import { Hedge } from "./nodes/hedge";
import { type HedgeSettings } from "./nodes/settings";
import { Try } from "./try";

/** Makes the sender of a transport's plan. */
export function senderOf(connection: Connection, nodes: Nodes, hedging: HedgeSettings | undefined): (request: Request, context: ContextOf<"attempt", typeof call>) => Awaitable<Response> {
    const plain = (request: Request, live: LiveCall, node: Node, own: Try | undefined): Awaitable<Response> => send(connection, request, live, node, own);
    const hedge = hedging === undefined ? undefined : new Hedge(hedging, nodes, plain);
    return (request, context) => {
        const live = context.get(call) as LiveCall;
        const node = nodes.pick(live.lastNode);
        if (hedge?.isFor(request, live) === true) return hedge.send(request, live, node);
        return plain(request, live, node, live.tryTimeoutMs === Infinity ? undefined : new Try(live));
    };
}

function send(connection: Connection, request: Request, live: LiveCall, node: Node, own: Try | undefined): Awaitable<Response> {
    const { origin, prefix } = node.spec;
    live.lastNode = node;
    live.node = origin;
    const body = request.body as Body | undefined;
    // Before the node counts it: a body that is used up is nobody's failure but the caller's.
    const opened = body instanceof FactoryBody || body instanceof OnceBody ? openFor(body, own) : undefined;
    const startedMs = live.clock.nowMs();
    node.begin();
    let sent: Awaitable<ConnectionResponse>;
    try {
        sent = connection.send({
            origin,
            method: request.method,
            path: prefix === "" ? request.path : prefix + request.path,
            headers: opened?.length === undefined ? request.headers : { ...request.headers, "content-length": String(opened.length) },
            body: opened === undefined ? (body as string | Uint8Array | undefined) : opened.bytes(),
            signal: own ?? live,
            asStream: live.asStream,
            rawBytesMax: live.limits.rawBytesMax,
        });
    } catch (error) {
        throw lost(error, live, node, own, opened, startedMs);
    }
    return isThenable(sent) ? sentLater(sent, live, node, own, opened, startedMs) : came(sent, live, node, own, opened, startedMs);
}

async function sentLater(pending: PromiseLike<ConnectionResponse>, live: LiveCall, node: Node, own: Try | undefined, opened: Opened | undefined, startedMs: number): Promise<Response> {
    let response: ConnectionResponse;
    try {
        response = await pending;
    } catch (error) {
        throw lost(error, live, node, own, opened, startedMs);
    }
    return came(response, live, node, own, opened, startedMs);
}

function came(response: ConnectionResponse, live: LiveCall, node: Node, own: Try | undefined, opened: Opened | undefined, startedMs: number): Response {
    succeeded(node, live, response, startedMs);
    if (own !== undefined && response.body instanceof Readable && !response.body.closed) response.body.once("close", () => own.end());
    else own?.end();
    // A stream may begin before the request's body is at its end.
    if (opened !== undefined && response.body instanceof Readable) live.onEnd(opened.close);
    else opened?.close();
    return response;
}

function lost(thrown: unknown, live: LiveCall, node: Node, own: Try | undefined, opened: Opened | undefined, startedMs: number): TransportError {
    own?.end();
    opened?.close();
    return failed(node, live, thrown, startedMs);
}

function openFor(body: FactoryBody | OnceBody, own: Try | undefined): Opened {
    try {
        return open(body);
    } catch (error) {
        own?.end();
        throw error;
    }
}

function succeeded(node: Node, live: LiveCall, { status }: ConnectionResponse, startedMs: number): void {
    const nowMs = live.clock.nowMs();
    const tookMs = nowMs - startedMs;
    node.answered(nowMs, tookMs, status);
    live.node = node.spec.origin;
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
