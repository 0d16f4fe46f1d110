import { codes } from "../leat/errors";
import { type Chunk, checkChunk, encoded, isLatin1, lengthOf } from "./chunk";
import type { IncomingMessage } from "./incoming";
import type { Line } from "./line";
import { assign, detachFrom, endForeign, type Pending, waiting, writeForeign, writePiece } from "./foreign";
import { ACK, hide, http, KEEP } from "./native";
import { fieldsOf, OutgoingMessage, validateHeaderName, validateHeaderValue } from "./outgoing";
import { closeSoon, ended, fault, finished, finishUnheard, isHeard, isHeldOpen, isSettledEarly, reopen } from "./settle";
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
    _expect_continue: boolean;
    _bytesWritten: number;
    _strict: boolean;
    _emptyRest: boolean;
    /** Bytes of the program's own went out in place of its head. */
    _raw: boolean;
    /** What waits until it, or its socket, is uncorked; and whether that was all. */
    _late: [body: Chunk, encoding: string | undefined, callback: Callback | undefined][] | null;
    _lateEnd: boolean;
    /** What waits for a socket, of a response that is on none of the engine's connections. */
    _output: Pending[] | null;
    _implicitHeader(): void;
    _send(data: Chunk): void;
    writeHead(status: number, reason?: unknown, headers?: unknown): this;
    write(chunk: Chunk, encoding?: unknown, callback?: unknown): boolean;
    end(chunk?: unknown, encoding?: unknown, callback?: unknown): this;
    destroy(error?: Error): this;
    detachSocket(socket?: object): void;
}

/** The response that a class of the program's is being made of. */
let making: ServerResponse | null = null;

/** Lets the constructor of a class that inherits from this one work on `res`. */
export function constructed(res: ServerResponse, make: () => void): void {
    making = res;
    try {
        make();
    } finally {
        making = null;
    }
}

function Response(this: ServerResponse, req: IncomingMessage | undefined, options?: { rejectNonStandardBodyWrites?: boolean }): ServerResponse | undefined {
    if (making !== null) {
        const res = making;
        making = null;
        return res;
    }
    OutgoingMessage.call(this);
    if (req === undefined) return undefined;
    this.req = req;
    begun(this, req, options?.rejectNonStandardBodyWrites === true);
    return undefined;
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

hide(ServerResponse.prototype, {
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
    _expect_continue: false,
    _bytesWritten: 0,
    _strict: false,
    _emptyRest: false,
    _raw: false,
    _late: null,
    _lateEnd: false,
    _output: null,
});

/** Status lines by their number, with the usual phrase. */
const statusLines: (string | undefined)[] = [];

export function statusLine(status: number): string {
    return (statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`);
}

hide(ServerResponse.prototype, {
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
        if (fieldsOf(this) !== null) {
            mergeHeaders(this, headers);
            all = this._headers;
        }
        const usual = this.statusMessage === (STATUS_CODES[status] ?? "unknown");
        if (!usual && REASON_BAD.test(this.statusMessage)) throw new codes.ERR_INVALID_CHAR("statusMessage");
        const line = usual ? statusLine(status) : `HTTP/1.1 ${status} ${this.statusMessage}\r\n`;
        if (status === 204 || status === 304 || (status >= 100 && status <= 199)) this._hasBody = false;
        // The client was told to go on by nobody: it may take the next request's bytes for the body.
        if (this._expect_continue && !this._sent100) this.shouldKeepAlive = false;
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

    on(this: ServerResponse, event: string | symbol, listener: (...args: unknown[]) => void): ServerResponse {
        if (this._exchange < -1 && (event === "finish" || event === "close")) reopen(this);
        on.call(this, event, listener);
        return this;
    },

    _send(this: ServerResponse, data: Chunk): void {
        sendHead(this, data, undefined);
    },

    addTrailers(this: ServerResponse, headers: Record<string, unknown> | [string, unknown][]): void {
        this._trailer = "";
        const entries = Array.isArray(headers) ? headers : Object.entries(headers);
        for (const [name, value] of entries) {
            validateHeaderName(name, "Trailer name");
            const unique = (this as unknown as { _uniqueHeaders?: Set<string> })._uniqueHeaders?.has(name.toLowerCase()) === true;
            const values = !Array.isArray(value) || value.length < 2 ? [value] : unique ? [(value as unknown[]).join("; ")] : (value as unknown[]);
            for (const one of values) {
                if (INVALID_TRAILER.test(String(one))) throw new codes.ERR_INVALID_CHAR("trailer content", name);
                this._trailer += `${name}: ${one as string}\r\n`;
            }
        }
    },

    cork(this: ServerResponse): void {
        this._corked++;
    },

    uncork(this: ServerResponse): void {
        if (this._corked > 0) this._corked--;
        if (this._corked === 0) flushHeld(this);
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

    assignSocket(this: ServerResponse, socket: object): void {
        assign(this, socket);
    },

    detachSocket(this: ServerResponse, socket?: object): void {
        this._line?.give(this);
        detachFrom(this, socket);
    },

    /** Bytes as they are, past the head: what tools call that know Node's responses. */
    _writeRaw(this: ServerResponse, data: Chunk, encoding?: unknown, callback?: unknown): boolean {
        if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
        if (this._line === null) return writeForeign(this, data, encoding as string | undefined, callback as Callback | undefined, false);
        const socket = this._line.socketOf(this.req) as { write(...args: unknown[]): boolean };
        return socket.write(data, encoding ?? "latin1", callback);
    },

    writeHeader(this: ServerResponse, ...given: [status: number, reason?: unknown, headers?: unknown]): ServerResponse {
        return this.writeHead(...given);
    },

    get connection(): object | null {
        return (this as unknown as ServerResponse).socket;
    },

    set connection(socket: object | null) {
        (this as unknown as ServerResponse).socket = socket;
    },

    get writableFinished(): boolean {
        const self = this as unknown as ServerResponse;
        return self.finished && (self._writableFinished || (self._line !== null ? !self._asked : isFlushed(self)));
    },

    get writableLength(): number {
        const self = this as unknown as ServerResponse;
        if (self._late !== null) return self._late.reduce((sum, [body, encoding]) => sum + lengthOf(body, encoding), self._headerSent ? 0 : (self._header?.length ?? 0));
        return self._unconfirmed > HIGH_WATER_MARK ? self._unconfirmed : 0;
    },

    /** What waits for a socket. */
    get outputData(): Pending[] {
        return (this as unknown as ServerResponse)._output ?? [];
    },

    get outputSize(): number {
        return waiting(this as unknown as ServerResponse);
    },

    get writableHighWaterMark(): number {
        return (this as unknown as ServerResponse)._line?.server._options.highWaterMark ?? HIGH_WATER_MARK;
    },

    get writableCorked(): number {
        return (this as unknown as ServerResponse)._corked;
    },

    get writableNeedDrain(): boolean {
        const self = this as unknown as ServerResponse;
        return !self.destroyed && !self.finished && self._needDrain;
    },
});

hide(ServerResponse.prototype, { addListener: ServerResponse.prototype.on });
// Tools that trace replace them where Node has them, too.
for (const name of ["write", "end", "cork", "uncork", "setTimeout", "destroy", "addTrailers", "_send", "_writeRaw"] as const) {
    hide(OutgoingMessage.prototype, { [name]: (ServerResponse.prototype as unknown as Record<string, unknown>)[name] });
}

// Of a response that is on a connection, the socket is made when somebody looks.
Object.defineProperty(ServerResponse.prototype, "socket", {
    configurable: true,
    get(this: ServerResponse): object | null {
        return this._line !== null && this._exchange >= -1 ? (this._line.socketOf(this.req) as object) : null;
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

const { on } = OutgoingMessage.prototype;

/** Whether nothing waits for a socket. */
function isFlushed(res: ServerResponse): boolean {
    const socket = res.socket as { writableLength?: number } | null;
    return res._output === null && (socket === null || !socket.writableLength);
}

function writeChunk(res: ServerResponse, chunk: Chunk, encoding: string | undefined, callback: Callback | undefined, fromEnd: boolean): boolean {
    checkChunk(chunk);
    const length = lengthOf(chunk, encoding);
    let error: Error | undefined;
    if (res.finished) error = new codes.ERR_STREAM_WRITE_AFTER_END();
    else if (res.destroyed) error = new codes.ERR_STREAM_DESTROYED("write");
    if (error !== undefined) {
        if (res.destroyed && !isSettledEarly(res)) {
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
    if (length === 0) {
        sendHead(res, "", callback);
        return true;
    }
    if (res._corked > 0 && res.chunkedEncoding && res._headerSent && !fromEnd) {
        (res._held ??= []).push({ chunk, encoding, callback });
        return true;
    }
    if (res._line === null) return writePiece(res, chunk, encoding, length, callback);
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

/** Lets out what was written while it was corked: the pieces of a chunked body as one. */
function flushHeld(res: ServerResponse): void {
    const held = res._held ?? [];
    res._held = null;
    sendLate(res);
    if (held.length === 0) return;
    const chunks = held.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding as BufferEncoding) : chunk));
    const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    send(res, framed(res, Buffer.concat(chunks), undefined, length), undefined, (error) => {
        for (const { callback } of held) callback?.(error);
    }, 0);
}

/** Sends what waited until the response and its socket are uncorked. */
export function sendLate(res: ServerResponse): void {
    const late = res._late;
    if (late === null || isCorked(res)) return;
    res._late = null;
    for (const [body, encoding, callback] of late) send(res, body, encoding, callback, 0);
    if (res._lateEnd) ended(res);
}

function isCorked(res: ServerResponse): boolean {
    const socket = res._line?.socket ?? null;
    return res._corked > 0 || (socket !== null && socket._corks > 0);
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
        // To a connection that has gone nothing is written, and nobody is called back.
        if (res._line === null) writeForeign(res, body, encoding, callback, true);
        return;
    }
    const { socket } = res._line as Line;
    if (socket !== null) socket._active();
    if (isCorked(res)) {
        (res._late ??= []).push([body, encoding, callback]);
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
    } else if (res._raw) {
        res._headerSent = true;
        http.data(exchange, 0, res._header as string, true);
        http.data(exchange, flags, body, isLatin1(encoding));
    } else {
        res._headerSent = true;
        // Whether the connection stays is said by the record that ends the reply.
        http.head(exchange, res.statusCode, flags | (res._last ? 0 : KEEP), res._header as string, body, latin1Of(res, encoding));
    }
    if (socket !== null) socket.bytesWritten += http.written();
    if (callback === undefined) return;
    if (wait) (res._waiting ??= []).push(callback);
    else process.nextTick(callback);
}

function finish(res: ServerResponse, given: Chunk | null | undefined, encoding: string | undefined, callback: Callback | undefined): ServerResponse {
    const chunk = given === null ? undefined : given;
    if (chunk !== undefined && chunk !== "") checkChunk(chunk);
    if (res.finished) {
        if (chunk !== undefined && chunk !== "") {
            if (!res.destroyed || isSettledEarly(res)) fault(res, new codes.ERR_STREAM_WRITE_AFTER_END(), callback);
        } else if (typeof callback === "function") {
            if ((res as unknown as { writableFinished: boolean }).writableFinished) callback(new codes.ERR_STREAM_ALREADY_FINISHED("end"));
            else res.once("finish", callback as () => void);
        }
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
    if (res._corked > 0) {
        res._corked = 0;
        flushHeld(res);
    }
    if (res.strictContentLength) checkLength(res, chunk === undefined ? 0 : lengthOf(chunk, encoding));
    if (chunk !== undefined && chunk !== "") {
        writeChunk(res, chunk, encoding, undefined, true);
    } else if (!res._header) {
        res._contentLength = 0;
        res._implicitHeader();
    }
    const tail = res._hasBody && res.chunkedEncoding ? `0\r\n${res._trailer}\r\n` : "";
    if (res._line === null) {
        endForeign(res, tail);
        return res;
    }
    if (!res._headerSent || tail !== "") send(res, tail, "latin1", undefined, 0);
    ended(res);
    return res;
}

/** Throws if the last `length` bytes do not make the body as long as its own field says. Nothing of them was sent then. */
function checkLength(res: ServerResponse, length: number): void {
    if (res._header === null) {
        if (res._contentLength === null && !res.hasHeader("content-length")) return;
        res._implicitHeader();
    }
    const { _contentLength: told } = res;
    if (typeof told !== "number" || !res._hasBody || res.chunkedEncoding || res._bytesWritten + length === told) return;
    res._bytesWritten += length;
    throw new codes.ERR_HTTP_CONTENT_LENGTH_MISMATCH(res._bytesWritten, told);
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
    const { socket } = res._line as Line;
    const waits = res._raw || isHeldOpen(res, req) || (socket !== null && socket._corks > 0);
    if (waits || (body !== undefined && body.length > HIGH_WATER_MARK && isHeard(res, req))) {
        res.finished = false;
        res._headerSent = false;
        send(res, body ?? "", encoding, undefined, 0);
        ended(res);
        return;
    }
    if (res._eventsCount !== undefined && res._eventsCount !== 0) res.emit("prefinish");
    http.whole(res._exchange, res.statusCode, !res._last, res._header as string, body, latin1Of(res, encoding));
    if (socket !== null) socket.bytesWritten += http.written();
    if (res._contentLength === null) res._bytesWritten = body?.length ?? 0;
    res._emptyRest = true;
    if (isHeard(res, req)) process.nextTick(finished, res);
    else finishUnheard(res, req);
}

/** Head and body go as one text, but where chunks begin with their length. */
function latin1Of(res: ServerResponse, encoding: string | undefined): number {
    return isLatin1(encoding) ? 3 : res.chunkedEncoding ? 2 : 0;
}

export { exchange, finished, finishUnheard, isHeard, isHeldOpen } from "./settle";
export { validateHeaderName, validateHeaderValue };
