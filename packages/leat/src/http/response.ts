import { ACK, KEEP, LAST, OUT_DATA, OUT_HEAD, READS_ON } from "../native/records";
import { addBuffer, batchNumber, LATIN1, pushText, UTF8, isLent } from "../native/lane";
import { type Channel } from "./channel";
import { type HeadState, isPlainValue, knownName, plainHead, statusLine } from "./head";
import { finished, isHeard, settleLate, settleLater } from "./lifecycle";
import { kOutHeaders, nodeEmit, nodeEnd, nodeGetHeader, NodeOutgoingMessage, nodeSetHeader, NodeServerResponse, nodeWriteHead } from "./node_symbols";
import { socketWrite } from "./socket";
import { STATUS_CODES, type ServerResponse as NodeResponse } from "node:http";

/** The channel of a response that is on the lane. */
export const kLine = Symbol("leat.line");

/** Longer strings become buffers, which leave at once. */
const TEXT_CHARS_MAX = 16_384;

type StoreHeader = (this: unknown, firstLine: string, headers: unknown) => void;
type End = (this: unknown, ...args: unknown[]) => unknown;
type Write = (this: unknown, ...args: unknown[]) => boolean;
type WriteHead = (this: unknown, ...args: unknown[]) => unknown;

/** Node's map of fields without a prototype is a slow object to V8; one whose prototype is such an object is not. */
const OutHeaders = function OutHeaders() {
    // Nothing to set.
} as unknown as new () => Record<string, unknown>;
(OutHeaders as { prototype: unknown }).prototype = Object.create(null);

/** Node's private members of a response. */
interface Private extends HeadState {
    _storeHeader: StoreHeader;
    _implicitHeader: () => void;
    _finish: () => void;
    _trailer: string;
    finished: boolean;
    destroyed: boolean;
    strictContentLength: boolean;
    outputData: unknown[];
    [kLine]: Channel | undefined;
}

const base = NodeOutgoingMessage.prototype as unknown as { _storeHeader: StoreHeader };
const nodeStoreHeader = base._storeHeader;
const replaceable = NodeServerResponse.prototype as unknown as { write: Write; end: End; writeHead: WriteHead; setHeader: WriteHead; _storeHeader: StoreHeader };

/** A response. It is Node's ServerResponse, but a reply that is sent as a whole goes to the engine past the socket's stream. */
export class ServerResponse extends NodeServerResponse {
    declare [kLine]: Channel | undefined;

    override setHeader(name: string, value: unknown): this {
        const lower = knownName(name);
        const bag = this as unknown as Record<symbol, Record<string, unknown> | null>;
        if (lower === undefined || !isPlainValue(value) || (this as unknown as Private)._header || replaceable.setHeader !== (nodeSetHeader as unknown)) {
            return replaceable.setHeader.call(this, name, value) as this;
        }
        const headers = (bag[kOutHeaders] ??= new OutHeaders());
        headers[lower] = [name, value];
        return this;
    }

    override writeHead(statusCode: number, reason?: unknown, headers?: unknown): this {
        const self = this as unknown as Private;
        if (typeof reason !== "string" && isPlainStatus(statusCode) && !self._header && !self.statusMessage && replaceable.writeHead === (nodeWriteHead as unknown)) {
            const given = headers ?? reason;
            const own = (this as unknown as Record<symbol, unknown>)[kOutHeaders];
            if (own === null || given == null) {
                self.statusMessage = STATUS_CODES[statusCode] ?? "unknown";
                self.statusCode = statusCode;
                if (statusCode === 204 || statusCode === 304) self._hasBody = false;
                if (self._expect_continue && !self._sent100) self.shouldKeepAlive = false;
                self._storeHeader(statusLine(statusCode), own ?? given);
                return this;
            }
        }
        return replaceable.writeHead.call(this, statusCode, reason, headers) as this;
    }

    /** Private to Node, and the place where every head is made. */
    _storeHeader(firstLine: string, headers: unknown): void {
        const self = this as unknown as HeadState;
        // A response of Node's own server, whose prototype inherits from ours, is Node's: the date here is the engine's.
        if (this[kLine] !== undefined && replaceable._storeHeader === nodeStoreHeader) {
            const head = plainHead(self, firstLine, headers);
            if (head !== undefined) {
                self._header = head;
                self._headerSent = false;
                return;
            }
        }
        replaceable._storeHeader.call(this, firstLine, headers);
    }

    override write(...args: unknown[]): boolean {
        const channel = this[kLine];
        if (channel !== undefined && this.writableEnded) settleLate(channel, this);
        return replaceable.write.apply(this, args);
    }

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
        const channel = this[kLine];
        if (
            channel !== undefined &&
            callback == null &&
            (encoding == null || encoding === "utf8" || encoding === "utf-8" || encoding === "latin1") &&
            replaceable.end === (nodeEnd as unknown) &&
            sendWhole(this as unknown as Private, channel, chunk, encoding === "latin1")
        ) {
            return this;
        }
        if (channel !== undefined && this.writableEnded) settleLate(channel, this);
        // With as many arguments as were given, for those who count them.
        if (encoding === undefined && callback === undefined) return (chunk === undefined ? replaceable.end.call(this) : replaceable.end.call(this, chunk)) as this;
        return (callback === undefined ? replaceable.end.call(this, chunk, encoding) : replaceable.end.call(this, chunk, encoding, callback)) as this;
    }
}

/**
 * The fields that are set on a response, by lower-case name, for those who know what they put there: a name as it is to
 * be sent, and a value of characters that a field may have. Undefined once the head is made, or where somebody has put
 * methods of their own in the place of Node's.
 */
export function plainFields(res: NodeResponse): Record<string, [string, string] | undefined> | undefined {
    const self = res as unknown as Private & Record<symbol, object | null>;
    if (res.setHeader !== setHeader || res.getHeader !== nodeGetHeader || self._header || replaceable.setHeader !== (nodeSetHeader as unknown)) return undefined;
    return (self[kOutHeaders] ??= new OutHeaders()) as Record<string, [string, string] | undefined>;
}

/** Whether nobody has put a method in the place of `end`. */
export function isPlainEnd(res: NodeResponse): boolean {
    return res.end === end && replaceable.end === (nodeEnd as unknown);
}

const { end, setHeader } = ServerResponse.prototype as NodeResponse;

/**
 * Sends a body with its length and entity tag, of `type` unless it has one, if the host can do that in one step, the request is not
 * conditional and nobody has replaced a method of node:http on that way. Node's has no such step.
 */
export const sendInOne: ((res: NodeResponse, body: string | Buffer, type: string) => boolean) | undefined = undefined as ((res: NodeResponse, body: string | Buffer, type: string) => boolean) | undefined;

/** Sends a value as JSON in the same way; false, and nothing was sent, if it is not to be done so. */
export const sendValue: ((res: NodeResponse, value: unknown) => boolean) | undefined = undefined as ((res: NodeResponse, value: unknown) => boolean) | undefined;

/** Sets X-Powered-By without a field being made of it, if the host can do that. */
export const setPowered: ((res: NodeResponse) => boolean) | undefined = undefined as ((res: NodeResponse) => boolean) | undefined;

/** For HTTP/2, whose frames need no chunks: put on the response itself, since a framework may replace its prototype. */
export function storeUnchunked(this: unknown, firstLine: string, headers: unknown): void {
    const self = this as HeadState;
    (ServerResponse.prototype as unknown as { _storeHeader: StoreHeader })._storeHeader.call(this, firstLine, headers);
    self.chunkedEncoding = false;
    self._last = false;
}

function isPlainStatus(status: unknown): boolean {
    return typeof status === "number" && status >= 200 && status <= 999 && (status | 0) === status;
}

/** Whether the reply may go past the socket's stream: nothing is queued there, and nobody replaced its methods. */
function isClear(res: Private, channel: Channel): boolean {
    const { socket } = channel;
    const state = (socket as unknown as { _writableState: { length: number; corked: number; ending: boolean; destroyed: boolean } })._writableState;
    return (
        channel.res === (res as unknown) &&
        socket._httpMessage === res &&
        !channel.replyDone &&
        // Bytes that the program wrote itself went ahead of the head, which is no record's first bytes then.
        res._headerSent === channel.headSent &&
        !res.finished &&
        !res.destroyed &&
        res.outputData.length === 0 &&
        state.length === 0 &&
        state.corked === 0 &&
        !state.ending &&
        !state.destroyed &&
        socket.write === socketWrite &&
        (res as unknown as { emit: unknown }).emit === nodeEmit
    );
}

/** Sends the rest of the reply, as `end(chunk)` would. False, and nothing is sent, if that has to go Node's way. */
function sendWhole(res: Private, channel: Channel, chunk: unknown, latin1: boolean): boolean {
    if (res.strictContentLength || !isClear(res, channel)) return false;
    let text: string | undefined;
    let bytes: Uint8Array | undefined;
    let length = 0;
    if (typeof chunk === "string") {
        if (chunk.length !== 0) {
            length = Buffer.byteLength(chunk);
            if (latin1 && length !== chunk.length) return false;
            if (length === chunk.length && length <= TEXT_CHARS_MAX) text = chunk;
            else bytes = Buffer.from(chunk);
        }
    } else if (chunk instanceof Uint8Array) {
        bytes = chunk;
        length = chunk.byteLength;
    } else if (chunk != null) {
        return false;
    }
    if (!res._header) {
        res._contentLength = length;
        // May be replaced by the program, and then does anything.
        res._implicitHeader();
        if (!res._header || !isClear(res, channel)) return false;
    }
    if (!res._hasBody && length !== 0) {
        if (channel.core.responseOptions.rejectNonStandardBodyWrites) return false;
        text = bytes = undefined;
        length = 0;
    }
    send(res, channel, typeof chunk === "string", latin1, text, bytes, length);
    return true;
}

function send(res: Private, channel: Channel, isString: boolean, latin1: boolean, text: string | undefined, bytes: Uint8Array | undefined, length: number): void {
    const sent = res._headerSent;
    const head = sent ? "" : (res._header as string);
    let out = head;
    let encoding = LATIN1;
    let rest: string | undefined;
    if (res._hasBody && res.chunkedEncoding) {
        if (length === 0) {
            out += `0\r\n${res._trailer}\r\n`;
        } else {
            out += `${length.toString(16)}\r\n`;
            rest = `\r\n0\r\n${res._trailer}\r\n`;
            if (text !== undefined) {
                out += text + rest;
                rest = undefined;
            }
        }
    } else {
        // Node writes head and string in one, and so in the string's encoding.
        if (isString && !latin1 && length !== 0 && !sent) encoding = UTF8;
        if (text !== undefined) out += text;
    }
    const keep = !res._last;
    const total = head.length + length;
    const { req } = channel;
    const response = res as unknown as ServerResponse;
    const many = channel.overflows(total) || (bytes !== undefined && !isString && isLent(bytes));
    // Where nobody waits for 'finish', nobody needs to know when the engine has taken the last byte.
    const wait = many && req !== null && isHeard(req, response);
    // Whether the rest of the request is of interest shows at the end of the turn.
    const waits = keep && !channel.bodyDone;
    let flags = KEEP;
    const trailing = channel.h2 && res._trailer !== "";
    if (channel.h2) flags |= trailing ? 0 : waits ? LAST | READS_ON : LAST;
    else if (!waits) flags = keep ? LAST | KEEP : LAST;
    if (wait) flags |= ACK;
    const record = pushText(sent ? OUT_DATA : OUT_HEAD, flags, channel.exchange, res.statusCode, head.length, out, encoding);
    const batch = batchNumber();
    if (bytes !== undefined && length !== 0) {
        if (rest !== undefined && length > TEXT_CHARS_MAX) {
            // A long buffer leaves at once, and what follows it must be in the same record.
            addBuffer(record, Buffer.concat([bytes, Buffer.from(rest, "latin1")]));
        } else {
            addBuffer(record, bytes);
            if (rest !== undefined) addBuffer(record, Buffer.from(rest, "latin1"));
        }
    }
    channel.socket.countWritten(out.length + (bytes === undefined ? 0 : length + (rest?.length ?? 0)));
    res._headerSent = true;
    channel.replied(record, batch, keep, waits);
    if (trailing) channel.endStream(res._trailer);
    res.finished = true;
    res._finish();
    if (req === null) return;
    if (wait) channel.onTaken(() => finished(channel, req, response));
    else if (isHeard(req, response)) process.nextTick(finished, channel, req, response);
    else settleLater(channel);
}
