// The query of a path, written from an object that stays as it is.
import { shown, wrongRequest } from "./error";
import { type Redactor, reveal, Secret } from "./secret";

type Plain = string | number | boolean | bigint | Secret | null | undefined;

/** A query: an array's name stands once for each value; null and undefined are left out. */
export type Query = Readonly<Record<string, Plain | readonly Plain[]>> | URLSearchParams | string;

/**
 * `path` with `query` after what it has.
 * @throws {TransportError} `request.invalid`
 */
export function withQuery(path: string, query: Query, redactor: Redactor): string {
    const text = textOf(query, redactor);
    if (text === "") return path;
    return `${path}${path.includes("?") ? "&" : "?"}${text}`;
}

/** Half of a pair: `encodeURIComponent` throws there, and says nothing of where. */
const LONE = /\p{Surrogate}/u;

function textOf(query: unknown, redactor: Redactor): string {
    if (typeof query === "string") return query.startsWith("?") ? query.slice(1) : query;
    if (query instanceof URLSearchParams) return query.toString();
    if (typeof query !== "object" || query === null || Array.isArray(query)) throw wrongRequest("querystring", query, "an object, URLSearchParams, or text: { size: 10 }");
    let text = "";
    for (const [name, value] of Object.entries(query as Readonly<Record<string, unknown>>)) {
        const values: readonly unknown[] = Array.isArray(value) ? value : [value];
        for (const each of values) {
            if (each === undefined || each === null) continue;
            text += `${text === "" ? "" : "&"}${encodeURIComponent(name)}=${encodeURIComponent(plainOf(name, each, redactor))}`;
        }
    }
    return text;
}

function plainOf(name: string, value: unknown, redactor: Redactor): string {
    switch (typeof value) {
        case "string":
            return LONE.test(value) ? notText(name) : value;
        case "number":
        case "boolean":
        case "bigint":
            return String(value);
        default:
    }
    if (value instanceof Secret) {
        redactor.add(value);
        return reveal(value);
    }
    throw wrongRequest(`querystring.${name}`, value, `texts, numbers, booleans, and arrays of them; ${shown(value)} has no one form`);
}

function notText(name: string): never {
    throw wrongRequest(`querystring.${name}`, "text", "text without lone surrogates");
}
