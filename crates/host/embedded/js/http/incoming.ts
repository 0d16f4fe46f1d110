// Requests. The host makes the object and keeps the head inside; what is asked of it becomes a string then.
import { Readable } from "node:stream";
import { contexts } from "../leat/turn";
import { heads, hide, http } from "./native";
import { hasState, lateState } from "./states";
import type { Line } from "./line";
import type { ServerResponse } from "./response";

/** Body bytes that are asked for ahead. */
const WINDOW_BYTES = 128 * 1024;

export type Fields = Record<string, string | string[] | undefined>;

interface ReadableState {
    highWaterMark: number;
    flowing: boolean | null;
    length: number;
    ended: boolean;
    endEmitted: boolean;
    destroyed: boolean;
    closed: boolean;
    closeEmitted: boolean;
    resumeScheduled: boolean;
}

/** A request, or the answer that a client got. */
export interface IncomingMessage extends Readable {
    url: string;
    method: string;
    headers: Fields;
    rawHeaders: string[];
    headersDistinct: Record<string, string[] | undefined>;
    trailers: Fields;
    rawTrailers: string[];
    trailersDistinct: Record<string, string[] | undefined>;
    httpVersion: string;
    httpVersionMajor: number;
    httpVersionMinor: number;
    complete: boolean;
    aborted: boolean;
    socket: object;
    connection: object;
    statusCode: number | null;
    statusMessage: string | null;
    upgrade: boolean | null;
    /** The connection, its exchange's number, and its response while that is open. */
    _line: Line | null;
    _exchange: number;
    _res: ServerResponse | null;
    /** Whether the body, if there is one, has come to its end. */
    _bodyDone: boolean;
    /** Bytes that were asked for and have not come. */
    _window: number;
    _dumped: boolean;
    _consuming: boolean;
    _taker: Taking | null;
    _readableState: ReadableState;
    _events: Record<string, unknown> | undefined;
    _eventsCount: number;
    _dump(): void;
    _addHeaderLines(fields: string[], count: number): void;
}

/** Who wants bodies of JSON as values (as `packages/leat/src/http/body.ts`). */
export interface BodyTaker {
    /** Whether a value must be an object or an array. */
    readonly strict: boolean;
    /** The value of a body; undefined if it is to come by the stream after all. */
    parse(body: Buffer): unknown;
    /** The body was taken, and the request's stream has ended. */
    done(req: IncomingMessage, res: ServerResponse, next: () => void, value: unknown): void;
    /** Listens to the stream: the body, or the lack of one, will be told there. */
    read(req: IncomingMessage, res: ServerResponse, next: () => void): void;
}

interface Taking {
    taker: BodyTaker;
    res: ServerResponse;
    next: () => void;
    bytes: number;
    pieces: Buffer[] | null;
    length: number;
    /** The async context in which the body was asked for. */
    context: unknown;
}

/** What a request has in place of who took its body: its stream has ended. */
const TAKEN = {} as Taking;

export interface IncomingMessageConstructor {
    new (socket?: object): IncomingMessage;
    (this: unknown, socket?: object): void;
    prototype: IncomingMessage;
}

/** Its own state for streams, as the constructor of readable streams makes it. */
function begin(req: object): void {
    const self = req as IncomingMessage;
    if (self._taker === TAKEN) {
        ended(self);
        return;
    }
    (Readable as unknown as (this: unknown, options?: object) => void).call(self, self._line?.server._options);
    if (self._line !== null && self._bodyDone) self.push(null);
}

/** The request that a class of the program's is being made of. */
let making: IncomingMessage | null = null;

/** Lets the constructor of a class that inherits from this one work on `req`. */
export function constructing(req: IncomingMessage, make: () => void): void {
    making = req;
    try {
        make();
    } finally {
        making = null;
    }
}

function Incoming(this: IncomingMessage, socket?: object): IncomingMessage | undefined {
    if (making !== null) {
        const req = making;
        making = null;
        return req;
    }
    (Readable as unknown as (this: unknown, options?: object) => void).call(this, undefined);
    this._readableState.highWaterMark = (socket as { readableHighWaterMark?: number } | undefined)?.readableHighWaterMark ?? this._readableState.highWaterMark;
    const own: Record<string, unknown> = { httpVersionMajor: null, httpVersionMinor: null, httpVersion: null, complete: false, rawHeaders: [], rawTrailers: [], aborted: false, upgrade: null, url: "", method: null, statusCode: null, statusMessage: null };
    for (const name of Object.keys(own)) Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value: own[name] });
    this.socket = socket as object;
    return undefined;
}

export const IncomingMessage = Incoming as unknown as IncomingMessageConstructor;
Object.defineProperty(IncomingMessage, "name", { value: "IncomingMessage" });
Object.setPrototypeOf(Incoming.prototype, Readable.prototype);
Object.setPrototypeOf(Incoming, Readable);
const proto = IncomingMessage.prototype;
lateState(proto, "_readableState", begin);

/** What every request has until something else is known of it. */
const defaults = {
    complete: false,
    aborted: false,
    statusCode: null,
    statusMessage: null,
    upgrade: false,
    _line: null,
    _exchange: -1,
    _res: null,
    _bodyDone: true,
    _window: 0,
    _dumped: false,
    _consuming: false,
    _taker: null,
};
hide(proto, defaults);

/** An accessor whose value becomes the object's own once it is made or set. */
function late(name: string, make: (req: IncomingMessage) => unknown): void {
    Object.defineProperty(proto, name, {
        configurable: true,
        enumerable: true,
        get(this: IncomingMessage): unknown {
            const value = make(this);
            Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value });
            return value;
        },
        set(this: IncomingMessage, value: unknown) {
            Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value });
        },
    });
}

function optionsOf(req: IncomingMessage): { joinDuplicateHeaders?: boolean; maxHeadersCount?: number | null } {
    return (req._line?.server ?? {}) as { joinDuplicateHeaders?: boolean; maxHeadersCount?: number | null };
}

late("headers", (req) => {
    const { joinDuplicateHeaders, maxHeadersCount } = optionsOf(req);
    return heads.headers(req, joinDuplicateHeaders === true, maxHeadersCount === 0 ? 65_535 : (maxHeadersCount ?? 2000)) ?? fieldsOf(req.rawHeaders);
});
late("rawHeaders", (req) => {
    const raw = heads.rawHeaders(req) ?? [];
    return raw;
});
late("headersDistinct", (req) => distinct(req.rawHeaders));
late("trailers", (req) => fieldsOf(req.rawTrailers));
late("rawTrailers", () => []);
late("trailersDistinct", (req) => distinct(req.rawTrailers));
late("httpVersionMajor", (req) => Math.trunc((heads.version(req) ?? 11) / 10));
late("httpVersionMinor", (req) => (heads.version(req) ?? 11) % 10);
late("httpVersion", (req) => `${req.httpVersionMajor}.${req.httpVersionMinor}`);
late("socket", (req) => req._line?.socketOf(req));
late("client", (req) => req.socket);
late("joinDuplicateHeaders", (req) => req._line?.server.joinDuplicateHeaders ?? null);
Object.defineProperty(proto, "connection", {
    configurable: true,
    get(this: IncomingMessage): object {
        return this.socket;
    },
    set(this: IncomingMessage, socket: object) {
        this.socket = socket;
    },
});

const FIRST = new Set(
    "age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since last-modified location max-forwards proxy-authorization referer retry-after server user-agent".split(" "),
);

function fieldsOf(raw: string[]): Fields {
    const fields: Fields = {};
    for (let at = 0; at + 1 < raw.length; at += 2) addField(fields, (raw[at] as string).toLowerCase(), raw[at + 1] as string);
    return fields;
}

function addField(fields: Fields, name: string, value: string): void {
    // Node's objects take none of that name.
    if (name === "__proto__") return;
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (name === "set-cookie") fields[name] = before === undefined ? [value] : [...(before as string[]), value];
    else if (before === undefined) fields[name] = value;
    else if (name === "cookie") fields[name] = `${before as string}; ${value}`;
    else if (!FIRST.has(name)) fields[name] = `${before as string}, ${value}`;
}

function distinct(raw: string[]): Record<string, string[] | undefined> {
    const fields = Object.create(null) as Record<string, string[] | undefined>;
    for (let at = 0; at + 1 < raw.length; at += 2) {
        const name = (raw[at] as string).toLowerCase();
        const list = fields[name];
        if (list === undefined) fields[name] = [raw[at + 1] as string];
        else list.push(raw[at + 1] as string);
    }
    return fields;
}

hide(proto, {
    _addHeaderLines(this: IncomingMessage, fields: string[], count: number): void {
        this.rawTrailers = fields.slice(0, count);
    },

    _addHeaderLine(this: IncomingMessage, field: string, value: string, dest: Fields): void {
        addField(dest, field.toLowerCase(), value);
    },

    setTimeout(this: IncomingMessage, ms: number, callback?: () => void): IncomingMessage {
        if (callback) this.on("timeout", callback);
        (this.socket as { setTimeout(ms: number): void }).setTimeout(ms);
        return this;
    },

    _read(this: IncomingMessage): void {
        this._consuming = true;
        this._line?.socket?._tellPaused(false);
        ask(this);
    },

    _dump(this: IncomingMessage): void {
        if (this._dumped) return;
        this._dumped = true;
        // Nobody is told of what is there already.
        if (listens(this)) this.removeAllListeners("data");
        this.resume();
    },

    _destroy(this: IncomingMessage, error: Error | null, callback: (error?: Error | null) => void): void {
        // A request without a body is whole from the start.
        if (!this.readableEnded || !(this.complete || this._bodyDone)) {
            this.aborted = true;
            this.emit("aborted");
        }
        // What is left of the exchange ends with its connection.
        const socket = this.socket as { destroyed: boolean; destroy(error?: Error): void } | undefined;
        if (socket !== undefined && socket !== null && !socket.destroyed && this.aborted) {
            socket.destroy(error ?? undefined);
            // The socket tells of its own error first.
            process.nextTick(process.nextTick, told, this, error, callback);
            return;
        }
        process.nextTick(told, this, error, callback);
    },
});

/** An error that nobody listens to is none. */
function told(req: IncomingMessage, error: Error | null, callback: (error?: Error | null) => void): void {
    callback(req.listenerCount("error") === 0 ? null : error);
}

/** The error of a request whose connection went away. */
export function aborted(): Error {
    return Object.assign(new Error("aborted"), { code: "ECONNRESET" });
}

/** Asks for more of the body, if there is more and little is under way. */
function ask(req: IncomingMessage): void {
    if (req._bodyDone || req._exchange < 0 || req._window > WINDOW_BYTES / 2) return;
    http.read(req._exchange, WINDOW_BYTES - req._window);
    req._window = WINDOW_BYTES;
}

/** Asks for the first of the body, whether or not somebody reads. */
export function begins(req: IncomingMessage): void {
    if (req._window === 0) ask(req);
}

/** `req.headers[name]` without making the object. `name` is in lower case. */
export function peekField(req: IncomingMessage, name: string): string | string[] | undefined {
    return Object.hasOwn(req, "headers") || req._line === null ? req.headers[name] : heads.header(req, name);
}

/** Whether somebody listens to the request. */
export function listens(req: IncomingMessage): boolean {
    const { _eventsCount: count } = req;
    return count !== undefined && count !== 0;
}

/** The length of a body that is plain JSON in UTF-8; 0 for all others, and -1 if the fields are the program's to say. */
export function jsonBytes(req: IncomingMessage): number {
    return Object.hasOwn(req, "headers") || req._line === null ? -1 : heads.jsonBytes(req);
}

/** Lets `taker` have the body of `req`, which is `bytes` long. False, and nothing happens, if only the stream can tell it. */
export function takeBody(req: IncomingMessage, bytes: number, taker: BodyTaker, res: ServerResponse, next: () => void): boolean {
    if (req._line === null || req._bodyDone || req._taker !== null || req._consuming || req._dumped || hasState(req, "_readableState") || listens(req)) return false;
    req._taker = { taker, res, next, bytes, pieces: null, length: 0, context: contexts.used?.current() };
    return true;
}

/** Whether the stream of `req` has nobody but the taker. */
function isTaken(req: IncomingMessage): boolean {
    return !listens(req) && !hasState(req, "_readableState");
}

/** All of the body is with the host. */
export function receiveWhole(req: IncomingMessage): void {
    const taking = req._taker;
    if (taking !== null && isTaken(req) && req._line?.socket === null) {
        const value = http.json(taking.taker.strict);
        if (value !== undefined) {
            give(req, taking, value);
            return;
        }
    }
    receiveData(req, http.bytes());
    receiveEnd(req, undefined);
}

/** A piece of the body has come. */
export function receiveData(req: IncomingMessage, bytes: Uint8Array): void {
    const piece = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
    req._window -= piece.length;
    const socket = req._line?.socket ?? null;
    if (socket !== null) {
        socket.bytesRead += piece.length;
        socket._active();
    }
    const taking = req._taker;
    if (taking !== null) {
        if (isTaken(req)) {
            (taking.pieces ??= []).push(piece);
            taking.length += piece.length;
            ask(req);
            return;
        }
        giveBack(req, taking);
    }
    if (req._dumped && !listens(req)) ask(req);
    else if (!req.push(piece) && socket !== null) socket._tellPaused(true);
}

/** The body has come to its end. */
export function receiveEnd(req: IncomingMessage, trailers: string[] | undefined): void {
    req._bodyDone = true;
    const taking = req._taker;
    if (taking !== null && trailers === undefined && isTaken(req) && taking.length === taking.bytes) {
        const pieces = taking.pieces ?? [];
        const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, taking.length);
        const value = inContextOf(taking, parse, taking, body);
        if (value !== undefined) {
            give(req, taking, value);
            return;
        }
    }
    req.complete = true;
    if (trailers !== undefined) req._addHeaderLines(trailers, trailers.length);
    if (taking !== null) {
        // The stream begins with what came, and ends behind it.
        req._bodyDone = false;
        giveBack(req, taking);
        req._bodyDone = true;
    }
    if (hasState(req, "_readableState")) req.push(null);
    // Otherwise the state, once it is made, says so.
}

function parse({ taker }: Taking, body: Buffer): unknown {
    return taker.parse(body);
}

/** The taker has its value, and the stream has ended. */
function give(req: IncomingMessage, taking: Taking, value: unknown): void {
    req._taker = TAKEN;
    req._bodyDone = true;
    req.complete = true;
    req._consuming = true;
    giving = req;
    try {
        if (contexts.used === undefined) taking.taker.done(req, taking.res, taking.next, value);
        else inContextOf(taking, done, req, taking, value);
    } finally {
        giving = null;
        if (looked !== null) close(looked);
        looked = null;
    }
}

/** The request whose body is being given, which is as one at 'end': its stream is destroyed right after that. */
let giving: IncomingMessage | null = null;
/** Its state, if somebody looked at it meanwhile. */
let looked: ReadableState | null = null;

function close(state: ReadableState): void {
    state.destroyed = true;
    state.closed = true;
    state.closeEmitted = true;
}

function done(req: IncomingMessage, { taker, res, next }: Taking, value: unknown): void {
    taker.done(req, res, next, value);
}

/** The state of a stream that has ended, of a request that was read past it. */
function ended(req: IncomingMessage): void {
    (Readable as unknown as (this: unknown, options?: object) => void).call(req, req._line?.server._options);
    const state = req._readableState;
    state.ended = true;
    state.endEmitted = true;
    if (giving === req) looked = state;
    else close(state);
}

function inContextOf<A extends unknown[], R>({ context }: Taking, run: (...args: A) => R, ...args: A): R {
    const { used } = contexts;
    if (used === undefined) return run(...args);
    const before = used.current();
    used.enter(context);
    try {
        return run(...args);
    } finally {
        used.enter(before);
    }
}

/** The body goes into the stream after all, to which the taker listens from now on. */
function giveBack(req: IncomingMessage, taking: Taking): void {
    req._taker = null;
    inContextOf(taking, read, req, taking);
    for (const piece of taking.pieces ?? []) req.push(piece);
}

/** No more of the body comes: whoever wants it is told by the stream. To be called while the socket is open. */
export function stopTaking(req: IncomingMessage): void {
    const taking = req._taker;
    if (taking !== null && taking !== TAKEN) giveBack(req, taking);
}

function read(req: IncomingMessage, { taker, res, next }: Taking): void {
    taker.read(req, res, next);
}
