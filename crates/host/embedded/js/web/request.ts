// Request and Response (WHATWG Fetch).
import { AbortController, AbortSignal } from "./events";
import { isToken, isValue } from "./exchange";
import { Headers, immutable } from "./headers";
import { TextEncoder } from "./encoding";
import { URL } from "./url";
import { Body, extract, type Source } from "./_body";
export { bytesNow, isWhole } from "./_body";
export { Incoming } from "./_incoming";

const customInspect = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: unknown) => string;

const NORMALISED = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];
const FORBIDDEN = ["CONNECT", "TRACE", "TRACK"];
const NULL_BODY = [101, 204, 205, 304];
const REDIRECTS = [301, 302, 303, 307, 308];
const CHOICES: Record<string, string[]> = {
    redirect: ["follow", "manual", "error"],
    mode: ["navigate", "same-origin", "no-cors", "cors"],
    credentials: ["omit", "same-origin", "include"],
    cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
    duplex: ["half"],
};

interface Init {
    [name: string]: unknown;
    method?: unknown;
    headers?: unknown;
    body?: unknown;
    signal?: AbortSignal | null;
    redirect?: string;
    keepalive?: boolean;
    duplex?: string;
    window?: unknown;
}

function methodOf(given: unknown): string {
    const text = String(given);
    const upper = text.toUpperCase();
    if (!isToken(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
    if (FORBIDDEN.includes(upper)) throw new TypeError(`'${text}' HTTP method is unsupported.`);
    return NORMALISED.includes(upper) ? upper : text;
}

function parsed(url: string): URL {
    try {
        return new URL(url);
    } catch (cause) {
        throw new TypeError(`Failed to parse URL from ${url}`, { cause });
    }
}

export class Request extends Body {
    #url: URL;
    #method: string;
    #headers: Headers;
    #signal: AbortSignal | undefined;
    #redirect: string;
    #init: Init;

    constructor(input: unknown, init: Init | null = {}) {
        if (arguments.length === 0) throw new TypeError("Request constructor: 1 argument required, but only 0 present.");
        const from = input instanceof Request ? input : undefined;
        const given = init ?? {};
        const url = from === undefined ? parsed(String(input)) : from.#url;
        if (url.username !== "" || url.password !== "") throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${url.href}`);
        for (const [name, values] of Object.entries(CHOICES)) {
            const value = given[name];
            if (value !== undefined && !values.includes(String(value))) {
                throw new TypeError(`Request constructor: ${String(value)} is not an accepted type. Expected one of ${values.join(", ")}.`);
            }
        }
        if (given.window !== undefined && given.window !== null) throw new TypeError(`'window' option '${String(given.window)}' must be null`);
        const method = given.method === undefined ? (from?.method ?? "GET") : methodOf(given.method);
        const headers = new Headers(given.headers ?? from?.headers);
        let source: Source | null = null;
        if (given.body !== undefined && given.body !== null) {
            if (method === "GET" || method === "HEAD") throw new TypeError("Request with GET/HEAD method cannot have body.");
            const made = extract(given.body);
            source = made.source;
            if (made.type !== undefined && !headers.has("content-type")) headers.set("content-type", made.type);
            if (typeof (source as { getReader?: unknown }).getReader === "function" && given.duplex === undefined) {
                throw new TypeError("RequestInit: duplex option is required when sending a body.");
            }
        } else if (from !== undefined && from.hasBody()) {
            if (from.isUnusable()) throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
            source = from.take();
        }
        super(source);
        this.#url = url;
        this.#method = method;
        this.#headers = headers;
        const signal = given.signal === undefined ? from?.signal : given.signal;
        if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) {
            throw new TypeError("Request constructor: Expected signal to be an instance of AbortSignal.");
        }
        this.#signal = signal ?? undefined;
        this.#redirect = given.redirect ?? from?.redirect ?? "follow";
        this.#init = { ...(from === undefined ? {} : from.#init), ...given };
    }
    get method(): string {
        return this.#method;
    }
    get url(): string {
        return this.#url.href;
    }
    get headers(): Headers {
        return this.#headers;
    }
    get destination(): string {
        return "";
    }
    get referrer(): string {
        return "about:client";
    }
    get referrerPolicy(): string {
        return String(this.#init["referrerPolicy"] ?? "");
    }
    get mode(): string {
        return String(this.#init["mode"] ?? "cors");
    }
    get credentials(): string {
        return String(this.#init["credentials"] ?? "same-origin");
    }
    get cache(): string {
        return String(this.#init["cache"] ?? "default");
    }
    get redirect(): string {
        return this.#redirect;
    }
    get integrity(): string {
        return String(this.#init["integrity"] ?? "");
    }
    get keepalive(): boolean {
        return Boolean(this.#init.keepalive);
    }
    get isReloadNavigation(): boolean {
        return false;
    }
    get isHistoryNavigation(): boolean {
        return false;
    }
    get duplex(): string {
        return "half";
    }
    get signal(): AbortSignal {
        return (this.#signal ??= new AbortController().signal);
    }
    clone(): Request {
        const source = this.split();
        const made = new Request(this.url, { ...this.#init, method: this.#method, headers: this.#headers, redirect: this.#redirect, body: undefined, signal: this.signal });
        return source === null ? made : withBody(made, source);
    }
    /** The signal, if anybody has it. */
    static signalOf(request: Request): AbortSignal | undefined {
        return request.#signal;
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        const { method, url, headers, bodyUsed, redirect, signal } = this;
        return depth < 0 ? "[Request]" : `Request ${inspect({ method, url, headers, bodyUsed, redirect, signal }, options)}`;
    }
}

interface ResponseInit {
    status?: number;
    statusText?: unknown;
    headers?: unknown;
}

let describe: (response: Response, about: Partial<About>) => Response;
interface About {
    url: string;
    type: string;
    isRedirected: boolean;
    headers: Headers;
    status: number;
}

export class Response extends Body {
    #status: number;
    #statusText: string;
    #headers: Headers;
    #url = "";
    #type = "default";
    #isRedirected = false;

    static {
        describe = (response, about) => {
            response.#url = about.url ?? response.#url;
            response.#type = about.type ?? response.#type;
            response.#isRedirected = about.isRedirected ?? response.#isRedirected;
            response.#headers = about.headers ?? response.#headers;
            response.#status = about.status ?? response.#status;
            return response;
        };
    }

    constructor(body: unknown = null, init: ResponseInit | null = {}) {
        const status = init?.status === undefined ? 200 : Number(init.status);
        if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
        const statusText = String(init?.statusText ?? "");
        if (!isValue(statusText)) throw new TypeError("Invalid statusText");
        const headers = new Headers(init?.headers);
        let source: Source | null = null;
        if (body !== null && body !== undefined) {
            if (NULL_BODY.includes(status)) throw new TypeError(`Response constructor: Invalid response status code ${status}`);
            const made = extract(body);
            source = made.source;
            if (made.type !== undefined && !headers.has("content-type")) headers.set("content-type", made.type);
        }
        super(source);
        this.#status = status;
        this.#statusText = statusText;
        this.#headers = headers;
    }
    static error(): Response {
        return describe(new Response(), { type: "error", status: 0, headers: immutable(new Headers()) });
    }
    static json(data: unknown, init: ResponseInit | null = {}): Response {
        if (arguments.length === 0) throw new TypeError("Response.json: 1 argument required, but only 0 present.");
        const text = JSON.stringify(data);
        if (text === undefined) throw new TypeError("Value is not JSON serializable");
        const headers = new Headers(init?.headers);
        if (!headers.has("content-type")) headers.set("content-type", "application/json");
        return new Response(new TextEncoder().encode(text), { ...init, headers });
    }
    static redirect(url: unknown, status = 302): Response {
        const to = parsed(String(url));
        if (!REDIRECTS.includes(status)) throw new RangeError(`Invalid status code ${status}`);
        const response = new Response(null, { status, headers: { location: to.href } });
        return describe(response, { headers: immutable(response.headers) });
    }
    get type(): string {
        return this.#type;
    }
    get url(): string {
        return this.#url;
    }
    get redirected(): boolean {
        return this.#isRedirected;
    }
    get status(): number {
        return this.#status;
    }
    get ok(): boolean {
        return this.#status >= 200 && this.#status <= 299;
    }
    get statusText(): string {
        return this.#statusText;
    }
    get headers(): Headers {
        return this.#headers;
    }
    clone(): Response {
        const source = this.split();
        const made = new Response(null, { status: this.#status === 0 ? 200 : this.#status, statusText: this.#statusText, headers: this.#headers });
        describe(made, { url: this.#url, type: this.#type, isRedirected: this.#isRedirected, status: this.#status });
        return source === null ? made : withBody(made, source);
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        const { status, statusText, headers, body, bodyUsed, ok, redirected, type, url } = this;
        return depth < 0 ? "[Response]" : `Response ${inspect({ status, statusText, headers, body, bodyUsed, ok, redirected, type, url }, options)}`;
    }
}

/** Gives a message that has no body one. */
function withBody<T extends Body>(message: T, source: Source): T {
    message.give(source);
    return message;
}

/** A response as it came from a server. */
export function responded(source: Source | null, status: number, statusText: string, headers: Headers, url: string, isRedirected: boolean): Response {
    // What the constructor refuses may come from a server.
    const response = new Response(null, { statusText: isValue(statusText) ? statusText : "" });
    describe(response, { url, type: "basic", isRedirected, headers, status });
    return source === null || NULL_BODY.includes(status) ? response : withBody(response, source);
}

for (const Kind of [Request, Response]) {
    Object.defineProperty(Kind.prototype, Symbol.toStringTag, { configurable: true, value: Kind.name });
    for (const name of Object.getOwnPropertyNames(Kind.prototype)) {
        if (name !== "constructor") Object.defineProperty(Kind.prototype, name, { enumerable: true });
    }
}
