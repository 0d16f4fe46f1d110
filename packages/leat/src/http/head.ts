// The head of a reply, as Node's `_storeHeader` writes it, for the fields that most replies have. Whatever is not plain
// here goes to Node's own method.
import { STATUS_CODES } from "node:http";
import { dateNow } from "./date";
import { kOutHeaders, kUniqueHeaders, NODE_MAJOR } from "./node_symbols";

/** What is read and set of a response; Node's private members. */
export interface HeadState {
    statusCode: number;
    statusMessage: string | undefined;
    sendDate: boolean;
    chunkedEncoding: boolean;
    shouldKeepAlive: boolean;
    useChunkedEncodingByDefault: boolean;
    maxRequestsOnConnectionReached: boolean;
    _removedConnection: boolean;
    _removedContLen: boolean;
    _removedTE: boolean;
    _contentLength: number | null;
    _hasBody: boolean;
    _last: boolean;
    _header: string | null;
    _headerSent: boolean;
    _keepAliveTimeout: number;
    _maxRequestsPerSocket?: number;
    _defaultKeepAlive: boolean;
    _expect_continue: boolean;
    _sent100: boolean;
    _isLenientHeaderValidation?: () => boolean;
}

/** A name that needs no second look: lengths outside of Node's special fields are told by the table alone. */
const SPECIAL = new Set(["connection", "transfer-encoding", "date", "expect", "trailer", "keep-alive", "content-disposition"]);
const CONTENT_LENGTH = "content-length";

const NAME = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
const VALUE_BAD = /[^\t\x20-\x7e\x80-\xff]/;

/** What stands between the value before a field and its own value, and whether it is Content-Length. */
interface Plain {
    readonly lead: string;
    readonly isLength: boolean;
}

/** Field names as they are sent; null for one that is not plain. */
const plainNames = new Map<string, Plain | null>();
/** Names come from the program, not from the peer; yet a program may make them up. */
const PLAIN_NAMES_MAX = 512;

/** Checked names in lower case. */
const lowerNames = new Map<string, string>();

const statusLines: (string | undefined)[] = [];

/** The newest status line and the same without its line end, which every field brings. */
let line = "\r\n";
let bareLine = "";

/** What stands after the fields of a reply on a connection that stays, up to a line that may follow. */
let tail = "";
/** The same with the head's end. */
let lastTail = "";
let tailDate = "";
let tailTimeout = -1;

/** The status line of `status` with the usual phrase. */
export function statusLine(status: number): string {
    return (statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`);
}

/**
 * The head that Node would make of `firstLine` and `headers`, with the same effects on `res`; undefined, and no effect,
 * if something in it is not plain.
 */
export function plainHead(res: HeadState, firstLine: string, headers: unknown): string | undefined {
    if (!res.sendDate || res._removedConnection || res._removedTE || !res._defaultKeepAlive) return undefined;
    if (res.chunkedEncoding || res.maxRequestsOnConnectionReached) return undefined;
    if ((res as unknown as Record<symbol, unknown>)[kUniqueHeaders] != null) return undefined;
    if (firstLine !== line) {
        line = firstLine;
        bareLine = firstLine.slice(0, -2);
    }
    let head = bareLine;
    let length: unknown = undefined;
    if (headers != null) {
        const own = (res as unknown as Record<symbol, unknown>)[kOutHeaders];
        if (headers === own) {
            for (const key in headers) {
                const entry = (headers as Record<string, [string, unknown]>)[key] as [string, unknown];
                const value = entry[1];
                const plain = plainName(entry[0]);
                if (plain === null || typeof value === "object") return undefined;
                if (plain.isLength) length = value;
                // Checked by setHeader.
                head = head + plain.lead + (value as string);
            }
        } else if (Array.isArray(headers)) {
            return undefined;
        } else {
            for (const key in headers) {
                if (!Object.hasOwn(headers, key)) continue;
                const value = (headers as Record<string, unknown>)[key];
                const plain = plainName(key);
                if (plain === null) return undefined;
                if (typeof value === "string") {
                    if (VALUE_BAD.test(value)) return undefined;
                } else if (typeof value !== "number") {
                    return undefined;
                }
                if (plain.isLength) length = value;
                head = head + plain.lead + (value as string);
            }
        }
    }
    const date = dateNow();
    if (res.shouldKeepAlive && (length !== undefined || res.useChunkedEncodingByDefault)) {
        const timeout = res._keepAliveTimeout;
        if (timeout && ~~(res._maxRequestsPerSocket as number) > 0) return undefined;
        if (date !== tailDate || timeout !== tailTimeout) {
            tailDate = date;
            tailTimeout = timeout;
            tail = `\r\nDate: ${date}\r\nConnection: keep-alive\r\n`;
            if (timeout) tail += `Keep-Alive: timeout=${Math.floor(timeout / 1000)}\r\n`;
            lastTail = `${tail}\r\n`;
        }
        if (length !== undefined) {
            res._contentLength = Number(length);
            res._removedContLen = false;
            return head + lastTail;
        }
        head += tail;
    } else {
        res._last = true;
        head += `\r\nDate: ${date}\r\nConnection: close\r\n`;
    }
    if (length !== undefined) {
        res._contentLength = Number(length);
        res._removedContLen = false;
    } else if (!res._hasBody) {
        res.chunkedEncoding = false;
    } else if (!res.useChunkedEncodingByDefault) {
        res._last = true;
    } else if (!res._removedContLen && typeof res._contentLength === "number") {
        head += `Content-Length: ${res._contentLength}\r\n`;
    } else {
        head += "Transfer-Encoding: chunked\r\n";
        res.chunkedEncoding = true;
    }
    return `${head}\r\n`;
}

function plainName(name: string): Plain | null {
    const known = plainNames.get(name);
    if (known !== undefined) return known;
    if (!NAME.test(name)) return null;
    const lower = name.toLowerCase();
    const plain = SPECIAL.has(lower) ? null : { lead: `\r\n${name}: `, isLength: lower === CONTENT_LENGTH };
    if (plainNames.size < PLAIN_NAMES_MAX) {
        plainNames.set(name, plain);
        lowerNames.set(name, lower);
    }
    return plain;
}

/** The name in lower case if it is a good one and was seen before. */
export function knownName(name: unknown): string | undefined {
    return lowerNames.get(name as string);
}

/** Whether the value can be sent as it is. */
export function isPlainValue(value: unknown): boolean {
    return typeof value === "string" ? !VALUE_BAD.test(value) : typeof value === "number";
}

/** Whether this Node has 'writeHeader', which newer ones dropped. */
export const HAS_WRITE_HEADER = NODE_MAJOR < 26;
