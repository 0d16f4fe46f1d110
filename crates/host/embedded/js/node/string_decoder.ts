// node:string_decoder: keeps the bytes of a character that is not complete yet.
import { encodingNames, encodingNumber, native_ as n, type Bytes } from "../leat/buffer_native";

const UTF8 = 0;
const UTF16 = 1;
const BASE64 = 4;
const BASE64URL = 5;

interface Decoder {
    encoding: string;
    [kEncoding]: number;
    [kHeld]: Bytes;
    [kMissing]: number;
    write(bytes: unknown): string;
    end(bytes?: unknown): string;
}

const kEncoding = Symbol("kEncoding");
const kHeld = Symbol("kHeld");
const kMissing = Symbol("kMissing");
const none: Bytes = new Uint8Array(0);

function StringDecoder(this: Decoder, encoding?: unknown): void {
    const number = encoding === undefined || encoding === null || encoding === "" ? UTF8 : encodingNumber(encoding);
    this.encoding = encodingNames[number] as string;
    this[kEncoding] = number;
    this[kHeld] = none;
    this[kMissing] = 0;
}

/** How many bytes at the end belong to a character of UTF-8 that is not complete, and how many it lacks. */
function openUtf8(bytes: Bytes): [held: number, missing: number] {
    const { length } = bytes;
    for (let count = 1; count <= 3 && count <= length; count++) {
        const byte = bytes[length - count] as number;
        if ((byte & 0xc0) === 0x80) continue;
        const width = (byte & 0xe0) === 0xc0 ? 2 : (byte & 0xf0) === 0xe0 ? 3 : (byte & 0xf8) === 0xf0 ? 4 : 0;
        return width > count ? [count, width - count] : [0, 0];
    }
    return [0, 0];
}

function openUtf16(bytes: Bytes): [held: number, missing: number] {
    const { length } = bytes;
    if (length % 2 === 1) return [1, 1];
    return length >= 2 && ((bytes[length - 1] as number) & 0xfc) === 0xd8 ? [2, 2] : [0, 0];
}

function open(encoding: number, bytes: Bytes): [held: number, missing: number] {
    switch (encoding) {
        case UTF8:
            return openUtf8(bytes);
        case UTF16:
            return openUtf16(bytes);
        case BASE64:
        case BASE64URL: {
            const held = bytes.length % 3;
            return [held, held === 0 ? 0 : 3 - held];
        }
        default:
            return [0, 0];
    }
}

function toBytes(value: unknown): Bytes {
    if (value instanceof Uint8Array) return value;
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const { codes } = require("../leat/errors") as typeof import("../leat/errors");
    throw new codes.ERR_INVALID_ARG_TYPE("buf", ["Buffer", "TypedArray", "DataView"], value);
}

StringDecoder.prototype.write = function write(this: Decoder, given: unknown): string {
    if (typeof given === "string") return given;
    let bytes = toBytes(given);
    const held = this[kHeld];
    if (bytes.length === 0) return "";
    if (held.length > 0 && this[kEncoding] === UTF16) return writeRest(this, held, bytes);
    if (held.length > 0) {
        const both = new Uint8Array(held.length + bytes.length);
        both.set(held);
        both.set(bytes, held.length);
        bytes = both;
    }
    const [count, missing] = open(this[kEncoding], bytes);
    this[kMissing] = missing;
    const end = bytes.length - count;
    this[kHeld] = count === 0 ? none : bytes.slice(end);
    return end === 0 ? "" : n.decode(bytes, this[kEncoding], 0, end);
};

/** UTF-16 behind bytes that were held: they are complete as soon as what they lack is there. */
function writeRest(decoder: Decoder, held: Bytes, bytes: Bytes): string {
    const taken = Math.min(decoder[kMissing], bytes.length);
    const both = new Uint8Array(held.length + taken);
    both.set(held);
    both.set(bytes.subarray(0, taken), held.length);
    decoder[kMissing] -= taken;
    if (decoder[kMissing] > 0) {
        decoder[kHeld] = both;
        return "";
    }
    decoder[kHeld] = none;
    return n.decode(both, UTF16) + decoder.write(bytes.subarray(taken));
}

StringDecoder.prototype.end = function end(this: Decoder, given?: unknown): string {
    const text = given === undefined ? "" : this.write(given);
    const held = this[kHeld];
    this[kHeld] = none;
    this[kMissing] = 0;
    return held.length === 0 ? text : text + n.decode(held, this[kEncoding]);
};

StringDecoder.prototype.text = function text(this: Decoder, given: Bytes, offset: number): string {
    this[kHeld] = none;
    this[kMissing] = 0;
    return this.write(given.subarray(offset));
};

Object.defineProperties(StringDecoder.prototype, {
    lastChar: {
        configurable: true,
        enumerable: true,
        get(this: Decoder) {
            const bytes = Buffer.alloc(4);
            bytes.set(this[kHeld]);
            return bytes;
        },
    },
    lastNeed: {
        configurable: true,
        enumerable: true,
        get(this: Decoder) {
            return this[kMissing];
        },
    },
    lastTotal: {
        configurable: true,
        enumerable: true,
        get(this: Decoder) {
            return this[kHeld].length + this[kMissing];
        },
    },
});

exports.StringDecoder = StringDecoder;
