// node:querystring.

type Parsed = Record<string, string | string[]>;
type Decode = (text: string) => string;
type Encode = (text: string) => string;

interface Options {
    readonly maxKeys?: number;
    readonly decodeURIComponent?: Decode;
    readonly encodeURIComponent?: Encode;
}

/** Keys that are read at most, unless asked otherwise. */
const KEYS_MAX = 1000;

/** Bytes of text with `%` escapes; what is no escape stays. */
function unescapeBuffer(text: string, spaces = false): Buffer {
    const bytes: number[] = [];
    for (let at = 0; at < text.length; at++) {
        const escape = text[at] === "%" ? /^%([\da-f]{2})/i.exec(text.slice(at, at + 3)) : null;
        if (escape !== null) {
            bytes.push(Number.parseInt(escape[1] as string, 16));
            at += 2;
        } else bytes.push(spaces && text[at] === "+" ? 32 : text.charCodeAt(at) & 0xff);
    }
    return Buffer.from(bytes);
}

function unescape(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return unescapeBuffer(text).toString();
    }
}

const kept = /^[\w!'()*\-.~]*$/;

function escape(value: unknown): string {
    const text = typeof value === "string" ? value : typeof value === "object" ? String(value) : `${value as string}`;
    if (kept.test(text)) return text;
    try {
        return encodeURIComponent(text);
    } catch {
        const error = new URIError("URI malformed");
        throw Object.assign(error, { code: "ERR_INVALID_URI" });
    }
}

function decoded(text: string, decode: Decode): string {
    if (!text.includes("%")) return text;
    try {
        return decode(text);
    } catch {
        return unescape(text);
    }
}

function parse(text: unknown, separator?: string | null, equals?: string | null, options?: Options | null): Parsed {
    const found = Object.create(null) as Parsed;
    if (typeof text !== "string" || text === "") return found;
    const decode = options?.decodeURIComponent ?? querystring.unescape;
    const limit = options?.maxKeys;
    const most = typeof limit === "number" ? (limit > 0 ? limit : Infinity) : KEYS_MAX;
    const between = equals || "=";
    let count = 0;
    for (const part of text.split(separator || "&")) {
        if (part === "") continue;
        if (++count > most) break;
        const plus = part.replaceAll("+", "%20");
        const at = plus.indexOf(between);
        const key = decoded(at < 0 ? plus : plus.slice(0, at), decode);
        const value = at < 0 ? "" : decoded(plus.slice(at + between.length), decode);
        const known = found[key];
        if (known === undefined) found[key] = value;
        else if (Array.isArray(known)) known.push(value);
        else found[key] = [known, value];
    }
    return found;
}

function text(value: unknown): string {
    switch (typeof value) {
        case "string":
            return value;
        case "number":
            return Number.isFinite(value) ? String(value) : "";
        case "bigint":
        case "boolean":
            return String(value);
        default:
            return "";
    }
}

function stringify(object: unknown, separator?: string | null, equals?: string | null, options?: Options | null): string {
    if (object === null || typeof object !== "object") return "";
    const encode = options?.encodeURIComponent ?? querystring.escape;
    const between = equals || "=";
    const parts: string[] = [];
    for (const key of Object.keys(object)) {
        const value = (object as Record<string, unknown>)[key];
        const name = encode(text(key)) + between;
        if (Array.isArray(value)) for (const one of value) parts.push(name + encode(text(one)));
        else parts.push(name + encode(text(value)));
    }
    return parts.join(separator || "&");
}

const querystring = { unescapeBuffer, unescape, escape, stringify, encode: stringify, parse, decode: parse };

module.exports = querystring;
