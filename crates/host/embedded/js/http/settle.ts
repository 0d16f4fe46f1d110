// How an exchange ends: what is told of it, and when.
import type { IncomingMessage } from "./incoming";
import { listens, receiveData, receiveEnd, receiveWhole } from "./incoming";
import type { Line } from "./line";
import { http, KEEP, LAST } from "./native";
import type { ServerResponse } from "./response";

type Callback = (error?: Error | null) => void;

/** Reports what was done wrong, as Node's responses do: to the callback and as 'error'. */
export function fault(res: ServerResponse, error: Error, callback: Callback | undefined): void {
    const unheard = isSettledEarly(res);
    process.nextTick(() => {
        if (typeof callback === "function") callback(error);
        if (unheard || !res.destroyed) res.emit("error", error);
    });
}

/**
 * Whether the response is closed because nobody listened to it, in the very call for its request: by Node it is open until two
 * ticks later. Which request of its connection it answered is kept negated, in place of its exchange's number.
 */
export function isSettledEarly({ _exchange: settled, _line: line }: ServerResponse): boolean {
    return settled < -1 && line !== null && !line.closed && -2 - settled === line.requests && http.serving() === line.id;
}

/** Somebody listens after all to a response that was settled early. */
export function reopen(res: ServerResponse): void {
    if (!res._closed || !isSettledEarly(res)) return;
    res.destroyed = false;
    res._closed = false;
    process.nextTick(() => {
        process.nextTick(close, res);
        res.emit("finish");
    });
}

/** Whether the rest of the request's body is of interest: with the reply's end the engine skips it. */
export function isHeldOpen(res: ServerResponse, req: IncomingMessage): boolean {
    return !req._bodyDone && !res._last && (req._consuming || listens(req));
}

/** The last byte was sent. */
export function ended(res: ServerResponse): void {
    res.finished = true;
    if (res._eventsCount !== undefined && res._eventsCount !== 0) res.emit("prefinish");
    const exchange = res._exchange;
    if (res._late !== null) {
        res._lateEnd = true;
        return;
    }
    // The connection has gone: nobody will have taken it.
    if (exchange < 0) return;
    const { req } = res;
    if (isHeldOpen(res, req) && !res._asked) {
        res._needDrain = false;
        process.nextTick(finished, res);
        return;
    }
    http.end(exchange, LAST | (res._last ? 0 : KEEP));
    res._emptyRest = true;
    if (res._asked) (res._waiting ??= []).push(() => finished(res));
    else process.nextTick(finished, res);
}

/** Whether somebody could notice the events of the exchange. */
export function isHeard(res: ServerResponse, req: IncomingMessage): boolean {
    return (res._eventsCount !== undefined && res._eventsCount !== 0) || listens(req);
}

/** The reply's bytes were taken: 'finish', after what the server does by it. */
export function finished(res: ServerResponse): void {
    if (res._writableFinished) return;
    res._writableFinished = true;
    const { req } = res;
    const line = res._line;
    if (req !== undefined) {
        if (!req._consuming && !req._dumped) req._dump();
        detach(res, req, line);
    }
    process.nextTick(close, res);
    res.emit("finish");
}

/** As `finished`, for a reply that nobody listens to. */
export function finishUnheard(res: ServerResponse, req: IncomingMessage): void {
    res._writableFinished = true;
    if (!req._bodyDone) {
        req._bodyDone = true;
        req._dumped = true;
    }
    req.complete = true;
    res.destroyed = true;
    res._closed = true;
    detach(res, req, res._line);
}

function detach(res: ServerResponse, req: IncomingMessage, line: Line | null): void {
    if (res._emptyRest) {
        line?.ended(res);
        // For `isSettledEarly`.
        res._exchange = line === null ? -1 : -2 - line.requests;
        req._res = null;
        req._exchange = -1;
    }
    line?.detach(res);
}

function close(res: ServerResponse): void {
    if (res._closed) return;
    res.destroyed = true;
    res._closed = true;
    res.emit("close");
}

export function closeSoon(res: ServerResponse): void {
    process.nextTick(close, res);
}

/** A reply may have waited for the end of the request. */
function bodyEnded(res: ServerResponse): void {
    if (!res.finished || res._emptyRest) return;
    res._emptyRest = true;
    http.end(res._exchange, LAST | (res._last ? 0 : KEEP));
    if (res._writableFinished) detach(res, res.req, res._line);
}

/** What the host tells of an exchange comes to these. */
export const exchange = {
    data(res: ServerResponse, bytes: Uint8Array): void {
        receiveData(res.req, bytes);
    },

    end(res: ServerResponse, trailers: string[] | undefined): void {
        receiveEnd(res.req, trailers);
        bodyEnded(res);
    },

    /** The whole body is with the host. */
    body(res: ServerResponse): void {
        receiveWhole(res.req);
        bodyEnded(res);
    },

    writable(res: ServerResponse): void {
        res._unconfirmed = 0;
        res._asked = false;
        const waiting = res._waiting;
        res._waiting = null;
        if (waiting !== null) for (const callback of waiting) callback();
        if (res._needDrain && !res.finished && !res.destroyed) {
            res._needDrain = false;
            res.emit("drain");
        }
    },
};
