// The path of a request, and what stands before it: what `parseurl` finds, kept where `parseurl` keeps it.
import legacy = require("node:url");
import { type RoutedRequest } from "./types";

const SLASH = 0x2f;
const QUESTION = 0x3f;

/** White space and "#", for which node:url has rules of its own. */
const ODD = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x23, 0xa0, 0xfeff]);
const ODD_BELOW = 0x24;
const ODD_FROM = 0xa0;

interface Parsed {
    _raw?: string;
    path: string | null;
    href: string;
    pathname: string | null;
    query: unknown;
    search: string | null;
}

/** Node's class, which it declares no type of. `parseurl` trusts only its instances. Asked for when it is needed, which is rare. */
const urlClass = (): new () => Parsed => (legacy as unknown as { Url: new () => Parsed }).Url;

/** On requests whose `_parsedUrl` is made when somebody reads it: the URL that it is of, until then. */
const UNREAD = Symbol("leat.unread-url");
const PARSED = Symbol("leat.parsed-url");

interface Lazy {
    [UNREAD]?: string | null;
    [PARSED]?: unknown;
}

/**
 * Lets requests with this prototype have a `_parsedUrl` that is made when it is first read. Without it each request gets
 * one, as from `parseurl`: middleware reads it, and few do.
 */
export function lazyParsedUrl(prototype: object): void {
    Object.defineProperty(prototype, UNREAD, { value: null, writable: true, configurable: true });
    Object.defineProperty(prototype, "_parsedUrl", {
        configurable: true,
        get(this: Lazy): unknown {
            const raw = this[UNREAD];
            if (raw == null) return this[PARSED];
            this[UNREAD] = null;
            return (this[PARSED] = parsedOf(raw));
        },
        set(this: Lazy, parsed: unknown) {
            this[UNREAD] = null;
            this[PARSED] = parsed;
        },
    });
}

/**
 * The path of `req.url`, without its query; null or undefined if it has none or nobody can tell.
 *
 * Cost: one pass over the URL, and one object that stays at `req._parsedUrl` until the URL changes, unless that is lazy.
 */
export function pathnameOf(req: RoutedRequest & Lazy): string | null | undefined {
    const raw = req.url;
    if (raw === undefined) return undefined;
    if (req[UNREAD] !== undefined && typeof raw === "string") {
        const end = pathEnd(raw);
        if (end !== ODD_URL) {
            req[UNREAD] = raw;
            return end === raw.length ? raw : raw.substring(0, end);
        }
    }
    const known = req._parsedUrl;
    if (known instanceof urlClass() && known._raw === raw) return known.pathname;
    try {
        const parsed = parsedOf(raw);
        req._parsedUrl = parsed;
        return parsed.pathname;
    } catch {
        return undefined;
    }
}

function parsedOf(raw: string): Parsed {
    // A program may have put anything there.
    const end = typeof raw === "string" ? pathEnd(raw) : ODD_URL;
     
    const parsed = end === ODD_URL ? (legacy.parse(raw) as Parsed) : new (urlClass())();
    if (end !== ODD_URL) {
        parsed.path = raw;
        parsed.href = raw;
        parsed.pathname = end === raw.length ? raw : raw.substring(0, end);
        if (end !== raw.length) {
            parsed.query = raw.substring(end + 1);
            parsed.search = raw.substring(end);
        }
    }
    parsed._raw = raw;
    return parsed;
}

/** Not a path and a query, but something for node:url. */
const ODD_URL = -1;

/** Where the path of a URL ends. */
function pathEnd(raw: string): number {
    if (raw.charCodeAt(0) !== SLASH) return ODD_URL;
    let end = raw.length;
    for (let at = raw.length - 1; at > 0; at--) {
        const code = raw.charCodeAt(at);
        if (code === QUESTION) end = at;
        else if ((code < ODD_BELOW || code >= ODD_FROM) && ODD.has(code)) return ODD_URL;
    }
    return end;
}

/** `http://host` of a URL in absolute form; "" for any other. */
export function originOf(raw: string | undefined): string {
    if (typeof raw !== "string" || raw.length === 0 || raw.charCodeAt(0) === SLASH) return "";
    const query = raw.indexOf("?");
    const scheme = raw.substring(0, query === -1 ? raw.length : query).indexOf("://");
    return scheme === -1 ? "" : raw.substring(0, raw.indexOf("/", scheme + 3));
}
