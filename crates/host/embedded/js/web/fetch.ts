// fetch (WHATWG Fetch) as a server has it: no CORS, no cookies, no cache. What fails is a TypeError whose cause has Node's codes.
import { DOMException, type AbortSignal } from "./events";
import { Told, abort, connectError, end, start, write, type Asked } from "./exchange";
import { Headers, inOrder, received } from "./headers";
import { Incoming, Request, Response, bytesNow, isWhole, responded } from "./request";
import { URL } from "./url";
import type { Source } from "./_body";

export { Headers } from "./headers";
export { Request, Response } from "./request";

/** Redirects that are followed. */
const REDIRECTS_MAX = 20;
/** Longest wait for a response's head, and between two pieces of its body, as undici's. */
const HEAD_MS_MAX = 300_000;
const IDLE_MS_MAX = 300_000;
/** Ports that are refused: nothing there speaks HTTP, and some that listen there take lines of a request for commands (WHATWG Fetch, "bad port"). */
const PORTS_REFUSED = new Set([
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119,
    123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
]);
/** What is left out when a redirect makes a GET of a request. */
const BODY_FIELDS = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];
/** What another origin does not get. */
const OWN_FIELDS = ["authorization", "proxy-authorization", "cookie", "host"];

const failed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });

function named(name: string, message: string, code: string): Error {
    const error = new Error(message);
    Object.defineProperty(error, "name", { configurable: true, value: name, writable: true });
    return Object.assign(error, { code });
}

/** The cause of a failure, as undici has it. */
function causeOf(kind: string, detail: string, asked: Asked): Error {
    switch (kind) {
        case "resolve":
        case "connect":
            return connectError(kind, asked);
        case "connectTime":
            return named("ConnectTimeoutError", `Connect Timeout Error (attempted address: ${asked.host}:${asked.port})`, "UND_ERR_CONNECT_TIMEOUT");
        case "headTime":
            return named("HeadersTimeoutError", "Headers Timeout Error", "UND_ERR_HEADERS_TIMEOUT");
        case "bodyTime":
            return named("BodyTimeoutError", "Body Timeout Error", "UND_ERR_BODY_TIMEOUT");
        case "headBytes":
            return named("HeadersOverflowError", "Headers Overflow Error", "UND_ERR_HEADERS_OVERFLOW");
        case "length":
            return named("RequestContentLengthMismatchError", "Request body length does not match content-length header", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH");
        case "reset":
            return named("SocketError", "other side closed", "UND_ERR_SOCKET");
        case "tls":
            return named("Error", `the TLS handshake with ${asked.host}:${asked.port} failed: its certificate is not trusted, or it speaks no TLS`, "ERR_TLS_HANDSHAKE");
        case "pool":
            return named("Error", `too many requests wait for ${asked.host}:${asked.port}`, "UND_ERR_BUSY");
        case "inflate":
            return named("Error", detail, "Z_DATA_ERROR");
        case "invalid":
            return named("HTTPParserError", `Response does not match the HTTP/1.1 protocol (${detail})`, "HPE_INVALID_CONSTANT");
        default:
            return named("Error", detail, "ERR_INVALID_URL");
    }
}

/** A body that nobody will read gives its connection back. */
const abandoned = new FinalizationRegistry<Incoming>((incoming) => incoming.abandon());

/** One request and what comes back, without redirects. */
function once(url: URL, method: string, headers: Headers, source: Source | null, signal: AbortSignal | undefined, redirects: number): Promise<Response> {
    return new Promise((resolve, reject) => {
        const isTLS = url.protocol === "https:";
        const asked: Asked = {
            isTLS,
            host: url.hostname.replace(/^\[|\]$/g, ""),
            port: Number(url.port) || (isTLS ? 443 : 80),
            isUnix: false,
            method,
            path: `${url.pathname}${url.search}`,
            fields: fieldsOf(url, headers, isTLS),
            length: -2,
            inflates: method !== "HEAD",
            headMs: HEAD_MS_MAX,
            idleMs: IDLE_MS_MAX,
        };
        const whole = source !== null && isWhole(source) ? bytesNow(source) : undefined;
        if (whole !== undefined) asked.length = whole.length;
        else if (source !== null) asked.length = -1;
        else if (method === "POST" || method === "PUT") asked.length = 0;
        const said = headers.get("content-length");
        if (said !== null && asked.length >= 0 && Number(said) !== asked.length) {
            return reject(failed(causeOf("length", "", asked)));
        }
        let incoming: Incoming | undefined;
        // Forgotten once there is a response: they know their promise, and it knows the response, which nobody else may want any more.
        let ends: { resolve: typeof resolve; reject: typeof reject } | undefined = { resolve, reject };
        let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
        let room: (() => void) | undefined;
        const over = (): void => {
            signal?.removeEventListener("abort", onAbort);
            room?.();
        };
        const onAbort = (): void => {
            abort(id);
            over();
            const reason = signal?.reason ?? new DOMException("This operation was aborted", "AbortError");
            reader?.cancel(reason).catch(() => {});
            if (incoming !== undefined) incoming.fail(reason);
            else ends?.reject(reason);
        };
        const id = start(asked, (told, one, two, three) => {
            switch (told) {
                case Told.Response: {
                    incoming = new Incoming(id);
                    incoming.onOver = over;
                    const response = responded(incoming, one as number, two as string, received(three as string[]), url.href.split("#", 1)[0] as string, redirects > 0);
                    abandoned.register(response, incoming);
                    ends?.resolve(response);
                    ends = undefined;
                    return false;
                }
                case Told.Data:
                    return incoming?.data(one as Uint8Array) ?? false;
                case Told.End:
                    incoming?.end();
                    return false;
                case Told.Failed: {
                    const cause = causeOf(one as string, two as string, asked);
                    over();
                    reader?.cancel(cause).catch(() => {});
                    if (incoming !== undefined) incoming.fail(new TypeError("terminated", { cause }));
                    else ends?.reject(failed(cause));
                    return false;
                }
                case Told.Drained:
                    room?.();
                    return false;
                default:
                    return false;
            }
        });
        signal?.addEventListener("abort", onAbort, { once: true });
        if (whole !== undefined) {
            if (whole.length > 0) write(id, whole);
            end(id);
        } else if (source === null) {
            end(id);
        } else {
            reader = (source as ReadableStream<Uint8Array>).getReader();
            const pump = async (from: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
                for (;;) {
                    const { done, value } = await from.read();
                    if (done) return end(id);
                    if (!(value instanceof Uint8Array)) throw new TypeError("Received non-Uint8Array chunk");
                    if (!write(id, value)) {
                        await new Promise<void>((go) => {
                            room = go;
                        });
                    }
                }
            };
            pump(reader).catch((error: unknown) => {
                abort(id);
                over();
                if (incoming !== undefined) incoming.fail(error);
                else ends?.reject(error instanceof TypeError ? failed(error) : error);
            });
        }
    });
}

function fieldsOf(url: URL, headers: Headers, isTLS: boolean): string[] {
    const fields = ["host", headers.get("host") ?? url.host, "connection", "keep-alive"];
    const own = inOrder(headers);
    for (let at = 0; at < own.length; at += 2) {
        const name = own[at] as string;
        // What frames a message, or concerns the connection, is not the program's to say.
        if (!["host", "connection", "transfer-encoding", "keep-alive", "upgrade", "expect", "te", "trailer"].includes(name)) fields.push(name, own[at + 1] as string);
    }
    const put = (name: string, value: string): void => {
        if (!headers.has(name)) fields.push(name, value);
    };
    put("accept", "*/*");
    put("accept-language", "*");
    put("sec-fetch-mode", "cors");
    put("user-agent", "node");
    put("accept-encoding", isTLS ? "br, gzip, deflate" : "gzip, deflate");
    return fields;
}

/** A data: URL is its own response (WHATWG Fetch, "data: URL processor"). */
function dataResponse(url: URL): Response {
    const text = url.href.split("#", 1)[0] as string;
    const comma = text.indexOf(",");
    if (comma < 0) throw failed(new Error("invalid data: URL"));
    let type = text.slice("data:".length, comma).trim();
    let bytes = percentDecoded(text.slice(comma + 1));
    if (/;\s*base64$/i.test(type)) {
        type = type.replace(/;\s*base64$/i, "");
        const plain = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
        try {
            bytes = Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
        } catch {
            throw failed(new Error("invalid data: URL"));
        }
    }
    if (type.startsWith(";")) type = `text/plain${type}`;
    if (!/^[^/;]+\/[^/;]+/.test(type)) type = "text/plain;charset=US-ASCII";
    const response = new Response(bytes, { statusText: "OK", headers: { "content-type": type } });
    return responded(response.take(), 200, "OK", response.headers, text, false);
}

function percentDecoded(text: string): Uint8Array {
    const bytes: number[] = [];
    for (let at = 0; at < text.length; at++) {
        const digits = text.slice(at + 1, at + 3);
        if (text[at] === "%" && /^[0-9a-f]{2}$/i.test(digits)) {
            bytes.push(parseInt(digits, 16));
            at += 2;
        } else bytes.push(text.charCodeAt(at));
    }
    return Uint8Array.from(bytes);
}

async function go(request: Request): Promise<Response> {
    const signal = Request.signalOf(request);
    signal?.throwIfAborted();
    let url = new URL(request.url);
    let { method } = request;
    let source = request.take();
    const headers = new Headers(request.headers);
    for (let redirects = 0; ; redirects++) {
        if (url.protocol === "data:" && redirects === 0) return dataResponse(url);
        if (url.protocol !== "http:" && url.protocol !== "https:") {
            throw failed(new Error(redirects > 0 ? "URL scheme must be a HTTP(S) scheme" : url.protocol === "file:" ? "not implemented... yet..." : "unknown scheme"));
        }
        if (PORTS_REFUSED.has(Number(url.port))) throw failed(new Error("bad port"));
        const response = await once(url, method, headers, source, signal, redirects);
        const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get("location") : null;
        if (location === null || request.redirect === "manual") return response;
        const incoming = response.take();
        if (incoming instanceof Incoming) incoming.cancel();
        if (request.redirect === "error") throw failed(new Error("unexpected redirect"));
        if (redirects >= REDIRECTS_MAX) throw failed(new Error("redirect count exceeded"));
        if (!URL.canParse(location, url.href)) throw failed(new TypeError("Invalid URL"));
        const next = new URL(location, url.href);
        if (next.hash === "") next.hash = url.hash;
        if (next.username !== "" || next.password !== "") throw failed(new Error('cross origin not allowed for request mode "cors"'));
        const becomesGet = response.status === 303 ? method !== "GET" && method !== "HEAD" : response.status <= 302 && method === "POST";
        if (becomesGet) {
            method = "GET";
            source = null;
            for (const name of BODY_FIELDS) headers.delete(name);
        } else if (source !== null && !isWhole(source)) {
            throw failed(new Error("a body that is a stream can't be sent again after a redirect"));
        }
        if (next.origin !== url.origin) for (const name of OWN_FIELDS) headers.delete(name);
        url = next;
    }
}

export function fetch(input: unknown, init: Record<string, unknown> | null | undefined = undefined): Promise<Response> {
    if (arguments.length === 0) return Promise.reject(new TypeError("The 'input' argument must be specified"));
    let request: Request;
    try {
        request = new Request(input, init ?? {});
    } catch (error) {
        return Promise.reject(error);
    }
    return go(request);
}
