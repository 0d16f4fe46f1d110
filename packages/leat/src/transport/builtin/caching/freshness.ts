// What headers say of keeping a response (RFC 9111), for a cache that is one program's own: "private" is no obstacle, "s-maxage" none of its business.
import { type Headers } from "../../../middleware/message";
import { httpDateMs } from "../../policy/retry_after";
import { headerOf, listOf } from "../header";

const MS_A_SECOND = 1000;
/** What lasts longer lasts for ever as far as a process is concerned. */
const SECONDS_MAX = 2 ** 31;

const NONE: ReadonlyMap<string, string> = new Map();

/** Directives of `cache-control` by their names in lower case; of one that stands twice the first. */
export function directivesOf(headers: Headers): ReadonlyMap<string, string> {
    const value = listOf(headers, "cache-control");
    if (value === undefined) return NONE;
    const found = new Map<string, string>();
    for (const [, name = "", quoted, plain] of value.matchAll(/([!#$%&'*+\-.^_`|~\w]+)(?:=(?:"([^"]*)"|([^\s,"]*)))?/g)) {
        const lower = name.toLowerCase();
        if (!found.has(lower)) found.set(lower, quoted ?? plain ?? "");
    }
    return found;
}

/** For how long a response is fresh from its making on, in milliseconds; 0 if it is to be asked for each time, or does not say. */
export function lifetimeMs(headers: Headers): number {
    const directives = directivesOf(headers);
    if (directives.has("no-cache")) return 0;
    const maxAge = directives.get("max-age");
    // What is no number counts as stale (section 4.2.1).
    if (maxAge !== undefined) return secondsOf(maxAge) * MS_A_SECOND;
    const expires = headerOf(headers, "expires");
    if (expires === undefined) return 0;
    const until = httpDateMs(expires);
    const made = httpDateMs(headerOf(headers, "date") ?? "");
    return until === undefined || made === undefined ? 0 : Math.max(0, until - made);
}

/** For how long after that it may stand in for an error (RFC 5861 section 4), in milliseconds; 0 if it must not (RFC 9111 section 4.2.4). */
export function staleIfErrorMs(headers: Headers): number {
    const directives = directivesOf(headers);
    if (directives.has("no-cache") || directives.has("must-revalidate")) return 0;
    return secondsOf(directives.get("stale-if-error") ?? "0") * MS_A_SECOND;
}

/** How old it was when it came, in milliseconds, by what caches on its way say. */
export function ageMs(headers: Headers): number {
    return secondsOf(headerOf(headers, "age") ?? "0") * MS_A_SECOND;
}

function secondsOf(text: string): number {
    return /^\d+$/.test(text) ? Math.min(Number(text), SECONDS_MAX) : 0;
}
