// Headers as messages have them.
import { type Headers } from "../../middleware/message";

/** The value of a header; of one that stands several times the first; undefined if it is not there. */
export function headerOf(headers: Headers, name: string): string | undefined {
    if (!Object.hasOwn(headers, name)) return undefined;
    const value = headers[name];
    return typeof value === "string" ? value : value?.[0];
}

/** A header's values joined as RFC 9110 section 5.3 does; undefined if it is not there. */
export function listOf(headers: Headers, name: string): string | undefined {
    if (!Object.hasOwn(headers, name)) return undefined;
    const value = headers[name];
    return typeof value === "object" ? value.join(", ") : value;
}
