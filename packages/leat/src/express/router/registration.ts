// What `use`, `route` and the methods are called with.
import { METHODS } from "node:http";
import { type Handle } from "./types";

/** Methods as programs write them. */
export const methods: readonly string[] = METHODS.map((method) => method.toLowerCase());

let lower: Map<unknown, string> | undefined;

/** The method of a request in lower case; what is no string stays what it is. */
export function methodName(method: unknown): string | undefined {
    // Most requests, without a look into the table.
    if (method === "GET") return "get";
    if (method === "POST") return "post";
    lower ??= new Map(methods.map((name) => [name.toUpperCase(), name]));
    return lower.get(method) ?? (typeof method === "string" ? method.toLowerCase() : (method as undefined));
}

/** Splits what `use` was called with: a path, which may be left out, and handlers in arrays of arrays. */
export function usage(first: unknown, all: ArrayLike<unknown>): { path: unknown; handlers: unknown[] } {
    let path: unknown = "/";
    let offset = 0;
    if (typeof first !== "function") {
        let one = first;
        while (Array.isArray(one) && one.length !== 0) one = one[0];
        if (typeof one !== "function") {
            path = first;
            offset = 1;
        }
    }
    return { path, handlers: flat(all, offset) };
}

/** Handlers of arrays of arrays, one after the other. */
export function flat(all: ArrayLike<unknown>, offset = 0): unknown[] {
    return Array.prototype.slice.call(all, offset).flat(Infinity);
}

export function nameOf(handle: Handle): string {
    return handle.name || "<anonymous>";
}
