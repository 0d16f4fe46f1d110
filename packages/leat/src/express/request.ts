// The methods of requests, which are `express.request`.
import { isIP } from "node:net";
import { IncomingMessage, peekField } from "../http/incoming";
import { type Dialect } from "./dialect";
import { lazyParsedUrl } from "./router";
import { type Request } from "./types";

type Trust = (address: string | undefined, hop: number) => boolean;

/** What Express 4 and 5 share; the rest is added by their own files. */
export function requestMethods({ libraries }: Dialect): object {
    const { accepts, fresh, parseUrl, proxyAddr, rangeParser, typeIs } = libraries;

    function header(this: Request, name: string): string | string[] | undefined {
        if (!name) throw new TypeError("name argument is required to req.get");
        if (typeof name !== "string") throw new TypeError("name must be a string to req.get");
        const lower = name.toLowerCase();
        if (lower === "referer" || lower === "referrer") return peekField(this, "referrer") || peekField(this, "referer");
        return peekField(this, lower);
    }

    const methods: ThisType<Request> & object = {
        get: header,
        header,

        accepts(...types: unknown[]): unknown {
            return accepts()(this).types(...types);
        },

        acceptsEncodings(...encodings: unknown[]): unknown {
            return accepts()(this).encodings(...encodings);
        },

        acceptsCharsets(...charsets: unknown[]): unknown {
            return accepts()(this).charsets(...charsets);
        },

        acceptsLanguages(...languages: unknown[]): unknown {
            return accepts()(this).languages(...languages);
        },

        range(size: number, options?: object): unknown {
            const range = this.get("Range");
            if (!range) return undefined;
            return rangeParser()(size, range as string, options);
        },

        is(types: unknown, ...more: unknown[]): string | false {
            return typeIs()(this, Array.isArray(types) ? (types as unknown[]) : [types, ...more].slice(0, arguments.length));
        },

        get protocol(): string {
            const own = (this.socket as { encrypted?: boolean }).encrypted ? "https" : "http";
            if (!trustOf(this)(this.socket.remoteAddress, 0)) return own;
            const forwarded = (this.get("X-Forwarded-Proto") as string | undefined) || own;
            const comma = forwarded.indexOf(",");
            return (comma === -1 ? forwarded : forwarded.substring(0, comma)).trim();
        },

        get secure(): boolean {
            return this.protocol === "https";
        },

        get ip(): string {
            return proxyAddr()(this, trustOf(this) as never);
        },

        // From the farthest to the nearest, without the peer itself.
        get ips(): string[] {
            const addresses = proxyAddr().all(this, trustOf(this) as never);
            addresses.reverse().pop();
            return addresses;
        },

        get subdomains(): string[] {
            const { hostname } = this;
            if (!hostname) return [];
            const parts = isIP(hostname) ? [hostname] : hostname.split(".").reverse();
            return parts.slice(this.app.get("subdomain offset") as number);
        },

        get path(): string | null | undefined {
            return pathname(parseUrl()(this));
        },

        get fresh(): boolean {
            const { method, res } = this;
            const status = res.statusCode;
            if (method !== "GET" && method !== "HEAD" && method !== "QUERY") return false;
            if ((status < 200 || status >= 300) && status !== 304) return false;
            // Most requests have no condition, and need no library to say so.
            if (!peekField(this, "if-none-match") && !peekField(this, "if-modified-since")) return false;
            return fresh()(this.headers, { etag: res.get("ETag"), "last-modified": res.get("Last-Modified") });
        },

        get stale(): boolean {
            return !this.fresh;
        },

        get xhr(): boolean {
            const value = (this.get("X-Requested-With") as string | undefined) || "";
            return value.toLowerCase() === "xmlhttprequest";
        },
    };
    return methods;
}

/** The object that requests of `dialect` inherit from, with `more` methods of its own. */
export function requestPrototype(dialect: Dialect, more: object): object {
    const prototype = Object.create(IncomingMessage.prototype) as object;
    Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(requestMethods(dialect)));
    Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(more));
    lazyParsedUrl(prototype);
    return prototype;
}

/** Whom the app of `req` trusts to tell where a request came from. */
export function trustOf(req: Request): Trust {
    return req.app.get("trust proxy fn") as Trust;
}

/** The host that the client asked for, as the peer or a trusted proxy tells. */
export function hostOf(req: Request): string | undefined {
    const forwarded = req.get("X-Forwarded-Host") as string | undefined;
    if (!forwarded || !trustOf(req)(req.socket.remoteAddress, 0)) return req.get("Host") as string | undefined;
    const comma = forwarded.indexOf(",");
    return comma === -1 ? forwarded : forwarded.substring(0, comma).trimEnd();
}

/** `host` without its port. */
export function withoutPort(host: string | undefined): string | undefined {
    if (!host) return undefined;
    const from = host[0] === "[" ? host.indexOf("]") + 1 : 0;
    const colon = host.indexOf(":", from);
    return colon === -1 ? host : host.substring(0, colon);
}

function pathname(url: { pathname: string | null } | undefined): string | null {
    return (url as { pathname: string | null }).pathname;
}
