// What Leat's Express asks of a response beyond node:http's methods: its fields as they are kept, and a whole reply in one step.
import type { Line } from "./line";
import { heads, http } from "./native";
import { isKept, newHeaders, OutgoingMessage } from "./outgoing";
import { finished, finishUnheard, HIGH_WATER_MARK, isHeard, isHeldOpen, ServerResponse, statusLine } from "./response";

/** The fields that are set on a response, for those who know what they put there; undefined once the head is made. */
export function plainFields(res: ServerResponse): Record<string, [string, string] | undefined> | undefined {
    if (res._header !== null || res.setHeader !== OutgoingMessage.prototype.setHeader || res.getHeader !== OutgoingMessage.prototype.getHeader) return undefined;
    return (res._headers ??= newHeaders()) as Record<string, [string, string] | undefined>;
}

/**
 * Sends a body whose fields are all set, with its length and entity tag, in one step; false if it must go the longer way. What a
 * program may have put in the place of a method on that way is looked at first.
 */
export function sendTagged(res: ServerResponse, body: string | Buffer): boolean {
    const { req, statusCode: status, _exchange: exchange } = res;
    if (exchange < 0 || status < 200 || status === 204 || status === 205 || status === 304 || !res._hasBody || body.length === 0 || body.length > HIGH_WATER_MARK) return false;
    if (res.statusMessage !== undefined || res._header !== null || res._corked !== 0 || res.strictContentLength || res._raw || (status | 0) !== status || status > 999) return false;
    if (!isKept(res) || res.writeHead !== plainWriteHead || res._implicitHeader !== plainImplicitHeader || res._storeHeader !== plainStoreHeader) return false;
    if (isHeldOpen(res, req) || Object.hasOwn(req, "headers") || heads.isConditional(req)) return false;
    const line = statusLine(status);
    if (!http.plain(exchange, status, line, res._headers as object, res._keepAliveTimeout, body)) return false;
    const { socket } = res._line as Line;
    if (socket !== null) socket.bytesWritten += http.written();
    // What programs look at is whether there is one.
    res._header = line;
    res._headerSent = true;
    res.finished = true;
    res._emptyRest = true;
    if (isHeard(res, req)) process.nextTick(finished, res);
    else finishUnheard(res, req);
    return true;
}

const { writeHead: plainWriteHead, _implicitHeader: plainImplicitHeader, _storeHeader: plainStoreHeader } = ServerResponse.prototype;

/** Whether nobody has put a method in the place of `end`. */
export function isPlainEnd(res: ServerResponse): boolean {
    return res.end === ServerResponse.prototype.end;
}
