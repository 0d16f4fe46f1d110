// DER, as far as keys and signatures have it: numbers, sequences, bit and byte strings, names of algorithms.

/** One value: its tag, and what is in it. */
export interface Value {
    tag: number;
    body: Uint8Array;
    /** Bytes that the value takes, its head included. */
    length: number;
}

/** The value at the start of `bytes`; undefined if they are none. */
export function readValue(bytes: Uint8Array): Value | undefined {
    const [tag, first] = bytes;
    if (tag === undefined || first === undefined) return undefined;
    let at = 2;
    let size = first;
    if (first >= 128) {
        const count = first & 127;
        if (count === 0 || count > 4) return undefined;
        size = 0;
        for (let digit = 0; digit < count; digit++) size = size * 256 + (bytes[at++] ?? NaN);
    }
    if (!(at + size <= bytes.length)) return undefined;
    return { tag, body: bytes.subarray(at, at + size), length: at + size };
}

const VALUES_MAX = 64;

/** The values in a sequence's body, one behind the other. */
export function readAll(body: Uint8Array): Value[] {
    const values: Value[] = [];
    for (let at = 0; at < body.length && values.length < VALUES_MAX; ) {
        const value = readValue(body.subarray(at));
        if (value === undefined) return values;
        values.push(value);
        at += value.length;
    }
    return values;
}

/** A value with `tag` of parts that follow each other. */
export function value(tag: number, ...parts: Uint8Array[]): Buffer {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    const head = size < 128 ? [tag, size] : size < 256 ? [tag, 0x81, size] : size < 65536 ? [tag, 0x82, size >> 8, size & 255] : [tag, 0x83, size >> 16, (size >> 8) & 255, size & 255];
    return Buffer.concat([Buffer.from(head), ...parts]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => value(0x30, ...parts);

/** A number that is not negative, from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start++;
    const digits = bytes.subarray(start);
    return digits.length === 0 ? value(2, Buffer.of(0)) : (digits[0] as number) >= 128 ? value(2, Buffer.of(0), digits) : value(2, digits);
}

/** The digits of a number, without the zero in front. */
export function digits(number: Uint8Array): Uint8Array {
    let start = 0;
    while (start < number.length - 1 && number[start] === 0) start++;
    return number.subarray(start);
}

/** With zeros in front, or without, so that there are `size`. */
export function sized(number: Uint8Array, size: number): Buffer {
    const plain = digits(number);
    return Buffer.concat([Buffer.alloc(Math.max(0, size - plain.length)), plain.subarray(Math.max(0, plain.length - size))]);
}

/** An ECDSA signature in DER from its two halves; undefined if they are of another size. */
export function signatureToDer(raw: Uint8Array, size: number): Buffer | undefined {
    if (raw.length !== size * 2) return undefined;
    return sequence(integer(raw.subarray(0, size)), integer(raw.subarray(size)));
}

/** The two halves of an ECDSA signature in DER. */
export function signatureFromDer(der: Uint8Array, size: number): Buffer {
    const [r, s] = readAll(readValue(der)?.body ?? new Uint8Array(0));
    return Buffer.concat([sized(r?.body ?? new Uint8Array(0), size), sized(s?.body ?? new Uint8Array(0), size)]);
}
