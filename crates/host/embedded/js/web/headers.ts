// Headers (WHATWG Fetch): names in lower case and sorted, values combined.
import { isToken, isValue } from "./exchange";

const customInspect = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: unknown) => string;

/** Fields of one list; what a program may append without end is its own memory, what a server sends has its limit natively. */
type List = Map<string, string[]>;

function byteString(value: unknown, where: string): string {
    if (typeof value === "symbol") throw new TypeError(`${where}: a Symbol can't be converted to a ByteString`);
    const text = String(value);
    for (let at = 0; at < text.length; at++) {
        if (text.charCodeAt(at) > 255) {
            throw new TypeError(`Cannot convert argument to a ByteString because the character at index ${at} has a value of ${text.charCodeAt(at)} which is greater than 255.`);
        }
    }
    return text;
}

let freeze: (headers: Headers) => void;
let listed: (headers: Headers) => List;
let put: (headers: Headers, name: string, value: string) => void;

export class Headers {
    #list: List = new Map();
    #isFrozen = false;

    static {
        listed = (headers) => headers.#list;
        freeze = (headers) => void (headers.#isFrozen = true);
        put = (headers, name, value) => {
            const key = name.toLowerCase();
            const held = headers.#list.get(key);
            if (held === undefined) headers.#list.set(key, [value]);
            else held.push(value);
        };
    }

    constructor(init?: unknown) {
        if (init === undefined) return;
        if (init === null || (typeof init !== "object" && typeof init !== "function")) {
            throw new TypeError("Headers constructor: init given is not of type sequence<sequence<ByteString>> or record<ByteString, ByteString>.");
        }
        const method = (init as Iterable<unknown>)[Symbol.iterator] as unknown;
        if (init instanceof Headers) {
            for (const [name, values] of init.#list) this.#list.set(name, [...values]);
        } else if (typeof method === "function") {
            for (const pair of init as Iterable<unknown>) {
                const both = [...(pair as Iterable<unknown>)];
                if (both.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${both.length}.`);
                this.append(both[0], both[1]);
            }
        } else {
            for (const key of Reflect.ownKeys(init)) {
                if (Object.getOwnPropertyDescriptor(init, key)?.enumerable === true) this.append(key, (init as Record<PropertyKey, unknown>)[key]);
            }
        }
    }

    #name(name: unknown, where: string, count: number, wanted: number): string {
        if (count < wanted) throw new TypeError(`Headers.${where}: ${wanted} argument${wanted > 1 ? "s" : ""} required, but${count > 0 ? " only" : ""} ${count} present.`);
        const text = byteString(name, `Headers.${where}`);
        if (!isToken(text)) throw new TypeError(`Headers.${where}: ${text} is an invalid header name.`);
        return text.toLowerCase();
    }
    #value(value: unknown, where: string): string {
        const text = byteString(value, `Headers.${where}`).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
        if (!isValue(text)) throw new TypeError(`Headers.${where}: "${text}" is an invalid header value.`);
        return text;
    }
    #write(): void {
        if (this.#isFrozen) throw new TypeError("immutable");
    }

    append(name: unknown, value?: unknown): void {
        const key = this.#name(name, "append", arguments.length, 2);
        const text = this.#value(value, "append");
        this.#write();
        put(this, key, text);
    }
    set(name: unknown, value?: unknown): void {
        const key = this.#name(name, "set", arguments.length, 2);
        const text = this.#value(value, "set");
        this.#write();
        this.#list.set(key, [text]);
    }
    delete(name: unknown): void {
        const key = this.#name(name, "delete", arguments.length, 1);
        this.#write();
        this.#list.delete(key);
    }
    get(name: unknown): string | null {
        return this.#list.get(this.#name(name, "get", arguments.length, 1))?.join(", ") ?? null;
    }
    has(name: unknown): boolean {
        return this.#list.has(this.#name(name, "has", arguments.length, 1));
    }
    getSetCookie(): string[] {
        return [...(this.#list.get("set-cookie") ?? [])];
    }
    forEach(callback: (value: string, name: string, headers: Headers) => void, thisArg?: unknown): void {
        if (typeof callback !== "function") throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.");
        for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries(): IterableIterator<[string, string]> {
        for (const name of [...this.#list.keys()].sort()) {
            const values = this.#list.get(name) ?? [];
            if (name === "set-cookie") for (const value of values) yield [name, value];
            else yield [name, values.join(", ")];
        }
    }
    *keys(): IterableIterator<string> {
        for (const [name] of this.entries()) yield name;
    }
    *values(): IterableIterator<string> {
        for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator](): IterableIterator<[string, string]> {
        return this.entries();
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        return depth < 0 ? "[Headers]" : `Headers ${inspect(Object.fromEntries(this), options)}`;
    }
}

Object.defineProperty(Headers.prototype, Symbol.toStringTag, { configurable: true, value: "Headers" });
Object.defineProperty(Headers.prototype, Symbol.iterator, { configurable: true, writable: true, value: Headers.prototype.entries });
for (const name of ["append", "set", "delete", "get", "has", "getSetCookie", "forEach", "entries", "keys", "values"]) {
    Object.defineProperty(Headers.prototype, name, { enumerable: true });
}

/** The headers of a response as it came: names and values in turn. They can't be changed. */
export function received(fields: string[]): Headers {
    const headers = new Headers();
    for (let at = 0; at < fields.length; at += 2) put(headers, fields[at] as string, fields[at + 1] as string);
    freeze(headers);
    return headers;
}

/** From here on they can't be changed. */
export function immutable(headers: Headers): Headers {
    freeze(headers);
    return headers;
}

/** Names and values in turn, in the order in which they were set: as they are sent. */
export function inOrder(headers: Headers): string[] {
    const fields: string[] = [];
    for (const [name, values] of listed(headers)) fields.push(name, values.join(", "));
    return fields;
}
