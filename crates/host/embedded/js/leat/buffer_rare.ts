// The parts of node:buffer that most programs never touch, and every error.
import { encodingNames, encodingNumber, encodingOf, kMaxLength, kStringMaxLength, native_ as n, type Bytes, type Maker } from "./buffer_native";
import { codes } from "./errors";
import { validateInteger, validateNumber, validateString } from "./validate";

export { notRead, notWritten } from "./buffer_numbers";

const LATIN1 = 2;
const UTF16 = 1;
const HEX = 6;

export function invalid(name: string, expected: string, value: unknown): never {
    throw new codes.ERR_INVALID_ARG_TYPE(name, expected, value);
}

export function notBytes(name: string, value: unknown, expected: string[] = ["Buffer", "Uint8Array"]): never {
    throw new codes.ERR_INVALID_ARG_TYPE(name, expected, value);
}

export function missing(what: string): never {
    throw new codes.ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(what);
}

export function size(value: unknown): never {
    validateNumber(value, "size");
    throw new codes.ERR_OUT_OF_RANGE("size", `>= 0 && <= ${kMaxLength}`, value);
}

function isAnyBuffer(value: unknown): value is ArrayBufferLike {
    if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer)) return true;
    const tag = Object.prototype.toString.call(value);
    return tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]";
}

/** The bytes of any view or buffer. */
export function bytesOf(input: unknown): Bytes {
    if (input instanceof Uint8Array) return input;
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (isAnyBuffer(input)) return new Uint8Array(input);
    throw new codes.ERR_INVALID_ARG_TYPE("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
}

const firstArgument = ["string", "Buffer", "ArrayBuffer", "Array", "Array-like Object"];

/** `Buffer.from` of what is no string. */
export function from(Fast: Maker, value: unknown, encodingOrOffset: unknown, length: unknown): Bytes {
    if (typeof value === "object" && value !== null) {
        if (isAnyBuffer(value)) return ofBuffer(Fast, value, encodingOrOffset, length);
        const inner = (value as { valueOf?(): unknown }).valueOf?.();
        if (inner != null && inner !== value && (typeof inner === "string" || typeof inner === "object")) {
            return typeof inner === "string" ? n.encode(Fast, inner, typeof encodingOrOffset === "string" ? encodingNumber(encodingOrOffset) : 0) : from(Fast, inner, encodingOrOffset, length);
        }
        const made = ofObject(Fast, value);
        if (made !== undefined) return made;
        const primitive = (value as { [Symbol.toPrimitive]?(hint: string): unknown })[Symbol.toPrimitive];
        if (typeof primitive === "function") {
            const text = primitive.call(value, "string");
            if (typeof text === "string") return n.encode(Fast, text, typeof encodingOrOffset === "string" ? encodingNumber(encodingOrOffset) : 0);
        }
    }
    throw new codes.ERR_INVALID_ARG_TYPE("first argument", firstArgument, value);
}

function ofObject(Fast: Maker, value: object): Bytes | undefined {
    const list = value as { length?: unknown; buffer?: unknown; type?: unknown; data?: unknown };
    if (list.length !== undefined || isAnyBuffer(list.buffer)) {
        return typeof list.length === "number" ? ofList(Fast, list as ArrayLike<number>) : new Fast(0);
    }
    return list.type === "Buffer" && Array.isArray(list.data) ? ofList(Fast, list.data as number[]) : undefined;
}

function ofList(Fast: Maker, list: ArrayLike<number>): Bytes {
    if (!(list.length > 0)) return new Fast(0);
    if (list.length > kMaxLength) size(list.length);
    const made = new Fast(list.length);
    if (list instanceof Uint8Array) n.copy(list, made);
    else made.set(list);
    return made;
}

function ofBuffer(Fast: Maker, value: ArrayBufferLike, byteOffset: unknown, length: unknown): Bytes {
    const offset = byteOffset === undefined ? 0 : +(byteOffset as number) || 0;
    const most = value.byteLength - offset;
    if (most < 0) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS("offset");
    let count = most;
    if (length !== undefined) {
        const wanted = +(length as number);
        count = wanted > 0 ? wanted : 0;
        if (count > most) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS("length");
    }
    return new Fast(value, offset, count);
}

/** Fills what `Buffer.alloc` made. */
export function fillNew(made: Bytes, value: unknown, encoding: unknown): Bytes {
    if (typeof encoding !== "string" && encoding !== undefined) invalid("encoding", "string", encoding);
    return fill(made, value, encoding, undefined, undefined);
}

export function concat(Fast: Maker, list: unknown, length: unknown): Bytes {
    if (!Array.isArray(list)) invalid("list", "Array", list);
    const parts = list as unknown[];
    if (parts.length === 0) return new Fast(0);
    let total = 0;
    if (length === undefined) {
        for (const part of parts) total += (part as { length?: number } | null)?.length ?? 0;
    } else {
        validateInteger(length, "length", 0, kMaxLength);
        total = length;
    }
    for (const [at, part] of parts.entries()) if (!(part instanceof Uint8Array)) notBytes(`list[${at}]`, part);
    if (total > kMaxLength) size(total);
    return n.concat(Fast, parts, total) as Bytes;
}

export function copyBytesFrom(Fast: Maker, view: unknown, offset: unknown, length: unknown): Bytes {
    if (!ArrayBuffer.isView(view) || view instanceof DataView) throw new codes.ERR_INVALID_ARG_TYPE("view", ["TypedArray"], view);
    let part = view as unknown as Bytes;
    if (part.length === 0) return new Fast(0);
    let start = 0;
    if (offset !== undefined) {
        validateInteger(offset, "offset", 0);
        start = offset;
        if (start >= part.length) return new Fast(0);
    }
    let end = part.length;
    if (length !== undefined) {
        validateInteger(length, "length", 0);
        end = start + length;
    }
    part = part.subarray(start, end);
    return ofList(Fast, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
}

export function byteLengthOf(value: unknown): number {
    if (ArrayBuffer.isView(value) || isAnyBuffer(value)) return (value as ArrayBufferView).byteLength;
    throw new codes.ERR_INVALID_ARG_TYPE("string", ["string", "Buffer", "ArrayBuffer"], value);
}

/** The length of a string in an encoding other than UTF-8, as Node tells it: base64 and hex are not looked into. */
export function encodedLength(text: string, encoding: number): number {
    const { length } = text;
    switch (encodingNames[encoding]) {
        case "utf16le":
            return length * 2;
        case "hex":
            return length >>> 1;
        case "base64":
        case "base64url": {
            let bytes = length;
            if (text.charCodeAt(bytes - 1) === 0x3d) bytes--;
            if (bytes > 1 && text.charCodeAt(bytes - 1) === 0x3d) bytes--;
            return Math.floor((bytes * 3) / 4);
        }
        default:
            return length;
    }
}

export function decode(bytes: Bytes, encoding: number, start: number, end: number): string {
    const count = end - start;
    const units = encoding === HEX ? count * 2 : encoding === 4 || encoding === 5 ? Math.ceil(count / 3) * 4 : encoding === UTF16 ? count >> 1 : count;
    if (units > kStringMaxLength) {
        const { codeOf } = require("./errors") as typeof import("./errors");
        throw new (codeOf("ERR_STRING_TOO_LONG", Error, `Cannot create a string longer than 0x${kStringMaxLength.toString(16)} characters`))();
    }
    return n.decode(bytes, encoding, start, end);
}

function part(value: unknown, name: string, missing: number, min: number, max: number): number {
    if (value === undefined) return missing;
    validateInteger(value, name, min, max);
    return value;
}

export function compareParts(one: Bytes, other: Bytes, [targetStart, targetEnd, sourceStart, sourceEnd]: unknown[]): number {
    const targetFrom = part(targetStart, "targetStart", 0, 0, kMaxLength);
    const targetTo = part(targetEnd, "targetEnd", other.length, 0, other.length);
    const sourceFrom = part(sourceStart, "sourceStart", 0, 0, kMaxLength);
    const sourceTo = part(sourceEnd, "sourceEnd", one.length, 0, one.length);
    if (sourceFrom >= sourceTo) return targetFrom >= targetTo ? 0 : -1;
    if (targetFrom >= targetTo) return 1;
    return n.compare(one, other, sourceFrom, sourceTo, targetFrom, targetTo);
}

export function write(bytes: Bytes, text: unknown, offset: unknown, length: unknown, encoding: unknown): number {
    let name = encoding;
    let at = 0;
    let room = bytes.length;
    if (offset === undefined) name = undefined;
    else if (length === undefined && typeof offset === "string") name = offset;
    else {
        validateInteger(offset, "offset", 0, bytes.length);
        at = offset;
        const left = bytes.length - at;
        room = left;
        if (typeof length === "string") name = length;
        else if (length !== undefined) {
            validateInteger(length, "length", 0, bytes.length);
            room = Math.min(length, left);
        }
    }
    const kind = name ? encodingNumber(name) : 0;
    if (typeof text !== "string") throw coded("argument must be a string");
    return n.write(bytes, text, at, room, kind);
}

function coded(message: string): Error {
    const { codeOf } = require("./errors") as typeof import("./errors");
    return new (codeOf("ERR_INVALID_ARG_TYPE", TypeError, message))();
}

export function writeEncoded(bytes: Bytes, text: unknown, offset: number | undefined, length: number | undefined, encoding: number): number {
    if (typeof text !== "string") throw coded("argument must be a string");
    const at = offset ?? 0;
    if (at < 0 || at > bytes.length) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS("offset");
    return n.write(bytes, text, at, Math.min(length ?? bytes.length, bytes.length - at), encoding);
}

/** A number of a bound of `copy`, as Node reads it. */
function toInteger(value: unknown, missing: number): number {
    const number = +(value as number);
    return Number.isNaN(number) || !(number >= Number.MIN_SAFE_INTEGER && number <= Number.MAX_SAFE_INTEGER) ? missing : Math.trunc(number) + 0;
}

export function copy(source: Bytes, target: unknown, targetStart: unknown, sourceStart: unknown, sourceEnd: unknown): number {
    if (!(source instanceof Uint8Array)) notBytes("source", source);
    if (!(target instanceof Uint8Array)) notBytes("target", target);
    const to = target as Bytes;
    let at = 0;
    if (targetStart !== undefined) {
        at = Number.isInteger(targetStart) ? (targetStart as number) : toInteger(targetStart, 0);
        if (at < 0) throw new codes.ERR_OUT_OF_RANGE("targetStart", ">= 0", at);
    }
    let begin = 0;
    if (sourceStart !== undefined) {
        begin = Number.isInteger(sourceStart) ? (sourceStart as number) : toInteger(sourceStart, 0);
        if (begin < 0 || begin > source.length) throw new codes.ERR_OUT_OF_RANGE("sourceStart", `>= 0 && <= ${source.length}`, begin);
    }
    let end = source.length;
    if (sourceEnd !== undefined) {
        end = Number.isInteger(sourceEnd) ? (sourceEnd as number) : toInteger(sourceEnd, 0);
        if (end < 0) throw new codes.ERR_OUT_OF_RANGE("sourceEnd", ">= 0", end);
    }
    return at >= to.length || begin >= end ? 0 : n.copy(source, to, at, begin, end - begin);
}

export function fill(bytes: Bytes, value: unknown, offset: unknown, end: unknown, encoding: unknown): Bytes {
    let [first, last, name] = [offset, end, encoding];
    let what = value;
    if (typeof what === "string") {
        if (first === undefined || typeof first === "string") [name, first, last] = [first, undefined, undefined];
        else if (typeof last === "string") [name, last] = [last, undefined];
        if (name !== undefined) validateString(name, "encoding");
        const kind = encodingNumber(name ?? "utf8");
        if (what.length === 0) what = 0;
        else if (what.length === 1 && ((kind === 0 && what.charCodeAt(0) < 128) || kind === LATIN1)) what = what.charCodeAt(0);
        else what = n.encode(Uint8Array as unknown as Maker, what, kind);
    }
    let [from, to] = [0, bytes.length];
    if (first !== undefined) {
        validateInteger(first, "offset", 0, kMaxLength);
        from = first;
        if (last !== undefined) {
            validateInteger(last, "end", 0, bytes.length);
            to = last;
        }
        if (from >= to) return bytes;
    }
    if (what instanceof Uint8Array || ArrayBuffer.isView(what)) {
        const pattern = bytesOf(what);
        if (pattern.length === 0) throw new codes.ERR_INVALID_ARG_VALUE("value", value);
        n.fill(bytes, pattern, from, to);
        return bytes;
    }
    Uint8Array.prototype.fill.call(bytes, typeof what === "boolean" ? +what : ((what as number) & 255), from, to);
    return bytes;
}

export function indexOf(bytes: Bytes, value: unknown, byteOffset: unknown, encoding: unknown, forward: boolean): number {
    let offset: unknown = byteOffset;
    let name = encoding;
    if (typeof offset === "string") [name, offset] = [offset, undefined];
    let from = +(offset as number);
    if (from > 0x7fffffff) from = 0x7fffffff;
    else if (from < -0x80000000) from = -0x80000000;
    const { length } = bytes;
    if (Number.isNaN(from)) from = forward ? 0 : length;
    from = Math.trunc(from);
    if (typeof value === "number") return indexOfByte(bytes, (value >>> 0) & 255, from, forward);
    let kind = 0;
    if (name !== undefined) kind = encodingOf(name) ?? (typeof value === "string" ? encodingNumber(name) : 0);
    let wanted: Bytes;
    if (typeof value === "string") wanted = n.encode(Uint8Array as unknown as Maker, value, kind);
    else if (value instanceof Uint8Array) wanted = value;
    else throw new codes.ERR_INVALID_ARG_TYPE("value", ["number", "string", "Buffer", "Uint8Array"], value);
    if (from < 0) from += length;
    if (from < 0) {
        if (!forward) return -1;
        from = 0;
    }
    if (wanted.length === 0) return Math.min(from, length);
    if (from > length) {
        if (forward) return -1;
        from = length;
    }
    if (wanted.length > length || (forward && from + wanted.length > length)) return -1;
    const step = kind === UTF16 ? 2 : 1;
    if (step === 2 && (length < 2 || wanted.length < 2)) return -1;
    return n.indexOf(bytes, wanted, from - (from % step), forward, step);
}

function indexOfByte(bytes: Bytes, value: number, from: number, forward: boolean): number {
    if (forward) return Uint8Array.prototype.indexOf.call(bytes, value, from);
    const at = from < 0 ? from + bytes.length : from;
    return at < 0 ? -1 : Uint8Array.prototype.lastIndexOf.call(bytes, value, at);
}

export function swap(bytes: Bytes, width: number): Bytes {
    if (bytes.length % width !== 0) throw new codes.ERR_INVALID_BUFFER_SIZE(`${width * 8}-bits`);
    n.swap(bytes, width);
    return bytes;
}

export function inspect(bytes: Bytes, options: unknown): string {
    const most = (require("node:buffer") as { INSPECT_MAX_BYTES: number }).INSPECT_MAX_BYTES;
    const shown = Math.min(most, bytes.length);
    let text = n.decode(bytes, HEX, 0, shown).replace(/(.{2})/g, "$1 ").trim();
    const more = bytes.length - most;
    if (more > 0) text += ` ... ${more} more byte${more > 1 ? "s" : ""}`;
    const extra = Object.keys(bytes).filter((key) => !/^\d+$/.test(key));
    if (extra.length > 0 && options) {
        const own = Object.assign(Object.create(null) as object, ...extra.map((key) => ({ [key]: (bytes as unknown as Record<string, unknown>)[key] }))) as object;
        const { inspect } = require("node:util") as typeof import("node:util");
        if (bytes.length !== 0) text += ", ";
        text += inspect(own, { ...(options as object), breakLength: Infinity, compact: true }).slice(27, -2);
    }
    const name = (bytes.constructor as { name?: string } | undefined)?.name ?? "Buffer";
    return `<${name} ${text}>`;
}

export function transcode(Fast: Maker, source: unknown, fromEncoding: unknown, toEncoding: unknown): Bytes {
    if (!(source instanceof Uint8Array)) notBytes("source", source);
    const bytes = source as Bytes;
    if (bytes.length === 0) return new Fast(0);
    const known = ["utf8", "utf16le", "latin1", "ascii"];
    const from = encodingOf(fromEncoding);
    const to = encodingOf(toEncoding);
    if (from === undefined || to === undefined || from >= known.length || to >= known.length) {
        const error = new Error("Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]") as Error & { code: string; errno: number };
        error.code = "U_ILLEGAL_ARGUMENT_ERROR";
        error.errno = 1;
        throw error;
    }
    const text = n.decode(bytes, from);
    const most = to === LATIN1 ? 0xff : to === 3 ? 0x7f : Infinity;
    const fitting = most === Infinity ? text : Array.from(text, (one) => ((one.codePointAt(0) as number) > most ? "?" : one)).join("");
    return n.encode(Fast, fitting, to);
}

function notInRange(message: string): Error {
    const Exception = (globalThis as { DOMException?: new (message: string, name: string) => Error }).DOMException;
    if (Exception !== undefined) return new Exception(message, "InvalidCharacterError");
    const error = new Error(message);
    error.name = "InvalidCharacterError";
    return error;
}

export function atob(value: unknown, count: number): string {
    if (count === 0) throw new codes.ERR_MISSING_ARGS("input");
    const text = String(value).replace(/[\t\n\f\r ]/g, "");
    const bare = text.length % 4 === 0 ? text.replace(/==?$/, "") : text;
    if (/[^A-Za-z0-9+/]/.test(bare)) throw notInRange("Invalid character");
    if (bare.length % 4 === 1) throw notInRange("The string to be decoded is not correctly encoded.");
    return n.decode(n.encode(Uint8Array as unknown as Maker, bare, 4), LATIN1);
}

export function btoa(value: unknown, count: number): string {
    if (count === 0) throw new codes.ERR_MISSING_ARGS("input");
    const text = String(value);
    if (/[^\0-\xff]/.test(text)) throw notInRange("Invalid character");
    return n.decode(n.encode(Uint8Array as unknown as Maker, text, LATIN1), 4);
}
