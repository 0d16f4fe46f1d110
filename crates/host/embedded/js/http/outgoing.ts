// The fields of a reply, and the head that is made of them: the part of responses that servers and clients share.
import Stream from "node:stream";
import { codes } from "../leat/errors";
import { dateNow } from "./date";
import { hide, http } from "./native";

const TOKEN = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
const VALUE_BAD = /[^\t\x20-\x7e\x80-\xff]/;
const CHUNKED = /(?:^|\W)chunked(?:$|\W)/i;
const CLOSE = /(?:^|\W)close(?:$|\W)/i;

export type Headers = Record<string, [name: string, value: unknown]>;

/** Fields that a message has, and nobody has asked for. */
export interface Unread {
    /** X-Powered-By of Express. */
    readonly powered: boolean;
    /** The type of a body that has been sent. */
    readonly type: string | undefined;
}

/** What a message that is sent has. Most of it stands on the prototype until it changes. */
export interface OutgoingMessage extends Stream {
    /** To be asked for by `fieldsOf`, unless `_unread` is null. */
    _headers: Headers | null;
    _unread: Unread | null;
    /** The entity tag of a body that has been sent, unless the fields have it. It begins with the body's length. */
    _tag: string;
    _header: string | null;
    _headerSent: boolean;
    _contentLength: number | null;
    _hasBody: boolean;
    _trailer: string;
    _last: boolean;
    _keepAliveTimeout: number;
    _maxRequestsPerSocket: number;
    _defaultKeepAlive: boolean;
    _removedConnection: boolean;
    _removedContLen: boolean;
    _removedTE: boolean;
    _closed: boolean;
    _events: Record<string, unknown> | undefined;
    _eventsCount: number;
    maxRequestsOnConnectionReached: boolean;
    chunkedEncoding: boolean;
    shouldKeepAlive: boolean;
    useChunkedEncodingByDefault: boolean;
    sendDate: boolean;
    finished: boolean;
    destroyed: boolean;
    errored: Error | null;
    strictContentLength: boolean;
    setHeader(name: string, value: unknown): this;
    getHeader(name: string): unknown;
    hasHeader(name: string): boolean;
    removeHeader(name: string): void;
    _storeHeader(firstLine: string, headers: unknown): void;
}

function Outgoing(this: OutgoingMessage): void {
    (Stream as unknown as (this: unknown) => void).call(this);
}

export const OutgoingMessage = Outgoing as unknown as { new (): OutgoingMessage; (this: unknown): void; prototype: OutgoingMessage };
Object.defineProperty(OutgoingMessage, "name", { value: "OutgoingMessage" });
Object.setPrototypeOf(Outgoing.prototype, Stream.prototype);
Object.setPrototypeOf(Outgoing, Stream);

hide(OutgoingMessage.prototype, {
    _headers: null,
    _unread: null,
    _tag: "",
    _header: null,
    _headerSent: false,
    _contentLength: null,
    _hasBody: true,
    _trailer: "",
    _last: false,
    _keepAliveTimeout: 0,
    _maxRequestsPerSocket: 0,
    _defaultKeepAlive: true,
    _removedConnection: false,
    _removedContLen: false,
    _removedTE: false,
    _closed: false,
    maxRequestsOnConnectionReached: false,
    chunkedEncoding: false,
    shouldKeepAlive: true,
    useChunkedEncodingByDefault: true,
    sendDate: false,
    finished: false,
    destroyed: false,
    errored: null,
    strictContentLength: false,
    writable: true,
});

/** Names that were checked, in lower case. Programs make them; yet a program may make up many. */
const lowerNames = new Map<string, string>();
const NAMES_MAX = 512;

export function validateHeaderName(name: unknown, label?: string): void {
    if (typeof name !== "string" || !TOKEN.test(name)) throw new codes.ERR_INVALID_HTTP_TOKEN(label ?? "Header name", name);
}

export function validateHeaderValue(name: string, value: unknown): void {
    if (value === undefined) throw new codes.ERR_HTTP_INVALID_HEADER_VALUE(value, name);
    // A regular expression would take longer than all the rest.
    if (typeof value === "string" ? !http.isValue(value) : VALUE_BAD.test(value as string)) throw new codes.ERR_INVALID_CHAR("header content", name);
}

function lowerOf(name: string): string {
    const known = lowerNames.get(name);
    if (known !== undefined) return known;
    validateHeaderName(name);
    const lower = name.toLowerCase();
    if (lowerNames.size < NAMES_MAX) lowerNames.set(name, lower);
    return lower;
}

function validString(name: unknown): asserts name is string {
    if (typeof name !== "string") throw new codes.ERR_INVALID_ARG_TYPE("name", "string", name);
}

function NoPrototype(): void {
    // Nothing to set.
}
NoPrototype.prototype = Object.create(null) as object;

/** An empty map of fields. */
export function newHeaders(): Headers {
    return new (NoPrototype as unknown as new () => Headers)();
}

/** The fields of a message, or null if it has none. */
export function fieldsOf(message: OutgoingMessage): Headers | null {
    const unread = message._unread;
    if (unread === null) return message._headers;
    message._unread = null;
    const { powered, type } = unread;
    const tag = message._tag;
    const before = message._headers;
    let fields = before ?? newHeaders();
    if (powered) fields = Object.assign(newHeaders(), { "x-powered-by": ["X-Powered-By", "Express"] }, before);
    if (type !== undefined) fields["content-type"] = ["Content-Type", type];
    if (tag !== "") {
        fields["content-length"] = ["Content-Length", `${Number.parseInt(tag.slice('W/"'.length), 16)}`];
        fields["etag"] = ["ETag", tag];
    }
    return (message._headers = fields);
}

hide(OutgoingMessage.prototype, {
    setHeader(this: OutgoingMessage, name: string, value: unknown): OutgoingMessage {
        if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT("set");
        const lower = lowerOf(name);
        if (Array.isArray(value)) for (const one of value as unknown[]) validateHeaderValue(name, one);
        else if (typeof value !== "number") validateHeaderValue(name, value);
        (fieldsOf(this) ?? (this._headers = newHeaders()))[lower] = [name, value];
        return this;
    },

    setHeaders(this: OutgoingMessage, headers: Headers | Map<string, string> | Iterable<[string, string]>): OutgoingMessage {
        if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT("set");
        if (!headers || Array.isArray(headers) || typeof (headers as Map<string, string>).keys !== "function" || typeof (headers as Map<string, string>).get !== "function") {
            throw new codes.ERR_INVALID_ARG_TYPE("headers", ["Headers", "Map"], headers);
        }
        const cookies: string[] = [];
        for (const [key, value] of headers as Iterable<[string, string]>) {
            if (key === "set-cookie") {
                if (Array.isArray(value)) cookies.push(...(value as string[]));
                else cookies.push(value);
            } else {
                this.setHeader(key, value);
            }
        }
        if (cookies.length > 0) this.setHeader("set-cookie", cookies);
        return this;
    },

    appendHeader(this: OutgoingMessage, name: string, value: string | string[]): OutgoingMessage {
        if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT("append");
        const lower = lowerOf(name);
        if (Array.isArray(value)) for (const one of value) validateHeaderValue(name, one);
        else validateHeaderValue(name, value);
        const headers = fieldsOf(this) ?? (this._headers = newHeaders());
        const entry = headers[lower];
        if (entry === undefined) {
            headers[lower] = [name, value];
        } else {
            const before = Array.isArray(entry[1]) ? (entry[1] as unknown[]) : [entry[1]];
            entry[1] = before.concat(value);
        }
        return this;
    },

    getHeader(this: OutgoingMessage, name: string): unknown {
        validString(name);
        const headers = fieldsOf(this);
        return headers === null ? undefined : headers[name.toLowerCase()]?.[1];
    },

    getHeaderNames(this: OutgoingMessage): string[] {
        return Object.keys(fieldsOf(this) ?? {});
    },

    getRawHeaderNames(this: OutgoingMessage): string[] {
        return Object.values(fieldsOf(this) ?? {}).map(([name]) => name);
    },

    getHeaders(this: OutgoingMessage): Record<string, unknown> {
        const out = Object.create(null) as Record<string, unknown>;
        const headers = fieldsOf(this);
        if (headers !== null) for (const name of Object.keys(headers)) out[name] = (headers[name] as [string, unknown])[1];
        return out;
    },

    hasHeader(this: OutgoingMessage, name: string): boolean {
        validString(name);
        return fieldsOf(this)?.[name.toLowerCase()] !== undefined;
    },

    removeHeader(this: OutgoingMessage, name: string): void {
        validString(name);
        if (this._header) throw new codes.ERR_HTTP_HEADERS_SENT("remove");
        const lower = name.toLowerCase();
        if (lower === "connection") this._removedConnection = true;
        else if (lower === "content-length") this._removedContLen = true;
        else if (lower === "transfer-encoding") this._removedTE = true;
        else if (lower === "date") this.sendDate = false;
        const headers = fieldsOf(this);
        if (headers !== null) delete headers[lower];
    },

    flushHeaders(this: OutgoingMessage & { _implicitHeader(): void; _send(data: string): void }): void {
        if (!this._header) this._implicitHeader();
        this._send("");
    },

    get headersSent(): boolean {
        return Boolean((this as unknown as OutgoingMessage)._header);
    },

    get writableEnded(): boolean {
        return (this as unknown as OutgoingMessage).finished;
    },

    get writableObjectMode(): boolean {
        return false;
    },

    get closed(): boolean {
        return (this as unknown as OutgoingMessage)._closed;
    },

    _storeHeader: storeHeader,

    pipe(this: OutgoingMessage): void {
        this.emit("error", new codes.ERR_STREAM_CANNOT_PIPE());
    },
});

/** What a head says of itself while it is made. */
interface Seen {
    connection: boolean;
    contentLength: boolean;
    transferEncoding: boolean;
    date: boolean;
    expect: boolean;
    trailer: boolean;
    head: string;
}

/** Names that say something of the message itself. Of others nothing but the line is made. */
const SPECIAL = new Set(["connection", "transfer-encoding", "date", "expect", "trailer", "keep-alive", "content-disposition"]);

/** What stands before a field's value, by its name as it is sent; null for a special one. */
const leads = new Map<string, string | null>();

function leadOf(name: string): string | null {
    const lead = SPECIAL.has(name.toLowerCase()) ? null : `${name}: `;
    if (leads.size < NAMES_MAX) leads.set(name, lead);
    return lead;
}

/** The end of the head of a usual reply: made once a second. */
let tail = "";
let tailDate = "";
let tailTimeout = -1;

function tailOf(timeout: number): string {
    const date = dateNow();
    if (date !== tailDate || timeout !== tailTimeout) {
        tailDate = date;
        tailTimeout = timeout;
        tail = `Date: ${date}\r\nConnection: keep-alive\r\n`;
        if (timeout) tail += `Keep-Alive: timeout=${Math.floor(timeout / 1000)}\r\n`;
        tail += "\r\n";
    }
    return tail;
}

/** Whether the reply leaves its connection open, and nobody has said anything else of that or of the date. */
export function isKept(message: OutgoingMessage): boolean {
    if (!message.sendDate || !message.shouldKeepAlive || message._last || message.chunkedEncoding || message._removedConnection || message._removedTE) return false;
    if (!message._defaultKeepAlive || message.maxRequestsOnConnectionReached || ~~message._maxRequestsPerSocket > 0) return false;
    return message.useChunkedEncodingByDefault && (message as unknown as { _uniqueHeaders?: unknown })._uniqueHeaders == null;
}

/**
 * The head of a reply with a length on a connection that stays, if none of its own fields is special: the same as below, with
 * nothing looked at twice. Undefined, and nothing is changed, for any other.
 */
function plainHead(message: OutgoingMessage, firstLine: string, headers: Headers): string | undefined {
    if (!isKept(message)) return undefined;
    let head = firstLine;
    let length: unknown = undefined;
    for (const key in headers) {
        const entry = headers[key] as [string, unknown];
        const name = entry[0];
        const value = entry[1];
        let lead = leads.get(name);
        if (lead === undefined) lead = leadOf(name);
        if (lead === null || typeof value === "object") return undefined;
        if (key === "content-length") length = value;
        head = head + lead + (value as string) + "\r\n";
    }
    if (length === undefined) {
        const known = message._contentLength;
        if (typeof known !== "number" || message._removedContLen || !message._hasBody || !message.useChunkedEncodingByDefault) return undefined;
        const end = tailOf(message._keepAliveTimeout);
        // Node writes it behind the connection's fields.
        return `${head}${end.slice(0, -2)}Content-Length: ${known}\r\n\r\n`;
    }
    message._contentLength = Number(length);
    message._removedContLen = false;
    return head + tailOf(message._keepAliveTimeout);
}

/** Makes `_header` of `firstLine` and `headers`, and decides how the body is framed. The order of fields is Node's. */
function storeHeader(this: OutgoingMessage, firstLine: string, headers: unknown): void {
    if (headers && headers === this._headers) {
        const head = plainHead(this, firstLine, headers as Headers);
        if (head !== undefined) {
            this._header = head;
            this._headerSent = false;
            return;
        }
    }
    const seen: Seen = { connection: false, contentLength: false, transferEncoding: false, date: false, expect: false, trailer: false, head: firstLine };
    if (headers) {
        if (headers === this._headers) {
            const own = headers as Headers;
            for (const key in own) {
                const [name, value] = own[key] as [string, unknown];
                addHeader(this, seen, name, value, false);
            }
        } else if (Array.isArray(headers)) {
            if (headers.length > 0 && Array.isArray(headers[0])) {
                for (const [name, value] of headers as [string, unknown][]) addHeader(this, seen, name, value, true);
            } else {
                if (headers.length % 2 !== 0) throw new codes.ERR_INVALID_ARG_VALUE("headers", headers);
                for (let at = 0; at < headers.length; at += 2) addHeader(this, seen, headers[at] as string, headers[at + 1], true);
            }
        } else {
            for (const name in headers as Record<string, unknown>) {
                if (Object.hasOwn(headers, name)) addHeader(this, seen, name, (headers as Record<string, unknown>)[name], true);
            }
        }
    }
    let { head } = seen;
    if (this.sendDate && !seen.date) head += `Date: ${dateNow()}\r\n`;
    const status = (this as unknown as { statusCode?: number }).statusCode;
    // No body and no framing for these, whatever the program said.
    if (this.chunkedEncoding && (status === 204 || status === 304)) {
        this.chunkedEncoding = false;
        this.shouldKeepAlive = false;
    }
    if (this._removedConnection) {
        this._last = !this.shouldKeepAlive;
    } else if (!seen.connection) {
        const keep = this.shouldKeepAlive && (seen.contentLength || this.useChunkedEncodingByDefault || Boolean((this as { agent?: unknown }).agent));
        if (keep && this.maxRequestsOnConnectionReached) {
            head += "Connection: close\r\n";
        } else if (keep) {
            head += "Connection: keep-alive\r\n";
            if (this._keepAliveTimeout && this._defaultKeepAlive) {
                const timeout = Math.floor(this._keepAliveTimeout / 1000);
                const max = ~~this._maxRequestsPerSocket > 0 ? `, max=${this._maxRequestsPerSocket}` : "";
                head += `Keep-Alive: timeout=${timeout}${max}\r\n`;
            }
        } else {
            this._last = true;
            head += "Connection: close\r\n";
        }
    }
    if (!seen.contentLength && !seen.transferEncoding) {
        if (!this._hasBody) this.chunkedEncoding = false;
        else if (!this.useChunkedEncodingByDefault) this._last = true;
        else if (!seen.trailer && !this._removedContLen && typeof this._contentLength === "number") head += `Content-Length: ${this._contentLength}\r\n`;
        else if (!this._removedTE) {
            head += "Transfer-Encoding: chunked\r\n";
            this.chunkedEncoding = true;
        } else {
            this._last = true;
        }
    }
    if (this.chunkedEncoding !== true && seen.trailer) throw new codes.ERR_HTTP_TRAILER_INVALID();
    this._header = `${head}\r\n`;
    this._headerSent = false;
    if (seen.expect) (this as unknown as { _send(data: string): void })._send("");
}

function addHeader(message: OutgoingMessage, seen: Seen, name: string, value: unknown, validate: boolean): void {
    const lower = validate ? checkedName(name) : (lowerNames.get(name) ?? name.toLowerCase());
    // How a file is called is UTF-8 to many; Node sends those bytes.
    if (lower === "content-disposition" && message._contentLength !== null) {
        value = Array.isArray(value) ? value.map((one) => Buffer.from(String(one)).toString("latin1")) : Buffer.from(String(value)).toString("latin1");
    }
    if (Array.isArray(value)) {
        if ((value.length < 2 || lower !== "cookie") && !isUnique(message, lower)) {
            for (const one of value as unknown[]) addLine(message, seen, name, lower, one, validate);
            return;
        }
        value = (value as unknown[]).join("; ");
    }
    addLine(message, seen, name, lower, value, validate);
}

function isUnique(message: OutgoingMessage, lower: string): boolean {
    return (message as unknown as { _uniqueHeaders?: Set<string> | null })._uniqueHeaders?.has(lower) === true;
}

function checkedName(name: string): string {
    validateHeaderName(name);
    return name.toLowerCase();
}

function addLine(message: OutgoingMessage, seen: Seen, name: string, lower: string, value: unknown, validate: boolean): void {
    if (validate) validateHeaderValue(name, value);
    seen.head = `${seen.head}${name}: ${value as string}\r\n`;
    switch (lower) {
        case "connection":
            seen.connection = true;
            message._removedConnection = false;
            if (CLOSE.test(value as string)) message._last = true;
            else message.shouldKeepAlive = true;
            break;
        case "transfer-encoding":
            seen.transferEncoding = true;
            message._removedTE = false;
            if (CHUNKED.test(value as string)) message.chunkedEncoding = true;
            break;
        case "content-length":
            seen.contentLength = true;
            message._contentLength = Number(value);
            message._removedContLen = false;
            break;
        case "date":
            seen.date = true;
            break;
        case "expect":
            seen.expect = true;
            break;
        case "trailer":
            seen.trailer = true;
            break;
        case "keep-alive":
            message._defaultKeepAlive = false;
            break;
        default:
    }
}
