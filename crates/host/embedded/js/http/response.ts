import { codes } from "../leat/errors";
import { type Chunk, checkChunk, encoded, isLatin1, lengthOf } from "./chunk";
import type { IncomingMessage } from "./incoming";
import { aborted, listens, receiveData, receiveEnd } from "./incoming";
import type { Line } from "./line";
import { ACK, http, KEEP, LAST } from "./native";
import { methods, newHeaders, OutgoingMessage, validateHeaderName, validateHeaderValue } from "./outgoing";
import { STATUS_CODES } from "./statuses";

/** Bytes that may be under way to the client before a writer is told to wait. */
export const HIGH_WATER_MARK = 65_536;

type Callback = (error?: Error | null) => void;

/** The response to a request, and what the host knows as its exchange. */
export interface ServerResponse extends OutgoingMessage {
    statusCode: number;
    statusMessage: string | undefined;
    req: IncomingMessage;
    socket: object | null;
    _line: Line | null;
    _exchange: number;
    /** Bytes that the engine has not confirmed. */
    _unconfirmed: number;
    /** Whether the engine was asked to confirm. */
    _asked: boolean;
    _waiting: Callback[] | null;
    _needDrain: boolean;
    _writableFinished: boolean;
    _corked: number;
    _held: { chunk: Chunk; encoding: string | undefined; callback: Callback | undefined }[] | null;
    _sent100: boolean;
    _expectContinue: boolean;
    _bytesWritten: number;
    _strict: boolean;
    _emptyRest: boolean;
    _implicitHeader(): void;
    _send(data: Chunk): void;
    writeHead(status: number, reason?: unknown, headers?: unknown): this;
    write(chunk: Chunk, encoding?: unknown, callback?: unknown): boolean;
    end(chunk?: unknown, encoding?: unknown, callback?: unknown): this;
    detachSocket(): void;
}

function Response(this: ServerResponse, req: IncomingMessage | undefined, options?: { rejectNonStandardBodyWrites?: boolean }): void {
    OutgoingMessage.call(this);
    if (req === undefined) return;
    this.req = req;
    begun(this, req, options?.rejectNonStandardBodyWrites === true);
}

export const ServerResponse = Response as unknown as {
    new (req: IncomingMessage, options?: object): ServerResponse;
    (this: unknown, req: IncomingMessage, options?: object): void;
    prototype: ServerResponse;
};
Object.defineProperty(ServerResponse, "name", { value: "ServerResponse" });
Object.setPrototypeOf(Response.prototype, OutgoingMessage.prototype);
Object.setPrototypeOf(Response, OutgoingMessage);

/** What the request says of its response. */
export function begun(res: ServerResponse, req: IncomingMessage, strict: boolean): void {
    if (req.method === "HEAD") res._hasBody = false;
    if (strict) res._strict = true;
    const { httpVersionMajor: major, httpVersionMinor: minor } = req;
    if (major < 1 || (major === 1 && minor < 1)) {
        res.useChunkedEncodingByDefault = CHUNKED.test((req.headers["te"] as string | undefined) ?? "");
        res.shouldKeepAlive = false;
    }
}

const CHUNKED = /(?:^|\W)chunked(?:$|\W)/i;
const REASON_BAD = /[^\t\x20-\x7e\x80-\xff]/;

methods(ServerResponse.prototype, {
    statusCode: 200,
    statusMessage: undefined,
    sendDate: true,
    socket: null,
    _line: null,
    _exchange: -1,
    _unconfirmed: 0,
    _asked: false,
    _waiting: null,
    _needDrain: false,
    _writableFinished: false,
    _corked: 0,
    _held: null,
    _sent100: false,
    _expectContinue: false,
    _bytesWritten: 0,
    _strict: false,
    _emptyRest: false,
});

/** Status lines by their number, with the usual phrase. */
const statusLines: (string | undefined)[] = [];

export function statusLine(status: number): string {
    return (statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`);
}

methods(ServerResponse.prototype, {
    writeHead(this: ServerResponse, statusCode: number, reason?: unknown, given?: unknown): ServerResponse {
        if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT("write");
        const original = statusCode;
        const status = statusCode | 0;
        if (status < 100 || status > 999) throw new codes.ERR_HTTP_INVALID_STATUS_CODE(original);
        let headers = given;
        if (typeof reason === "string") {
            this.statusMessage = reason;
        } else {
            this.statusMessage ||= STATUS_CODES[status] ?? "unknown";
            headers ??= reason;
        }
        this.statusCode = status;
        let all: unknown = headers;
        if (this._headers !== null) {
            mergeHeaders(this, headers);
            all = this._headers;
        }
        const usual = this.statusMessage === (STATUS_CODES[status] ?? "unknown");
        if (!usual && REASON_BAD.test(this.statusMessage)) throw new codes.ERR_INVALID_CHAR("statusMessage");
        const line = usual ? statusLine(status) : `HTTP/1.1 ${status} ${this.statusMessage}\r\n`;
        if (status === 204 || status === 304 || (status >= 100 && status <= 199)) this._hasBody = false;
        // The client was told to go on by nobody: it may take the next request's bytes for the body.
        if (this._expectContinue && !this._sent100) this.shouldKeepAlive = false;
        this._storeHeader(line, all);
        return this;
    },

    _implicitHeader(this: ServerResponse): void {
        this.writeHead(this.statusCode);
    },

    writeContinue(this: ServerResponse, callback?: Callback): void {
        interim(this, 100, "HTTP/1.1 100 Continue\r\n\r\n", callback);
        this._sent100 = true;
    },

    writeProcessing(this: ServerResponse, callback?: Callback): void {
        interim(this, 102, "HTTP/1.1 102 Processing\r\n\r\n", callback);
    },

    writeEarlyHints(this: ServerResponse, hints: Record<string, unknown>, callback?: Callback): void {
        if (typeof hints !== "object" || hints === null) throw new codes.ERR_INVALID_ARG_TYPE("hints", "Object", hints);
        const { link } = hints;
        if (link == null) return;
        const links = linkValue(link);
        if (links.length === 0) return;
        let head = `HTTP/1.1 103 Early Hints\r\nLink: ${links}\r\n`;
        for (const key of Object.keys(hints)) if (key !== "link") head += `${key}: ${hints[key] as string}\r\n`;
        interim(this, 103, `${head}\r\n`, callback);
    },

    write(this: ServerResponse, chunk: Chunk, encoding?: unknown, callback?: unknown): boolean {
        if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
        return writeChunk(this, chunk, encoding as string | undefined, callback as Callback | undefined, false);
    },

    end(this: ServerResponse, chunk?: unknown, encoding?: unknown, callback?: unknown): ServerResponse {
        if (encoding === undefined && callback === undefined && http.finish(this, chunk)) {
            this._line?.learn(this);
            return this;
        }
        if (typeof chunk === "function") [callback, chunk, encoding] = [chunk, undefined, undefined];
        else if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
        return finish(this, chunk as Chunk | null | undefined, encoding as string | undefined, callback as Callback | undefined);
    },

    _send(this: ServerResponse, data: Chunk): void {
        sendHead(this, data, undefined);
    },

    addTrailers(this: ServerResponse, headers: Record<string, unknown> | [string, unknown][]): void {
        this._trailer = "";
        const entries = Array.isArray(headers) ? headers : Object.entries(headers);
        for (const [name, value] of entries) {
            validateHeaderName(name, "Trailer name");
            const values = Array.isArray(value) && value.length > 1 ? (value as unknown[]) : [value];
            for (const one of values) {
                if (INVALID_TRAILER.test(String(one))) throw new codes.ERR_INVALID_CHAR("trailer content", name);
                this._trailer += `${name}: ${one as string}\r\n`;
            }
        }
    },

    cork(this: ServerResponse): void {
        this._corked++;
        if (this._corked === 1 && this.chunkedEncoding) this._held = [];
    },

    uncork(this: ServerResponse): void {
        if (this._corked > 0) this._corked--;
        if (this._corked > 0 || this._held === null) return;
        flushHeld(this);
    },

    setTimeout(this: ServerResponse, ms: number, callback?: () => void): ServerResponse {
        if (callback) this.on("timeout", callback);
        (this._line?.socketOf(this.req) as { setTimeout(ms: number): void } | undefined)?.setTimeout(ms);
        return this;
    },

    destroy(this: ServerResponse, error?: Error): ServerResponse {
        if (this.destroyed) return this;
        this.destroyed = true;
        if (error) this.errored = error;
        const line = this._line;
        if (line !== null && this._exchange >= 0) (line.socketOf(this.req) as { destroy(error?: Error): void }).destroy(error);
        else closeSoon(this);
        return this;
    },

    assignSocket(this: ServerResponse, socket: { _httpMessage?: unknown }): void {
        if (socket._httpMessage) throw new codes.ERR_HTTP_SOCKET_ASSIGNED();
        socket._httpMessage = this;
        this.socket = socket;
        this.emit("socket", socket);
    },

    detachSocket(this: ServerResponse, socket?: { _httpMessage?: unknown }): void {
        if (socket) socket._httpMessage = null;
        this.socket = null;
    },

    get connection(): object | null {
        return (this as unknown as ServerResponse).socket;
    },

    set connection(socket: object | null) {
        (this as unknown as ServerResponse).socket = socket;
    },

    get writableFinished(): boolean {
        return (this as unknown as ServerResponse)._writableFinished;
    },

    get writableLength(): number {
        const self = this as unknown as ServerResponse;
        return self._unconfirmed > HIGH_WATER_MARK ? self._unconfirmed : 0;
    },

    get writableHighWaterMark(): number {
        return HIGH_WATER_MARK;
    },

    get writableCorked(): number {
        return (this as unknown as ServerResponse)._corked;
    },

    get writableNeedDrain(): boolean {
        const self = this as unknown as ServerResponse;
        return !self.destroyed && !self.finished && self._needDrain;
    },
});

// Of a response that is on a connection, the socket is made when somebody looks.
Object.defineProperty(ServerResponse.prototype, "socket", {
    configurable: true,
    get(this: ServerResponse): object | null {
        return this._line !== null && this._exchange >= 0 ? (this._line.socketOf(this.req) as object) : null;
    },
    set(this: ServerResponse, socket: object | null) {
        Object.defineProperty(this, "socket", { configurable: true, enumerable: true, writable: true, value: socket });
    },
});

const INVALID_TRAILER = /[^\t\x20-\x7e\x80-\xff]/;
const LINK = /^(?:<[^>]*>)(?:\s*;\s*[^;"\s]+(?:=(")?[^;"\s]*\1)?)*$/;

function linkValue(link: unknown): string {
    const check = (one: unknown): string => {
        if (typeof one !== "string" || !LINK.test(one)) {
            throw new codes.ERR_INVALID_ARG_VALUE("hints", one, 'must be an array or string of format "</styles.css>; rel=preload; as=style"');
        }
        return one;
    };
    return Array.isArray(link) ? link.map(check).join(", ") : check(link);
}

function mergeHeaders(res: ServerResponse, headers: unknown): void {
    if (!headers) return;
    if (Array.isArray(headers)) {
        if (headers.length > 0 && Array.isArray(headers[0])) headers = headers.flat();
        const flat = headers as unknown[];
        if (flat.length % 2 !== 0) throw new codes.ERR_INVALID_ARG_VALUE("headers", headers);
        for (let at = 0; at < flat.length; at += 2) res.removeHeader(String(flat[at]));
        for (let at = 0; at < flat.length; at += 2) {
            if (flat[at]) (res as unknown as { appendHeader(name: string, value: unknown): void }).appendHeader(flat[at] as string, flat[at + 1]);
        }
        return;
    }
    for (const name of Object.keys(headers)) if (name) res.setHeader(name, (headers as Record<string, unknown>)[name]);
}

function interim(res: ServerResponse, status: number, head: string, callback: Callback | undefined): void {
    if (res._exchange >= 0 && !res._header) http.interim(res._exchange, status, head);
    if (callback) process.nextTick(callback);
}

/** Reports what was done wrong, as Node's responses do: to the callback and as 'error'. */
function fault(res: ServerResponse, error: Error, callback: Callback | undefined): void {
    if (typeof callback === "function") process.nextTick(callback, error);
    process.nextTick(() => {
        if (!res._closed || res.listenerCount("error") > 0) res.emit("error", error);
    });
}

function writeChunk(res: ServerResponse, chunk: Chunk, encoding: string | undefined, callback: Callback | undefined, fromEnd: boolean): boolean {
    checkChunk(chunk);
    const length = lengthOf(chunk, encoding);
    let error: Error | undefined;
    if (res.finished) error = new codes.ERR_STREAM_WRITE_AFTER_END();
    else if (res.destroyed) error = new codes.ERR_STREAM_DESTROYED("write");
    if (error !== undefined) {
        if (res.destroyed) {
            if (typeof callback === "function") process.nextTick(callback, error);
        } else {
            fault(res, error, callback);
        }
        return false;
    }
    if (res.strictContentLength && typeof res._contentLength === "number" && (fromEnd ? res._bytesWritten + length !== res._contentLength : res._bytesWritten + length > res._contentLength)) {
        throw new codes.ERR_HTTP_CONTENT_LENGTH_MISMATCH(length + res._bytesWritten, res._contentLength);
    }
    res._bytesWritten += length;
    if (!res._header) {
        if (fromEnd) res._contentLength ??= length;
        res._implicitHeader();
    }
    if (!res._hasBody) {
        if (res._strict) throw new codes.ERR_HTTP_BODY_NOT_ALLOWED();
        if (callback) process.nextTick(callback);
        return true;
    }
    if (length === 0 && !res.chunkedEncoding) {
        sendHead(res, "", callback);
        return true;
    }
    if (length === 0) {
        if (callback) process.nextTick(callback);
        return true;
    }
    if (res._corked > 0 && res._held !== null && !fromEnd) {
        res._held.push({ chunk, encoding, callback });
        return true;
    }
    send(res, framed(res, chunk, encoding, length), encoding, callback, 0);
    return !(res._needDrain = res._unconfirmed > HIGH_WATER_MARK);
}

/** A chunk with its framing. */
function framed(res: ServerResponse, chunk: Chunk, encoding: string | undefined, length: number): Chunk {
    const body = encoded(chunk, encoding);
    if (!res.chunkedEncoding) return body;
    const size = `${length.toString(16)}\r\n`;
    if (typeof body === "string") return `${size}${body}\r\n`;
    return Buffer.concat([Buffer.from(size, "latin1"), body, Buffer.from("\r\n", "latin1")]);
}

function flushHeld(res: ServerResponse): void {
    const held = res._held ?? [];
    res._held = null;
    if (held.length === 0) return;
    const chunks = held.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding as BufferEncoding) : chunk));
    const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    send(res, framed(res, Buffer.concat(chunks), undefined, length), undefined, (error) => {
        for (const { callback } of held) callback?.(error);
    }, 0);
}

/** Sends the head alone. */
function sendHead(res: ServerResponse, data: Chunk, callback: Callback | undefined): void {
    if (!res._headerSent || data.length > 0) send(res, data, undefined, callback, 0);
    else if (callback) process.nextTick(callback);
}

/** Sends bytes behind the head, and that too if it has not left. Calls back when the engine has them, or soon if they are few. */
function send(res: ServerResponse, body: Chunk, encoding: string | undefined, callback: Callback | undefined, more: number): void {
    const exchange = res._exchange;
    if (exchange < 0) {
        if (callback) process.nextTick(callback);
        return;
    }
    res._unconfirmed += body.length;
    let flags = more;
    const wait = res._unconfirmed > HIGH_WATER_MARK;
    if (wait && !res._asked) {
        res._asked = true;
        flags |= ACK;
    }
    if (res._headerSent) {
        http.data(exchange, flags, body, isLatin1(encoding));
    } else {
        res._headerSent = true;
        // Whether the connection stays is said by the record that ends the reply.
        http.head(exchange, res.statusCode, flags | (res._last ? 0 : KEEP), res._header as string, body, latin1Of(res, encoding));
    }
    if (callback === undefined) return;
    if (wait) (res._waiting ??= []).push(callback);
    else process.nextTick(callback);
}

function finish(res: ServerResponse, given: Chunk | null | undefined, encoding: string | undefined, callback: Callback | undefined): ServerResponse {
    const chunk = given === null ? undefined : given;
    if (chunk !== undefined && chunk !== "") checkChunk(chunk);
    if (res.finished) {
        const error = chunk === undefined || chunk === "" ? new codes.ERR_STREAM_ALREADY_FINISHED("end") : new codes.ERR_STREAM_WRITE_AFTER_END();
        if (typeof callback === "function") {
            if (chunk !== undefined && chunk !== "") process.nextTick(callback, error);
            else if (!res._writableFinished) res.once("finish", callback as () => void);
            else process.nextTick(callback, error);
        }
        if (chunk !== undefined && chunk !== "") fault(res, error, undefined);
        return res;
    }
    if (typeof callback === "function") res.once("finish", callback as () => void);
    if (res._header === null && res._exchange >= 0 && !res.strictContentLength) {
        const length = chunk === undefined ? 0 : lengthOf(chunk, encoding);
        res._contentLength = length;
        res._implicitHeader();
        // A program's own `writeHead` may have done anything.
        if (res._header !== null && !res._headerSent && !(res as { finished: boolean }).finished) {
            sendWhole(res, chunk, encoding, length);
            return res;
        }
    }
    if (res._held !== null) {
        res._corked = 0;
        flushHeld(res);
    }
    if (chunk !== undefined && chunk !== "") {
        writeChunk(res, chunk, encoding, undefined, true);
    } else if (!res._header) {
        res._contentLength = 0;
        res._implicitHeader();
    }
    if (res.strictContentLength && typeof res._contentLength === "number" && res._bytesWritten !== res._contentLength && res._hasBody) {
        throw new codes.ERR_HTTP_CONTENT_LENGTH_MISMATCH(res._bytesWritten, res._contentLength);
    }
    const tail = res._hasBody && res.chunkedEncoding ? `0\r\n${res._trailer}\r\n` : "";
    if (!res._headerSent || tail !== "") send(res, tail, "latin1", undefined, 0);
    ended(res);
    return res;
}

/** Sends head, body and end in one. */
function sendWhole(res: ServerResponse, chunk: Chunk | undefined, encoding: string | undefined, length: number): void {
    let body: Chunk | undefined;
    if (length !== 0) {
        if (res._hasBody) body = framed(res, chunk as Chunk, encoding, length);
        else if (res._strict) throw new codes.ERR_HTTP_BODY_NOT_ALLOWED();
    }
    if (res._hasBody && res.chunkedEncoding) {
        const tail = `0\r\n${res._trailer}\r\n`;
        body = body === undefined ? tail : typeof body === "string" ? body + tail : Buffer.concat([body, Buffer.from(tail, "latin1")]);
    }
    res._headerSent = true;
    res.finished = true;
    const { req } = res;
    const waits = isHeldOpen(res, req);
    if (waits || (body !== undefined && body.length > HIGH_WATER_MARK && isHeard(res, req))) {
        res.finished = false;
        res._headerSent = false;
        send(res, body ?? "", encoding, undefined, 0);
        ended(res);
        return;
    }
    if (res._eventsCount !== undefined && res._eventsCount !== 0) res.emit("prefinish");
    http.whole(res._exchange, res.statusCode, !res._last, res._header as string, body, latin1Of(res, encoding));
    if (res._contentLength === null) res._bytesWritten = body?.length ?? 0;
    res._emptyRest = true;
    if (isHeard(res, req)) process.nextTick(finished, res);
    else finishUnheard(res, req);
}

/** Head and body go as one text, but where chunks begin with their length. */
function latin1Of(res: ServerResponse, encoding: string | undefined): number {
    return isLatin1(encoding) ? 3 : res.chunkedEncoding ? 2 : 0;
}

/** Whether the rest of the request's body is of interest: with the reply's end the engine skips it. */
export function isHeldOpen(res: ServerResponse, req: IncomingMessage): boolean {
    return !req._bodyDone && !res._last && (req._consuming || listens(req));
}

/** The last byte was sent. */
function ended(res: ServerResponse): void {
    res.finished = true;
    if (res._eventsCount !== undefined && res._eventsCount !== 0) res.emit("prefinish");
    const exchange = res._exchange;
    if (exchange < 0) {
        process.nextTick(finished, res);
        return;
    }
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
        res._exchange = -1;
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

function closeSoon(res: ServerResponse): void {
    process.nextTick(close, res);
}

/** What the host tells of an exchange comes to these. */
export const exchange = {
    data(res: ServerResponse, bytes: Uint8Array): void {
        receiveData(res.req, bytes);
    },

    end(res: ServerResponse, trailers: string[] | undefined): void {
        receiveEnd(res.req, trailers);
        if (res.finished && !res._emptyRest) {
            res._emptyRest = true;
            http.end(res._exchange, LAST | (res._last ? 0 : KEEP));
            if (res._writableFinished) detach(res, res.req, res._line);
        }
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

    /** Nobody waits for the reply any more. */
    gone(res: ServerResponse): void {
        const { req } = res;
        res._exchange = -1;
        req._exchange = -1;
        res.destroyed = true;
        req.destroy(aborted());
        if (!res._closed) close(res);
    },
};

export { validateHeaderName, validateHeaderValue };
