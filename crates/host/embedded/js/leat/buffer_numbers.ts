// The numbers of buffers that can't be read or written, and their errors.
import type { Bytes } from "./buffer_native";
import { codes } from "./errors";
import { validateNumber } from "./validate";

const WIDTH = 0x0f;
const SIGNED = 0x10;
const BIG_ENDIAN = 0x20;
const FLOAT = 0x40;
const BIGINT = 0x80;
const WIDTH_MAX = 6;

/** Throws for a position where there is no number. */
function misplaced(value: unknown, length: number, type?: string): never {
    if (Math.floor(value as number) !== value) {
        validateNumber(value, type ?? "offset");
        throw new codes.ERR_OUT_OF_RANGE(type ?? "offset", "an integer", value);
    }
    if (length < 0) throw new codes.ERR_BUFFER_OUT_OF_BOUNDS();
    throw new codes.ERR_OUT_OF_RANGE(type ?? "offset", `>= ${type ? 1 : 0} and <= ${length}`, value);
}

/** How wide the number is; throws unless that can be. */
function widthOf(kind: number, offset: unknown, byteLength: unknown): number {
    const fixed = kind & WIDTH;
    if (fixed !== 0) return fixed;
    if (offset === undefined) throw new codes.ERR_INVALID_ARG_TYPE("offset", "number", offset);
    if (byteLength === undefined) throw new codes.ERR_INVALID_ARG_TYPE("byteLength", "number", byteLength);
    if (!(Number.isInteger(byteLength) && (byteLength as number) >= 1 && (byteLength as number) <= WIDTH_MAX)) misplaced(byteLength, WIDTH_MAX, "byteLength");
    return byteLength as number;
}

function checkPlace(bytes: Bytes, offset: unknown, width: number): void {
    validateNumber(offset, "offset");
    if (!(Number.isInteger(offset) && offset >= 0 && offset + width <= bytes.length)) misplaced(offset, bytes.length - width);
}

/** Throws for a number that can't be read. */
export function notRead(bytes: Bytes, kind: number, offset: unknown, byteLength: unknown): never {
    const width = widthOf(kind, offset, byteLength);
    checkPlace(bytes, offset === undefined ? 0 : offset, width);
    throw new codes.ERR_INVALID_ARG_TYPE("this", ["Buffer", "Uint8Array"], bytes);
}

function checkRange(value: number | bigint, width: number, kind: number): void {
    const isSigned = (kind & SIGNED) !== 0;
    const big = (kind & BIGINT) !== 0;
    const bits = width * 8;
    const least = isSigned ? (big ? -(2n ** 63n) : -(2 ** (bits - 1))) : big ? 0n : 0;
    const most = big ? 2n ** (isSigned ? 63n : 64n) - 1n : 2 ** (isSigned ? bits - 1 : bits) - 1;
    if (!(value > most || value < least)) return;
    const n = big ? "n" : "";
    let range: string;
    if (width > 4) range = isSigned ? `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}` : `>= 0${n} and < 2${n} ** ${bits}${n}`;
    else range = `>= ${least}${n} and <= ${most}${n}`;
    throw new codes.ERR_OUT_OF_RANGE("value", range, value);
}

/** What the native functions do not write: a value that is no number yet is written as one; otherwise it throws. */
export function notWritten(bytes: Bytes, kind: number, value: unknown, offset: unknown, byteLength: unknown): unknown {
    const width = widthOf(kind, offset, byteLength);
    const big = (kind & BIGINT) !== 0;
    const number = big ? (value as bigint) : +(value as number);
    if ((kind & FLOAT) === 0) checkRange(number, width, kind);
    if (big && typeof number !== "bigint") throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
    const at = offset === undefined ? 0 : offset;
    checkPlace(bytes, at, width);
    if (typeof value === "number" || big || !(bytes instanceof Uint8Array)) throw new codes.ERR_INVALID_ARG_TYPE("this", ["Buffer", "Uint8Array"], bytes);
    const order = (kind & BIG_ENDIAN) !== 0 ? "BE" : "LE";
    if ((kind & FLOAT) !== 0) return (bytes as Buffer)[`write${width === 4 ? "Float" : "Double"}${order}`](number as number, at as number);
    return (bytes as Buffer)[`write${(kind & SIGNED) !== 0 ? "Int" : "UInt"}${order}`](number as number, at as number, width);
}
