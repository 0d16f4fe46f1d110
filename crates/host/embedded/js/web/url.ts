// URL and URLSearchParams (WHATWG). A URL is its text and where its parts are, which the native parser says once: a getter is a
// slice.

import { described } from "./_argument";

/** href, origin, then places in href, see `native/url.rs`. */
type Parts = [
    href: string, origin: string, protocolEnd: number, userStart: number, userEnd: number, passwordStart: number, passwordEnd: number,
    hostStart: number, hostEnd: number, portStart: number, portEnd: number, pathStart: number, pathEnd: number, queryEnd: number,
];
type Settable = "protocol" | "username" | "password" | "host" | "hostname" | "port" | "pathname" | "search" | "hash";

const found = native("url") as {
    parse(text: string, base?: string): Parts | undefined;
    change(href: string, part: Settable, value: string): Parts | undefined;
    isValid(text: string, base?: string): boolean;
    readQuery(query: string): string[];
    writeQuery(pairs: string[]): string;
    domainToASCII(domain: string): string;
    domainToUnicode(domain: string): string;
};

const customInspect = Symbol.for("nodejs.util.inspect.custom");
interface InspectOptions {
    depth?: number | null;
    stylize?(text: string, style: string): string;
}
type Inspect = (value: unknown, options: InspectOptions) => string;

/** A string as Web IDL's USVString. */
function text(value: unknown): string {
    if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
    return (typeof value === "string" ? value : String(value)).toWellFormed();
}

function coded(Kind: ErrorConstructor | TypeErrorConstructor, code: string, message: string): Error {
    return Object.assign(new Kind(message), { code });
}

function missing(...names: string[]): Error {
    const list = names.map((name) => `"${name}"`);
    const what = list.length === 1 ? `${list[0]} argument` : `${list.slice(0, -1).join(", ")} and ${list.at(-1)} arguments`;
    return coded(TypeError, "ERR_MISSING_ARGS", `The ${what} must be specified`);
}

function invalid(input: string, base: string | undefined): TypeError {
    const error = new TypeError("Invalid URL") as TypeError & { code: string; input: string; base?: string };
    error.code = "ERR_INVALID_URL";
    error.input = input;
    if (base !== undefined) error.base = base;
    return error;
}

let update: (url: URL, search: string) => void;
let refresh: (params: URLSearchParams, query: string) => void;
let attach: (params: URLSearchParams, url: URL) => void;

export class URL {
    #parts: Parts;
    #params: URLSearchParams | undefined;

    static {
        update = (url, search) => url.#set("search", search, false);
    }

    constructor(input: unknown, base?: unknown) {
        if (arguments.length === 0) throw missing("url");
        const href = text(input);
        const from = base === undefined ? undefined : text(base);
        const parts = from === undefined ? found.parse(href) : found.parse(href, from);
        if (parts === undefined) throw invalid(href, from);
        this.#parts = parts;
    }

    static canParse(input: unknown, base?: unknown): boolean {
        if (arguments.length === 0) throw missing("url");
        return base === undefined ? found.isValid(text(input)) : found.isValid(text(input), text(base));
    }

    static parse(input: unknown, base?: unknown): URL | null {
        return URL.canParse(input, base) ? new URL(input, base) : null;
    }

    static createObjectURL(): never {
        throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "URL.createObjectURL is not supported by leat run: keep the Blob itself");
    }

    static revokeObjectURL(): void {}

    #set(part: Settable, value: unknown, refreshes = true): void {
        const changed = found.change(this.#parts[0], part, text(value));
        if (changed === undefined) return;
        this.#parts = changed;
        if (refreshes && part === "search" && this.#params !== undefined) refresh(this.#params, this.search);
    }

    get href(): string {
        return this.#parts[0];
    }
    set href(value: unknown) {
        const href = text(value);
        const parts = found.parse(href);
        if (parts === undefined) throw invalid(href, undefined);
        this.#parts = parts;
        if (this.#params !== undefined) refresh(this.#params, this.search);
    }
    get origin(): string {
        return this.#parts[1];
    }
    get protocol(): string {
        return this.#parts[0].slice(0, this.#parts[2]);
    }
    set protocol(value: unknown) {
        this.#set("protocol", value);
    }
    get username(): string {
        return this.#parts[0].slice(this.#parts[3], this.#parts[4]);
    }
    set username(value: unknown) {
        this.#set("username", value);
    }
    get password(): string {
        return this.#parts[0].slice(this.#parts[5], this.#parts[6]);
    }
    set password(value: unknown) {
        this.#set("password", value);
    }
    get host(): string {
        return this.#parts[0].slice(this.#parts[7], this.#parts[10]);
    }
    set host(value: unknown) {
        this.#set("host", value);
    }
    get hostname(): string {
        return this.#parts[0].slice(this.#parts[7], this.#parts[8]);
    }
    set hostname(value: unknown) {
        this.#set("hostname", value);
    }
    get port(): string {
        return this.#parts[0].slice(this.#parts[9], this.#parts[10]);
    }
    set port(value: unknown) {
        this.#set("port", value);
    }
    get pathname(): string {
        return this.#parts[0].slice(this.#parts[11], this.#parts[12]);
    }
    set pathname(value: unknown) {
        this.#set("pathname", value);
    }
    get search(): string {
        const search = this.#parts[0].slice(this.#parts[12], this.#parts[13]);
        return search === "?" ? "" : search;
    }
    set search(value: unknown) {
        this.#set("search", value);
    }
    get hash(): string {
        const hash = this.#parts[0].slice(this.#parts[13]);
        return hash === "#" ? "" : hash;
    }
    set hash(value: unknown) {
        this.#set("hash", value);
    }
    get searchParams(): URLSearchParams {
        if (this.#params === undefined) {
            this.#params = new URLSearchParams(this.search);
            attach(this.#params, this);
        }
        return this.#params;
    }

    toString(): string {
        return this.#parts[0];
    }
    toJSON(): string {
        return this.#parts[0];
    }

    [customInspect](depth: number, options: InspectOptions, inspect: Inspect): string {
        if (typeof depth === "number" && depth < 0) return options.stylize?.("[URL]", "special") ?? "[URL]";
        const { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams, hash } = this;
        const shown = { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams, hash };
        return `URL ${inspect(shown, options)}`;
    }
}

Object.defineProperty(URL.prototype, Symbol.toStringTag, { configurable: true, value: "URL" });
for (const name of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash", "toString", "toJSON"]) {
    Object.defineProperty(URL.prototype, name, { enumerable: true });
}

export class URLSearchParams {
    /** Names and values in turn. */
    #list: string[];
    #url: URL | undefined;

    static {
        refresh = (params, query) => void (params.#list = found.readQuery(query.startsWith("?") ? query.slice(1) : query));
        attach = (params, url) => void (params.#url = url);
    }

    constructor(init?: unknown) {
        this.#list = [];
        if (init === undefined || init === null) return;
        if (typeof init !== "object" && typeof init !== "function") {
            const query = text(init);
            this.#list = found.readQuery(query.startsWith("?") ? query.slice(1) : query);
            return;
        }
        const method = (init as Iterable<unknown>)[Symbol.iterator] as unknown;
        if (init instanceof URLSearchParams && method === URLSearchParams.prototype[Symbol.iterator]) {
            this.#list = [...init.#list];
        } else if (method !== undefined && method !== null) {
            if (typeof method !== "function") throw coded(TypeError, "ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable");
            for (const pair of init as Iterable<unknown>) {
                const isPair = pair !== null && (typeof pair === "object" || typeof pair === "function") && typeof (pair as Iterable<unknown>)[Symbol.iterator] === "function";
                const both = isPair ? [...(pair as Iterable<unknown>)] : [];
                if (both.length !== 2) throw coded(TypeError, "ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple");
                this.#list.push(text(both[0]), text(both[1]));
            }
        } else {
            const seen = new Map<string, string>();
            for (const key of Reflect.ownKeys(init)) {
                if (Object.getOwnPropertyDescriptor(init, key)?.enumerable === true) seen.set(text(key), text((init as Record<PropertyKey, unknown>)[key]));
            }
            for (const [name, value] of seen) this.#list.push(name, value);
        }
    }

    #changed(): void {
        if (this.#url !== undefined) update(this.#url, this.toString());
    }

    get size(): number {
        return this.#list.length / 2;
    }
    append(name: unknown, value: unknown): void {
        if (arguments.length < 2) throw missing("name", "value");
        this.#list.push(text(name), text(value));
        this.#changed();
    }
    delete(name: unknown, value?: unknown): void {
        if (arguments.length === 0) throw missing("name");
        const which = text(name);
        const only = value === undefined ? undefined : text(value);
        this.#keep((key, has) => key !== which || (only !== undefined && has !== only));
        this.#changed();
    }
    #keep(test: (name: string, value: string) => boolean): void {
        const kept: string[] = [];
        this.#each((name, value) => {
            if (test(name, value)) kept.push(name, value);
        });
        this.#list = kept;
    }
    #each(call: (name: string, value: string) => void): void {
        for (let at = 0; at < this.#list.length; at += 2) call(this.#list[at] as string, this.#list[at + 1] as string);
    }
    get(name: unknown): string | null {
        if (arguments.length === 0) throw missing("name");
        const which = text(name);
        for (let at = 0; at < this.#list.length; at += 2) if (this.#list[at] === which) return this.#list[at + 1] as string;
        return null;
    }
    getAll(name: unknown): string[] {
        if (arguments.length === 0) throw missing("name");
        const which = text(name);
        const values: string[] = [];
        this.#each((key, value) => void (key === which && values.push(value)));
        return values;
    }
    has(name: unknown, value?: unknown): boolean {
        if (arguments.length === 0) throw missing("name");
        const which = text(name);
        const only = value === undefined ? undefined : text(value);
        let has = false;
        this.#each((key, held) => void (has ||= key === which && (only === undefined || held === only)));
        return has;
    }
    set(name: unknown, value: unknown): void {
        if (arguments.length < 2) throw missing("name", "value");
        const which = text(name);
        const put = text(value);
        const first = this.#list.findIndex((each, at) => at % 2 === 0 && each === which);
        if (first < 0) {
            this.#list.push(which, put);
        } else {
            this.#list[first + 1] = put;
            const before = this.#list.slice(0, first + 2);
            this.#list = this.#list.slice(first + 2);
            this.#keep((key) => key !== which);
            this.#list = [...before, ...this.#list];
        }
        this.#changed();
    }
    sort(): void {
        const pairs: [string, string][] = [];
        this.#each((name, value) => void pairs.push([name, value]));
        pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
        this.#list = pairs.flat();
        this.#changed();
    }
    forEach(callback: (value: string, name: string, params: URLSearchParams) => void, thisArg?: unknown): void {
        if (typeof callback !== "function") {
            throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "callback" argument must be of type function. Received ${callback === undefined ? "undefined" : String(callback)}`);
        }
        for (let at = 0; at < this.#list.length; at += 2) callback.call(thisArg, this.#list[at + 1] as string, this.#list[at] as string, this);
    }
    *entries(): IterableIterator<[string, string]> {
        for (let at = 0; at < this.#list.length; at += 2) yield [this.#list[at] as string, this.#list[at + 1] as string];
    }
    *keys(): IterableIterator<string> {
        for (let at = 0; at < this.#list.length; at += 2) yield this.#list[at] as string;
    }
    *values(): IterableIterator<string> {
        for (let at = 0; at < this.#list.length; at += 2) yield this.#list[at + 1] as string;
    }
    [Symbol.iterator](): IterableIterator<[string, string]> {
        return this.entries();
    }
    toString(): string {
        return found.writeQuery(this.#list);
    }

    [customInspect](depth: number, options: InspectOptions, inspect: Inspect): string {
        if (typeof depth === "number" && depth < 0) return options.stylize?.("[Object]", "special") ?? "[Object]";
        const shown: string[] = [];
        this.#each((name, value) => void shown.push(`${inspect(name, options)} => ${inspect(value, options)}`));
        return shown.length === 0 ? "URLSearchParams {}" : `URLSearchParams { ${shown.join(", ")} }`;
    }
}

Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag, { configurable: true, value: "URLSearchParams" });
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, { configurable: true, writable: true, value: URLSearchParams.prototype.entries });
for (const name of ["append", "delete", "get", "getAll", "has", "set", "sort", "forEach", "entries", "keys", "values", "toString", "size"]) {
    Object.defineProperty(URLSearchParams.prototype, name, { enumerable: true });
}

export const { domainToASCII, domainToUnicode } = found;

/** The path of a `file:` URL. */
export function fileURLToPath(url: unknown): string {
    if (typeof url === "string") url = new URL(url);
    const { protocol, hostname, pathname } = url as { protocol?: unknown; hostname?: string; pathname?: string };
    if (typeof protocol !== "string" || typeof hostname !== "string" || typeof pathname !== "string") {
        throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "path" argument must be of type string or an instance of URL. Received ${described(url)}`);
    }
    if (protocol !== "file:") throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    if (hostname !== "") throw coded(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(pathname)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return decodeURIComponent(pathname);
}

/** The `file:` URL of a path, relative to the working directory. */
export function pathToFileURL(path: string): URL {
    if (typeof path !== "string") {
        throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "path" argument must be of type string. Received ${described(path)}`);
    }
    const { resolve } = require("node:path") as { resolve(path: string): string };
    const full = resolve(path) + (path.endsWith("/") && resolve(path) !== "/" ? "/" : "");
    const escaped = full.replace(/[%\\\n\r\t?#]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
    return new URL(`file://${escaped}`);
}

/** What `http.request` takes, of a URL. */
export function urlToHttpOptions(url: URL): Record<string, unknown> {
    const { hostname, pathname, port, username, password, search } = url;
    const options: Record<string, unknown> = {
        __proto__: null,
        ...url,
        protocol: url.protocol,
        hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
        hash: url.hash,
        search,
        pathname,
        path: `${pathname}${search}`,
        href: url.href,
    };
    if (port !== "") options["port"] = Number(port);
    if (username !== "" || password !== "") options["auth"] = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return options;
}
