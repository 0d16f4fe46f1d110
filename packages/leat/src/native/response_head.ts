// The fields of a call's response, out of its record.
import { type ResponseHeaders } from "./calls";
import { FIELD_WORDS, RESPONSE_FIELDS_AT } from "./records";
import { type Slab } from "./slab";

/** Known names in lower case, by their number. */
let names: string[] = [];

export function knowHeaderNames(known: string[]): void {
    names = known;
}

/**
 * The fields of the response at word `at`. One text for all of them, of which names and values are parts: whoever keeps a value
 * keeps that text, and no slab.
 */
export function readHead(slab: Slab, at: number): ResponseHeaders {
    const count = slab.word(at + 3) >>> 16;
    const text = slab.text(slab.word(at + 4), slab.word(at + 5));
    const headers: ResponseHeaders = {};
    for (let i = 0, w = at + RESPONSE_FIELDS_AT; i < count; i++, w += FIELD_WORDS) {
        const word = slab.word(w + 1);
        const valueAt = slab.word(w + 2);
        const value = text.slice(valueAt, valueAt + slab.word(w + 3));
        const known = names[word >>> 16];
        if (known !== undefined && known !== "") {
            const before = headers[known];
            if (before === undefined) headers[known] = value;
            else add(headers, known, before, value);
            continue;
        }
        const nameAt = slab.word(w);
        const name = text.slice(nameAt, nameAt + (word & 0xffff)).toLowerCase();
        // What every object has is no field that came before.
        if (Object.hasOwn(headers, name)) add(headers, name, headers[name] as string | string[], value);
        else if (name === "__proto__") Object.defineProperty(headers, name, { value, enumerable: true, configurable: true, writable: true });
        else headers[name] = value;
    }
    return headers;
}

function add(headers: ResponseHeaders, name: string, before: string | string[], value: string): void {
    if (typeof before === "string") headers[name] = [before, value];
    else before.push(value);
}
