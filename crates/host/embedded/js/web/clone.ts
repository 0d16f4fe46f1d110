// structuredClone (HTML, section 2.7): what a program can send to itself.
import { DOMException } from "./events";

/** Values inside each other: a chain of so many is refused instead of running out of stack. */
const DEPTH_MAX = 2_000;
const ERRORS: Record<string, ErrorConstructor> = {
    Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
};

function refuse(value: unknown): never {
    const what = typeof value === "symbol" ? String(value) : typeof value === "function" ? String(value) : "#<Object>";
    throw new DOMException(`${what} could not be cloned.`, "DataCloneError");
}

type View = Uint8Array | DataView;

function copy(value: unknown, seen: Map<object, unknown>, moved: Set<object>, depth: number): unknown {
    if (typeof value === "symbol" || typeof value === "function") refuse(value);
    if (typeof value !== "object" || value === null) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    if (depth > DEPTH_MAX) throw new RangeError("Maximum call stack size exceeded");
    const keep = <T>(made: T): T => {
        seen.set(value, made);
        return made;
    };
    const inner = (part: unknown): unknown => copy(part, seen, moved, depth + 1);
    switch (Object.prototype.toString.call(value)) {
        case "[object Boolean]":
            if (value instanceof Boolean) return keep(Object(value.valueOf()));
            break;
        case "[object Number]":
            if (value instanceof Number) return keep(Object(value.valueOf()));
            break;
        case "[object String]":
            if (value instanceof String) return keep(Object(value.valueOf()));
            break;
        case "[object BigInt]":
            return keep(Object(BigInt.prototype.valueOf.call(value)));
        case "[object Symbol]":
            return refuse(value);
    }
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) {
        if ((value as { detached?: boolean }).detached === true) throw new DOMException("An ArrayBuffer is detached and could not be cloned.", "DataCloneError");
        return keep(moved.has(value) ? (value as ArrayBuffer & { transfer(): ArrayBuffer }).transfer() : value.slice(0));
    }
    if (value instanceof SharedArrayBuffer) return keep(value);
    if (ArrayBuffer.isView(value)) {
        const view = value as View;
        const from = Object.getPrototypeOf(Uint8Array.prototype) as object;
        const name = (Object.getOwnPropertyDescriptor(from, Symbol.toStringTag)?.get?.call(view) as string | undefined) ?? "DataView";
        const { byteOffset, byteLength } = view;
        const length = view instanceof DataView ? byteLength : (view as Uint8Array).length;
        const buffer = inner(view.buffer) as ArrayBuffer;
        // A Buffer becomes a Uint8Array, as in Node.
        const Kind = (globalThis as unknown as Record<string, new (buffer: ArrayBuffer, from: number, length: number) => unknown>)[name];
        return Kind === undefined ? refuse(value) : keep(new Kind(buffer, byteOffset, length));
    }
    if (value instanceof Map) {
        const made = keep(new Map<unknown, unknown>());
        for (const [key, held] of [...value]) made.set(inner(key), inner(held));
        return made;
    }
    if (value instanceof Set) {
        const made = keep(new Set<unknown>());
        for (const held of [...value]) made.add(inner(held));
        return made;
    }
    if (value instanceof Error) {
        const Kind = ERRORS[String(value.name)] ?? Error;
        const error = keep(new Kind());
        for (const key of ["stack", "message", "cause"] as const) {
            const own = Object.getOwnPropertyDescriptor(value, key);
            if (own === undefined) continue;
            const held = key === "cause" ? inner(value.cause) : String(value[key]);
            Object.defineProperty(error, key, { configurable: true, enumerable: false, writable: true, value: held });
        }
        return error;
    }
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef || value instanceof Promise) {
        throw new DOMException(`#<${value.constructor.name}> could not be cloned.`, "DataCloneError");
    }
    const isArray = Array.isArray(value);
    const made = keep(isArray ? new Array<unknown>(value.length) : {}) as Record<string, unknown>;
    for (const key of Object.keys(value)) {
        if (isArray && key === "length") continue;
        const held = inner((value as Record<string, unknown>)[key]);
        Object.defineProperty(made, key, { configurable: true, enumerable: true, writable: true, value: held });
    }
    return made;
}

/** A copy of `value` that shares nothing with it but what is shared by its kind. */
export function structuredClone(value: unknown, options?: { transfer?: Iterable<object> } | null): unknown {
    if (arguments.length === 0) throw Object.assign(new TypeError('The "value" argument must be specified'), { code: "ERR_MISSING_ARGS" });
    const moved = new Set<object>();
    for (const each of options?.transfer ?? []) {
        if (!(each instanceof ArrayBuffer)) throw new DOMException("Value not transferable", "DataCloneError");
        moved.add(each);
    }
    const seen = new Map<object, unknown>();
    const made = copy(value, seen, moved, 0);
    for (const each of moved) if (!seen.has(each)) (each as ArrayBuffer & { transfer(): ArrayBuffer }).transfer();
    return made;
}
