// What happens around an exchange besides its bytes, in Node's order: 'finish', 'close', 'aborted', 'drain', 'timeout'.
import { channel as diagnostics } from "node:diagnostics_channel";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { giveBack } from "./body";
import { type Channel, Mode } from "./channel";
import { kDetachAbortSignal, kEndCallbacks, kNeedDrain, kWritableFinished, NODE_MAJOR } from "./node_symbols";
import { kChannel, LeatSocket } from "./socket";

/** Published when a reply is finished, as by node:http. */
export const responseFinish = diagnostics("http.server.response.finish");

/** Private members of Node's messages. */
export interface ResponseState {
    _last: boolean;
    _closed: boolean;
    destroyed: boolean;
    finished: boolean;
    _eventsCount: number;
    socket: unknown;
}

interface RequestState {
    _consuming: boolean;
    _dumped: boolean;
    _dump(): void;
    _eventsCount?: number;
    _readableState: {
        resumeScheduled: boolean;
        ended: boolean;
        endEmitted: boolean;
        destroyed: boolean;
        closed: boolean;
        closeEmitted: boolean;
        length: number;
    };
}

interface Bag {
    [symbol: symbol]: unknown;
}

/** Replies that were sent while nobody listened, to be settled at the end of the turn. */
let sent: Channel[] = [];

/** The number of the call of a 'request' listener that runs now, or 0. */
let serving = 0;
let calls = 0;
/** Whether ticks will settle what was sent. */
let ticking = false;

/** A 'request' listener is called. */
export function enterCall(): void {
    serving = ++calls;
}

/** It has returned. */
export function leaveCall(): void {
    serving = 0;
}

/**
 * The reply is sent and nobody listens to it: what is left to do can wait. In Node it is done two ticks after, and a
 * write that comes later still is no error, since the response is destroyed. Whether it comes later is known by itself
 * for a reply that a listener sent before it returned (`settleLate`), so that such a reply costs no ticks.
 */
export function settleLater(channel: Channel): void {
    channel.sentIn = serving;
    if (serving === 0 && !ticking) {
        ticking = true;
        process.nextTick(settleSoon);
    }
    sent.push(channel);
}

function settleSoon(): void {
    process.nextTick(settle);
}

/** Something is written to a reply that is finished: if the call that sent it is over, it is time to settle it. */
export function settleLate(channel: Channel, res: ServerResponse): void {
    if (channel.res === res && channel.sentIn !== 0 && channel.sentIn !== serving) settleOne(channel);
}

/** Settles what was sent so far. */
export function settle(): void {
    ticking = false;
    if (sent.length === 0) return;
    const batch = sent;
    sent = [];
    for (const channel of batch) settleOne(channel);
}

function settleOne(channel: Channel): void {
    const { req, res } = channel;
    if (req === null || res === null || !(res as unknown as ResponseState).finished) return;
    if (isHeard(req, res)) channel.resource?.runInAsyncScope(finished, null, channel, req, res);
    else finishUnheard(channel, req, res);
}

/** Whether somebody could notice the events of the exchange. */
export function isHeard(req: IncomingMessage, res: ServerResponse): boolean {
    if ((res as unknown as ResponseState)._eventsCount !== 0 || listens(req) || responseFinish.hasSubscribers) return true;
    return kEndCallbacks !== undefined && (res as unknown as Bag)[kEndCallbacks] !== null;
}

/** Whether the request has a listener. Node 20 counts none from the start and newer ones keep no count until there is one. */
export function listens(req: IncomingMessage): boolean {
    const count = (req as unknown as RequestState)._eventsCount;
    return count !== undefined && count !== 0;
}

/** The reply's bytes were taken: 'finish', after what the server does by it. */
export function finished(channel: Channel, req: IncomingMessage, res: ServerResponse): void {
    if (channel.res !== res) return;
    const bag = res as unknown as Bag;
    if (kWritableFinished !== undefined) bag[kWritableFinished] = true;
    const callbacks = kEndCallbacks === undefined ? null : (bag[kEndCallbacks] as ((error: null) => void)[] | null);
    if (callbacks !== null && kEndCallbacks !== undefined) {
        bag[kEndCallbacks] = null;
        for (const callback of callbacks) callback(null);
    }
    afterFinish(channel, req, res);
    res.emit("finish");
}

/** Makes 'finish' of a reply that is written through the socket end the exchange. The listener comes first, as Node's does. */
export function hookFinish(channel: Channel): void {
    if (channel.hooked || channel.mode !== Mode.Http) return;
    const { res, req } = channel;
    if (res === null || req === null) return;
    channel.hooked = true;
    res.prependListener("finish", () => {
        if (channel.res === res) afterFinish(channel, req, res);
    });
}

function afterFinish(channel: Channel, req: IncomingMessage, res: ServerResponse): void {
    const { socket } = channel;
    const { server } = channel.core;
    if (responseFinish.hasSubscribers) responseFinish.publish({ request: req, response: res, socket, server });
    channel.req = null;
    const state = req as unknown as RequestState;
    const wanted = isWanted(req);
    if (!state._consuming && !state._readableState.resumeScheduled) {
        if (channel.endOwed) {
            channel.endOwed = false;
            req.push(null);
        }
        state._dump();
    }
    detach(channel, req, res);
    process.nextTick(emitClose, res);
    const last = (res as unknown as ResponseState)._last;
    channel.endReply(!last, wanted);
    if (!wanted && !channel.bodyDone) channel.endBody();
    if (last) socket.destroySoon();
    else if (socket.timeout) socket.setTimeout(0);
}

/** As `afterFinish` with its events, for a reply that nobody listens to: only what can be seen later. */
function finishUnheard(channel: Channel, req: IncomingMessage, res: ServerResponse): void {
    if (kWritableFinished !== undefined) (res as unknown as Bag)[kWritableFinished] = true;
    channel.req = null;
    const state = req as unknown as RequestState;
    const readable = state._readableState;
    if (!state._consuming && !readable.resumeScheduled) {
        if (channel.endOwed || !channel.bodyDone) {
            // The engine skips a body that nobody wants.
            channel.endOwed = false;
            if (channel.bodyDone) channel.body = null;
            req.complete = true;
            state._dumped = true;
            readable.ended = true;
            readable.endEmitted = true;
            readable.destroyed = true;
            readable.closed = true;
            readable.closeEmitted = true;
        } else {
            state._dump();
        }
    }
    const wanted = isWanted(req);
    detach(channel, req, res);
    const response = res as unknown as ResponseState;
    channel.endReply(!response._last, wanted);
    if (!wanted && !channel.bodyDone) channel.endBody();
    response.destroyed = true;
    response._closed = true;
    if (response._last) channel.socket.destroySoon();
    else if (channel.socket.timeout) channel.socket.setTimeout(0);
}

/** Whether somebody reads the request, or is told of its end. */
function isWanted(req: IncomingMessage): boolean {
    const state = req as unknown as RequestState;
    return !state._dumped && (state._consuming || state._readableState.resumeScheduled || listens(req));
}

/**
 * Nobody wants what is left of the request's body any more, whoever has read of it: its stream ends here, and with the
 * reply's end, which does not wait for it, the engine skips the rest.
 */
export function forgo(req: IncomingMessage): void {
    const { socket } = req;
    if (!(socket instanceof LeatSocket)) return;
    const channel = socket[kChannel];
    if (channel.body !== req || channel.bodyDone) return;
    channel.body = null;
    (req as unknown as RequestState)._dumped = true;
    req.push(null);
}

function detach(channel: Channel, req: IncomingMessage, res: ServerResponse): void {
    channel.socket._httpMessage = null;
    (res as unknown as ResponseState).socket = null;
    channel.res = null;
    if (channel.h2) channel.trailer = (res as unknown as { _trailer: string })._trailer;
    if (kDetachAbortSignal !== undefined) (req as unknown as Record<symbol, () => void>)[kDetachAbortSignal]?.();
    channel.release();
}

function emitClose(res: ServerResponse): void {
    const state = res as unknown as ResponseState;
    if (state._closed) return;
    state.destroyed = true;
    state._closed = true;
    res.emit("close");
}

/** The socket is closed: what is open ends with it. */
export function closed(this: LeatSocket): void {
    const channel = this[kChannel];
    giveBack(channel);
    // What is left of a request may still be read over HTTP/2, though its reply is whole.
    const req = channel.req ?? (channel.h2 && channel.body?.complete === false ? channel.body : null);
    channel.endOwed = false;
    channel.req = null;
    channel.res = null;
    channel.body = null;
    req?.destroy(aborted());
}

/** The socket of a response that is not finished is closed. */
export function closeResponse(res: ServerResponse): void {
    emitClose(res);
}

/** The socket took what it was given. */
export function drained(this: LeatSocket): void {
    const res = this._httpMessage as (ServerResponse & Bag) | null;
    if (res === null || res.finished || res[kNeedDrain] !== true) return;
    if (NODE_MAJOR >= 24 && res.writableLength !== 0) return;
    res[kNeedDrain] = false;
    res.emit("drain");
}

/** Nothing happened on the socket for its `timeout`. */
export function timedOut(this: LeatSocket): void {
    const channel = this[kChannel];
    const { req, res } = channel;
    const request = req !== null && !req.complete && req.emit("timeout", this);
    const response = res?.emit("timeout", this) === true;
    const server = channel.core.server.emit("timeout", this);
    if (!request && !response && !server) this.destroy();
}

/** The error of a request whose connection went away. */
function aborted(): Error {
    return Object.assign(new Error("aborted"), { code: "ECONNRESET" });
}
