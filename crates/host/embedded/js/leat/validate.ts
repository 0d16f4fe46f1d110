// Checks of arguments, with the errors that Node's own modules throw for them.
import { codes } from "./errors";

/** Throws unless `value` is a function. */
export function validateFunction(value: unknown, name: string): asserts value is (...args: never[]) => unknown {
    if (typeof value !== "function") throw new codes.ERR_INVALID_ARG_TYPE(name, "Function", value);
}

/** Throws unless `value` is a string. */
export function validateString(value: unknown, name: string): asserts value is string {
    if (typeof value !== "string") throw new codes.ERR_INVALID_ARG_TYPE(name, "string", value);
}

/** Throws unless `value` is a boolean. */
export function validateBoolean(value: unknown, name: string): asserts value is boolean {
    if (typeof value !== "boolean") throw new codes.ERR_INVALID_ARG_TYPE(name, "boolean", value);
}

/** Throws unless `value` is a number from `min` to `max`; not a number is refused as soon as one of them is given. */
export function validateNumber(value: unknown, name: string, min?: number, max?: number): asserts value is number {
    if (typeof value !== "number") throw new codes.ERR_INVALID_ARG_TYPE(name, "number", value);
    if ((min !== undefined && value < min) || (max !== undefined && value > max) || ((min !== undefined || max !== undefined) && value !== value)) {
        const low = min !== undefined ? `>= ${min}` : "";
        const high = max !== undefined ? `<= ${max}` : "";
        throw new codes.ERR_OUT_OF_RANGE(name, `${low}${low && high ? " && " : ""}${high}`, value);
    }
}

/** Throws unless `value` is an integer from `min` to `max`. */
export function validateInteger(value: unknown, name: string, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): asserts value is number {
    if (typeof value !== "number") throw new codes.ERR_INVALID_ARG_TYPE(name, "number", value);
    if (!Number.isInteger(value)) throw new codes.ERR_OUT_OF_RANGE(name, "an integer", value);
    if (value < min || value > max) throw new codes.ERR_OUT_OF_RANGE(name, `>= ${min} && <= ${max}`, value);
}

/** Throws unless `value` is a signed integer of 32 bits from `min` to `max`. */
export function validateInt32(value: unknown, name: string, min = -2147483648, max = 2147483647): asserts value is number {
    validateInteger(value, name, min, max);
}

/** Throws unless `value` is an unsigned integer of 32 bits, and not 0 if it must be `positive`. */
export function validateUint32(value: unknown, name: string, positive = false): asserts value is number {
    validateInteger(value, name, positive ? 1 : 0, 4294967295);
}

/** Throws unless `value` is one of `among`. */
export function validateOneOf(value: unknown, name: string, among: readonly unknown[]): void {
    if (among.includes(value)) return;
    const allowed = among.map((one) => (typeof one === "string" ? `'${one}'` : String(one))).join(", ");
    throw new codes.ERR_INVALID_ARG_VALUE(name, value, `must be one of: ${allowed}`);
}

/** Kinds of objects that `validateObject` takes beside plain ones; add them up. */
export const kValidateObjectAllowNullable = 1;
export const kValidateObjectAllowArray = 2;
export const kValidateObjectAllowFunction = 4;

/** Throws unless `value` is an object; null, arrays and functions only where `allow` says so. */
export function validateObject(value: unknown, name: string, allow = 0): asserts value is object {
    const isFunction = typeof value === "function";
    const refused =
        (value === null && (allow & kValidateObjectAllowNullable) === 0) ||
        (Array.isArray(value) && (allow & kValidateObjectAllowArray) === 0) ||
        (typeof value !== "object" && !(isFunction && (allow & kValidateObjectAllowFunction) !== 0));
    if (refused) throw new codes.ERR_INVALID_ARG_TYPE(name, "Object", value);
}

/** Throws unless `value` is an array of at least `length` elements. */
export function validateArray(value: unknown, name: string, length = 0): asserts value is unknown[] {
    if (!Array.isArray(value)) throw new codes.ERR_INVALID_ARG_TYPE(name, "Array", value);
    if (value.length < length) throw new codes.ERR_INVALID_ARG_VALUE(name, value, `must be longer than ${length}`);
}

/** Throws unless `value` is undefined or an abort signal. */
export function validateAbortSignal(value: unknown, name: string): asserts value is AbortSignal | undefined {
    if (value !== undefined && (value === null || typeof value !== "object" || !("aborted" in value))) throw new codes.ERR_INVALID_ARG_TYPE(name, "AbortSignal", value);
}

/** Throws unless `value` is bytes: a Buffer, a typed array or a DataView. */
export function validateBuffer(value: unknown, name = "buffer"): asserts value is ArrayBufferView {
    if (!ArrayBuffer.isView(value)) throw new codes.ERR_INVALID_ARG_TYPE(name, ["Buffer", "TypedArray", "DataView"], value);
}

/** A port from a number or a text; `zero` allows 0. */
export function validatePort(value: unknown, name = "Port", zero = true): number {
    const isText = typeof value === "string";
    if ((typeof value !== "number" && !isText) || (isText && value.trim() === "") || +value !== +value >>> 0 || +value > 0xffff || (+value === 0 && !zero)) {
        throw new codes.ERR_SOCKET_BAD_PORT(name, value, zero);
    }
    return +value | 0;
}
