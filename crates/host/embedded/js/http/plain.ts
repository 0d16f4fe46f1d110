// What Leat's Express asks of a response beyond node:http's methods: its fields as they are kept, and a whole reply in one step.
import type { Line } from "./line";
import { heads, http } from "./native";
import { fieldsOf, isKept, newHeaders, OutgoingMessage, type Unread } from "./outgoing";
import { finished, finishUnheard, HIGH_WATER_MARK, isHeard, isHeldOpen, ServerResponse, statusLine } from "./response";

/** The fields that are set on a response, for those who know what they put there; undefined once the head is made. */
export function plainFields(res: ServerResponse): Record<string, [string, string] | undefined> | undefined {
    if (res._header !== null || res.setHeader !== plainSetHeader || res.getHeader !== plainGetHeader) return undefined;
    return (fieldsOf(res) ?? (res._headers = newHeaders())) as Record<string, [string, string] | undefined>;
}

const POWERED: Unread = { powered: true, type: undefined };
const JSON_BODY: Unread = { powered: false, type: "application/json; charset=utf-8" };
const POWERED_JSON: Unread = { ...JSON_BODY, powered: true };

/** Sends a value as JSON in one step, or does nothing: false. The settings for JSON are the usual ones. */
export function sendValue(res: ServerResponse, value: unknown): boolean {
    const tag = http.reply(res, value, undefined);
    if (tag === undefined) return false;
    res._unread = res._unread === null ? JSON_BODY : POWERED_JSON;
    res._tag = tag;
    (res._line as Line).learn(res);
    return true;
}


/** Sets X-Powered-By of Express on a response that has no fields yet; false if that is to be done by `setHeader`. */
export function setPowered(res: ServerResponse): boolean {
    if (res._headers !== null || res._unread !== null || res._header !== null || res.setHeader !== plainSetHeader) return false;
    res._unread = POWERED;
    return true;
}

/**
 * Sends a body with its length and entity tag in one step, as `type` if it has none yet; false, and nothing is changed, if it must go
 * the longer way. What a program may have put in the place of a method on that way is looked at first.
 */
export function sendInOne(res: ServerResponse, body: string | Buffer, type: string): boolean {
    const { length } = body;
    const exchange = res._exchange;
    const quick = http.reply(res, body, type);
    if (quick !== undefined) {
        res._unread = { powered: res._unread !== null, type };
        res._tag = quick;
        (res._line as Line).learn(res);
        return true;
    }
    if (exchange < 0 || length === 0 || length > HIGH_WATER_MARK || res._header !== null || res.setHeader !== plainSetHeader || res.getHeader !== plainGetHeader) return false;
    const { req, statusCode: status } = res;
    if (status !== 200 && (status < 200 || status === 204 || status === 205 || status === 304 || (status | 0) !== status || status > 999)) return false;
    if (!res._hasBody || res.statusMessage !== undefined || res._corked !== 0 || res.strictContentLength || res._raw || res.end !== plainEnd) return false;
    if (!isKept(res) || res.writeHead !== plainWriteHead || res._implicitHeader !== plainImplicitHeader || res._storeHeader !== plainStoreHeader) return false;
    if (isHeldOpen(res, req) || heads.isConditional(req) || Object.hasOwn(req, "headers")) return false;
    const fields = res._headers;
    let given: string | undefined = type;
    if (fields !== null) {
        if (fields["etag"] !== undefined || fields["content-length"] !== undefined || fields["transfer-encoding"] !== undefined) return false;
        const before = fields["content-type"];
        if (before !== undefined) {
            if (typeof body === "string" && before[1] !== type) return false;
            given = undefined;
        }
    }
    const line = statusLine(status);
    const powered = res._unread !== null;
    const tag = http.sendPlain(exchange, status, line, fields, res._keepAliveTimeout, body, given, powered);
    if (tag === undefined) return false;
    const { socket } = res._line as Line;
    if (socket !== null) socket.bytesWritten += http.written();
    res._unread = { powered, type: given };
    res._tag = tag;
    // What programs look at is whether there is one.
    res._header = line;
    res._headerSent = true;
    res.finished = true;
    res._emptyRest = true;
    if (isHeard(res, req)) process.nextTick(finished, res);
    else finishUnheard(res, req);
    return true;
}

const { end: plainEnd, writeHead: plainWriteHead, _implicitHeader: plainImplicitHeader, _storeHeader: plainStoreHeader } = ServerResponse.prototype;
const { setHeader: plainSetHeader, getHeader: plainGetHeader } = OutgoingMessage.prototype;

/** Whether nobody has put a method in the place of `end`. */
export function isPlainEnd(res: ServerResponse): boolean {
    return res.end === plainEnd;
}
