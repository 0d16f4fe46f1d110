// node:buffer over native functions on the bytes. Errors and rare ways are in `leat:buffer_rare`.
import { encodingNumber, encodingOf, kMaxLength, kStringMaxLength, native_, type Bytes, type Encoded } from "../leat/buffer_native";

type Rare = typeof import("../leat/buffer_rare");
let loaded: Rare | undefined;
const rare = (): Rare => (loaded ??= require("../leat/buffer_rare") as Rare);

const n = native_;
const UTF8 = 0;
/** Bytes whose text is never too long, in whatever encoding. */
const CERTAIN_LENGTH_MAX = kStringMaxLength >> 1;
const custom = Symbol.for("nodejs.util.inspect.custom");

class FastBuffer extends Uint8Array {}

type Maker = { new (size: number): Bytes; new (buffer: ArrayBufferLike, offset?: number, length?: number): Bytes };
const Fast = FastBuffer as unknown as Maker;

function Buffer(value: unknown, encodingOrOffset?: unknown, length?: unknown): Bytes {
    if (typeof value !== "number") return from(value, encodingOrOffset, length);
    if (typeof encodingOrOffset === "string") rare().invalid("string", "string", value);
    return alloc(value);
}
Object.setPrototypeOf(Buffer, Uint8Array);
(Buffer as unknown as { prototype: object }).prototype = FastBuffer.prototype;
Object.defineProperty(FastBuffer.prototype, "constructor", { value: Buffer, writable: true, configurable: true, enumerable: false });
Object.defineProperty(Buffer, Symbol.species, { configurable: true, enumerable: false, get: () => FastBuffer });

function isBytes(value: unknown): value is Bytes {
    return value instanceof Uint8Array;
}

function checkSize(size: unknown): asserts size is number {
    if (typeof size !== "number" || !(size >= 0 && size <= kMaxLength)) rare().size(size);
}

function from(value: unknown, encodingOrOffset?: unknown, length?: unknown): Bytes {
    if (typeof value === "string") {
        return n.encode(Fast, value, typeof encodingOrOffset === "string" && encodingOrOffset !== "" ? encodingNumber(encodingOrOffset) : UTF8);
    }
    return rare().from(Fast, value, encodingOrOffset, length);
}

function alloc(size: unknown, fill?: unknown, encoding?: unknown): Bytes {
    checkSize(size);
    const made = new Fast(size);
    return fill !== undefined && fill !== 0 && size > 0 ? rare().fillNew(made, fill, encoding) : made;
}

function allocUnsafe(size: unknown): Bytes {
    checkSize(size);
    return new Fast(size);
}

function concat(list: unknown, length?: unknown): Bytes {
    if (Array.isArray(list) && list.length > 0 && (length === undefined || (Number.isInteger(length) && (length as number) >= 0 && (length as number) <= kMaxLength))) {
        const made = n.concat(Fast, list, length as number | undefined);
        if (made !== undefined) return made;
    }
    return rare().concat(Fast, list, length);
}

function byteLength(value: unknown, encoding?: unknown): number {
    if (typeof value !== "string") return rare().byteLengthOf(value);
    const kind = encoding === undefined ? UTF8 : (encodingOf(encoding) ?? UTF8);
    return kind === UTF8 ? n.byteLength(value) : rare().encodedLength(value, kind);
}

function compare(one: unknown, other: unknown): number {
    if (!isBytes(one)) return rare().notBytes("buf1", one);
    if (!isBytes(other)) return rare().notBytes("buf2", other);
    return one === other ? 0 : n.compare(one, other);
}

/** A position as methods that slice take it: from the end if it is negative. */
function position(at: unknown, length: number, missing: number): number {
    if (at === undefined) return missing;
    const whole = Math.trunc(at as number) || 0;
    return whole < 0 ? Math.max(0, whole + length) : Math.min(whole, length);
}

function subarray(this: Bytes, start?: unknown, end?: unknown): Bytes {
    const { length } = this;
    const first = position(start, length, 0);
    const last = position(end, length, length);
    return new Fast(this.buffer, this.byteOffset + first, last > first ? last - first : 0);
}

/** The bound of a range of bytes to decode: what is no number is 0. */
function bound(at: unknown, length: number): number {
    const number = Number(at);
    return number > 0 ? Math.min(Math.trunc(number), length) : 0;
}

function toString(this: Bytes, encoding?: unknown, start?: unknown, end?: unknown): string {
    const { length } = this;
    if (start === undefined && end === undefined && length <= CERTAIN_LENGTH_MAX) return n.decode(this, encoding === undefined ? UTF8 : encodingNumber(encoding));
    const first = start === undefined ? 0 : bound(start, length);
    const last = end === undefined ? length : bound(end, length);
    if (last <= first) return "";
    return rare().decode(this, encoding === undefined ? UTF8 : encodingNumber(encoding), first, last);
}

const methods = {
    subarray,
    slice: subarray,
    toString,
    toLocaleString: toString,
    equals(this: Bytes, other: unknown): boolean {
        if (!isBytes(other)) return rare().notBytes("otherBuffer", other);
        return this === other || (this.byteLength === other.byteLength && n.compare(this, other) === 0);
    },
    compare(this: Bytes, other: unknown, ...bounds: unknown[]): number {
        if (!isBytes(other)) return rare().notBytes("target", other, ["Buffer", "Uint8Array"]);
        return bounds.length === 0 ? n.compare(this, other) : rare().compareParts(this, other, bounds);
    },
    write(this: Bytes, text: unknown, offset?: unknown, length?: unknown, encoding?: unknown): number {
        if (typeof text === "string" && (offset === undefined || (arguments.length === 2 && offset === "utf8"))) return n.write(this, text, 0, this.length, UTF8);
        return rare().write(this, text, offset, length, encoding);
    },
    copy(this: Bytes, target: unknown, targetStart?: unknown, sourceStart?: unknown, sourceEnd?: unknown): number {
        if (targetStart === undefined && sourceStart === undefined && sourceEnd === undefined && isBytes(target)) return n.copy(this, target);
        return rare().copy(this, target, targetStart, sourceStart, sourceEnd);
    },
    fill(this: Bytes, value: unknown, offset?: unknown, end?: unknown, encoding?: unknown): Bytes {
        return rare().fill(this, value, offset, end, encoding);
    },
    indexOf(this: Bytes, value: unknown, offset?: unknown, encoding?: unknown): number {
        return rare().indexOf(this, value, offset, encoding, true);
    },
    lastIndexOf(this: Bytes, value: unknown, offset?: unknown, encoding?: unknown): number {
        return rare().indexOf(this, value, offset, encoding, false);
    },
    includes(this: Bytes, value: unknown, offset?: unknown, encoding?: unknown): boolean {
        return rare().indexOf(this, value, offset, encoding, true) !== -1;
    },
    swap16(this: Bytes): Bytes {
        return rare().swap(this, 2);
    },
    swap32(this: Bytes): Bytes {
        return rare().swap(this, 4);
    },
    swap64(this: Bytes): Bytes {
        return rare().swap(this, 8);
    },
    toJSON(this: Bytes): { type: "Buffer"; data: number[] } {
        return { type: "Buffer", data: Array.from(this) };
    },
    [custom](this: Bytes, _depth: unknown, options: unknown): string {
        return rare().inspect(this, options);
    },
};

const prototype = FastBuffer.prototype as unknown as Record<PropertyKey, unknown>;
Object.assign(prototype, methods);
prototype["inspect"] = methods[custom];
for (const [at, name] of ["utf8", "ucs2", "latin1", "ascii", "base64", "base64url", "hex"].entries()) {
    prototype[`${name}Slice`] = function (this: Bytes, start?: number, end?: number): string {
        return n.decode(this, at, start ?? 0, end ?? this.length);
    };
    prototype[`${name}Write`] = function (this: Bytes, text: string, offset?: number, length?: number): number {
        return rare().writeEncoded(this, text, offset, length, at);
    };
}
Object.defineProperty(prototype, "parent", {
    configurable: true,
    enumerable: true,
    get(this: unknown) {
        return this instanceof FastBuffer ? this.buffer : undefined;
    },
});
Object.defineProperty(prototype, "offset", {
    configurable: true,
    enumerable: true,
    get(this: unknown) {
        return this instanceof FastBuffer ? this.byteOffset : undefined;
    },
});

n.numbers(
    prototype,
    function (this: Bytes, kind: number, offset: unknown, width: unknown): never {
        return rare().notRead(this, kind, offset, width);
    },
    function (this: Bytes, kind: number, value: unknown, offset: unknown, width: unknown): unknown {
        return rare().notWritten(this, kind, value, offset, width);
    },
);

Object.assign(Buffer, {
    poolSize: 8192,
    from,
    of: (...items: number[]): Bytes => {
        const made = new Fast(items.length);
        for (let at = 0; at < items.length; at++) made[at] = items[at] as number;
        return made;
    },
    copyBytesFrom: (view: unknown, offset?: unknown, length?: unknown): Bytes => rare().copyBytesFrom(Fast, view, offset, length),
    alloc,
    allocUnsafe,
    allocUnsafeSlow: allocUnsafe,
    isBuffer: (value: unknown): boolean => value instanceof FastBuffer,
    compare,
    isEncoding: (encoding: unknown): boolean => typeof encoding === "string" && encoding.length !== 0 && encodingOf(encoding) !== undefined,
    concat,
    byteLength,
});

/** What the rest of the module is, loaded when it is touched. */
function lazily(names: readonly string[], load: () => Record<string, unknown>): void {
    for (const name of names) Object.defineProperty(module.exports, name, { configurable: true, enumerable: true, get: () => load()[name] });
}

function SlowBuffer(size: unknown): Bytes {
    checkSize(size);
    return allocUnsafe(size);
}
Object.setPrototypeOf(SlowBuffer.prototype, Uint8Array.prototype);
Object.setPrototypeOf(SlowBuffer, Uint8Array);

module.exports = {
    Buffer,
    SlowBuffer,
    INSPECT_MAX_BYTES: 50,
    kMaxLength,
    kStringMaxLength,
    constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength },
    isUtf8: (input: unknown): boolean => n.isUtf8(rare().bytesOf(input)),
    isAscii: (input: unknown): boolean => n.isAscii(rare().bytesOf(input)),
    transcode: (source: unknown, fromEncoding: unknown, toEncoding: unknown): Encoded => rare().transcode(Fast, source, fromEncoding, toEncoding),
    atob: (...given: unknown[]): string => rare().atob(given[0], given.length),
    btoa: (...given: unknown[]): string => rare().btoa(given[0], given.length),
    resolveObjectURL: (): never => rare().missing("resolveObjectURL"),
};
lazily(["Blob", "File"], () => require("leat:web/blob") as Record<string, unknown>);
