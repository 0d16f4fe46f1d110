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

/** What a field name is: 0 not known yet or not plain, 1 plain, 2 Content-Length. */
const PLAIN = 1;
const LENGTH = 2;
const nameKinds = new Map<string, number>();
/** Names come from the program, not from the peer; yet a program may make them up. */
const NAME_KINDS_MAX = 512;

/** Checked names in lower case. */
const lowerNames = new Map<string, string>();

const statusLines: (string | undefined)[] = [];

let tail = "";
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
    let head = firstLine;
    let length: unknown = undefined;
    if (headers != null) {
        const own = (res as unknown as Record<symbol, unknown>)[kOutHeaders];
        if (headers === own) {
            for (const key in headers) {
                const entry = (headers as Record<string, [string, unknown]>)[key] as [string, unknown];
                const value = entry[1];
                const kind = nameKinds.get(entry[0]) ?? kindOf(entry[0]);
                if (kind === 0 || typeof value === "object") return undefined;
                if (kind === LENGTH) length = value;
                // Checked by setHeader.
                head += `${entry[0]}: ${value as string}\r\n`;
            }
        } else if (Array.isArray(headers)) {
            return undefined;
        } else {
            for (const key in headers) {
                if (!Object.hasOwn(headers, key)) continue;
                const value = (headers as Record<string, unknown>)[key];
                const kind = nameKinds.get(key) ?? kindOf(key);
                if (kind === 0) return undefined;
                if (typeof value === "string") {
                    if (VALUE_BAD.test(value)) return undefined;
                } else if (typeof value !== "number") {
                    return undefined;
                }
                if (kind === LENGTH) length = value;
                head += `${key}: ${value as string}\r\n`;
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
            tail = `Date: ${date}\r\nConnection: keep-alive\r\n`;
            if (timeout) tail += `Keep-Alive: timeout=${Math.floor(timeout / 1000)}\r\n`;
        }
        head += tail;
    } else {
        res._last = true;
        head += `Date: ${date}\r\nConnection: close\r\n`;
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

function kindOf(name: string): number {
    if (!NAME.test(name)) return 0;
    const lower = name.toLowerCase();
    const kind = SPECIAL.has(lower) ? 0 : lower === CONTENT_LENGTH ? LENGTH : PLAIN;
    if (nameKinds.size < NAME_KINDS_MAX) {
        nameKinds.set(name, kind);
        lowerNames.set(name, lower);
    }
    return kind;
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
