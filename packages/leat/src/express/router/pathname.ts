// The path of a request, and what stands before it: what `parseurl` finds, kept where `parseurl` keeps it.
import url = require("node:url");
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

/** Node has it and declares no type. `parseurl` trusts only its instances. */
const { Url } = url as unknown as { Url: new () => Parsed };

/**
 * The path of `req.url`, without its query; null or undefined if it has none or nobody can tell.
 *
 * Cost: one pass over the URL and one object, which stays at `req._parsedUrl` until the URL changes.
 */
export function pathnameOf(req: RoutedRequest): string | null | undefined {
    const raw = req.url;
    if (raw === undefined) return undefined;
    const known = req._parsedUrl;
    if (known instanceof Url && known._raw === raw) return known.pathname;
    try {
        const parsed = parsedOf(raw);
        parsed._raw = raw;
        req._parsedUrl = parsed;
        return parsed.pathname;
    } catch {
        return undefined;
    }
}

function parsedOf(raw: string): Parsed {
    // A program may have put anything there.
    if (typeof raw !== "string" || raw.charCodeAt(0) !== SLASH) return odd(raw);
    let query = -1;
    for (let at = 1; at < raw.length; at++) {
        const code = raw.charCodeAt(at);
        if (code === QUESTION) {
            if (query === -1) query = at;
        } else if ((code < ODD_BELOW || code >= ODD_FROM) && ODD.has(code)) {
            return odd(raw);
        }
    }
    const parsed = new Url();
    parsed.path = raw;
    parsed.href = raw;
    if (query === -1) {
        parsed.pathname = raw;
    } else {
        parsed.pathname = raw.substring(0, query);
        parsed.query = raw.substring(query + 1);
        parsed.search = raw.substring(query);
    }
    return parsed;
}

/** Throws what node:url throws. */
function odd(raw: string): Parsed {
     
    return url.parse(raw);
}

/** `http://host` of a URL in absolute form; "" for any other. */
export function originOf(raw: string | undefined): string {
    if (typeof raw !== "string" || raw.length === 0 || raw.charCodeAt(0) === SLASH) return "";
    const query = raw.indexOf("?");
    const scheme = raw.substring(0, query === -1 ? raw.length : query).indexOf("://");
    return scheme === -1 ? "" : raw.substring(0, raw.indexOf("/", scheme + 3));
}
