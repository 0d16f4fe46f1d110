// The native functions on bytes, and the numbers that encodings have there.

/** A buffer, from within. */
export type Bytes = Uint8Array<ArrayBufferLike>;
export type Encoded = Bytes;
export type Maker = { new (size: number): Bytes; new (buffer: ArrayBufferLike, offset?: number, length?: number): Bytes };

interface BufferNative {
    encode(kind: Maker, text: string, encoding: number): Bytes;
    decode(bytes: Bytes, encoding: number, start?: number, end?: number): string;
    write(bytes: Bytes, text: string, offset: number, length: number, encoding: number): number;
    byteLength(text: string): number;
    fill(bytes: Bytes, pattern: Bytes, start: number, end: number): void;
    indexOf(bytes: Bytes, wanted: Bytes, offset: number, forward: boolean, step: number): number;
    compare(one: Bytes, other: Bytes, oneStart?: number, oneEnd?: number, otherStart?: number, otherEnd?: number): number;
    copy(source: Bytes, target: Bytes, targetStart?: number, sourceStart?: number, most?: number): number;
    swap(bytes: Bytes, width: number): void;
    concat(kind: Maker, list: readonly unknown[], total: number | undefined): Bytes | undefined;
    isUtf8(bytes: Bytes): boolean;
    isAscii(bytes: Bytes): boolean;
    /** Defines `readInt8` and its siblings. A kind is a width in bytes, and flags. */
    numbers(prototype: object, notRead: (this: Bytes, kind: number, ...args: unknown[]) => unknown, notWritten: (this: Bytes, kind: number, ...args: unknown[]) => unknown): void;
}

export const native_ = native("buffer") as BufferNative;

/** The most bytes of a buffer, as Node tells it; QuickJS itself refuses more than 2^31 - 1 with a RangeError of its own. */
export const kMaxLength = 2 ** 32;
/** The most units of a string. */
export const kStringMaxLength = 2 ** 30 - 1;

const numbers: Record<string, number> = {
    __proto__: null as never,
    "utf8": 0,
    "utf-8": 0,
    "ucs2": 1,
    "ucs-2": 1,
    "utf16le": 1,
    "utf-16le": 1,
    "latin1": 2,
    "binary": 2,
    "ascii": 3,
    "base64": 4,
    "base64url": 5,
    "hex": 6,
};

/** The names of encodings by their numbers. */
export const encodingNames = ["utf8", "utf16le", "latin1", "ascii", "base64", "base64url", "hex"] as const;

/** The number of an encoding; undefined if there is none of that name. */
export function encodingOf(name: unknown): number | undefined {
    const found = numbers[name as string];
    return found !== undefined || name === undefined || name === null ? found : numbers[String(name).toLowerCase()];
}

/** The number of an encoding, or ERR_UNKNOWN_ENCODING. */
export function encodingNumber(name: unknown): number {
    const number = encodingOf(name);
    if (number === undefined) throw new (require("./errors") as typeof import("./errors")).codes.ERR_UNKNOWN_ENCODING(name);
    return number;
}
