// What the parts of `node:crypto` share: the native functions, and bytes as programs give them.
import { invalidType } from "./coded";

export interface NativeHasher {
    update(data: Uint8Array | string): void;
    digest(): ArrayBuffer;
    hex(): string;
    copy(): NativeHasher;
}
export interface NativeCipher {
    update(data: Uint8Array): ArrayBuffer;
    finish(): ArrayBuffer;
    authenticate(data: Uint8Array): boolean;
    setTag(tag: Uint8Array): void;
    tag(): ArrayBuffer | undefined;
    pad(pads: boolean): void;
}
export interface NativeKey {
    kind(): string;
    bits(): number;
    curve(): string | undefined;
    spki(): ArrayBuffer;
    pkcs8(): ArrayBuffer;
}
type Told<T> = (error: Error | null, value: T) => void;
interface Native {
    hashes: string[];
    ciphers: string[];
    hash(name: string, data: Uint8Array | string, hex: boolean): string | ArrayBuffer | undefined;
    hasher(name: string, length: number): NativeHasher | undefined;
    hmac(name: string, key: Uint8Array): NativeHasher | undefined;
    digestSize(name: string): number;
    cipherInfo(name: string): [number, number, number, number] | undefined;
    cipher(name: string, key: Uint8Array, vector: Uint8Array, encrypts: boolean): NativeCipher;
    pbkdf2(password: Uint8Array, salt: Uint8Array, rounds: number, length: number, digest: string, told?: Told<ArrayBuffer>): ArrayBuffer;
    scrypt(password: Uint8Array, salt: Uint8Array, length: number, costs: number[], told?: Told<ArrayBuffer>): ArrayBuffer;
    hkdf(digest: string, secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number, told?: Told<ArrayBuffer>): ArrayBuffer;
    parseKey(form: string, der: Uint8Array): NativeKey | undefined;
    generateKey(kind: string, curve: string, bits: number, exponent: number, told?: Told<ArrayBuffer>): ArrayBuffer;
    sign(key: NativeKey, digest: string, padding: number, salt: number, data: Uint8Array): ArrayBuffer;
    verify(key: NativeKey, digest: string, padding: number, salt: number, data: Uint8Array, signature: Uint8Array): boolean;
    random(length: number): ArrayBuffer;
    randomLater(length: number, told: Told<ArrayBuffer>): void;
    randomFill(into: Uint8Array): void;
    equal(one: Uint8Array, other: Uint8Array): boolean;
}

export const lib = native("crypto") as Native;

const EXPECTED = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView";

/** The memory of a view or an ArrayBuffer; undefined if it is neither. */
export function memory(value: unknown): Uint8Array | undefined {
    if (value instanceof Uint8Array) return value;
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    return undefined;
}

/** Bytes from what may also be text. */
export function bytesOf(value: unknown, name: string, encoding?: unknown, expected = EXPECTED): Uint8Array {
    if (typeof value === "string") return Buffer.from(value, encoding === undefined || encoding === "buffer" ? "utf8" : (encoding as BufferEncoding));
    const found = memory(value);
    if (found === undefined) throw invalidType(name, expected, value);
    return found;
}

/** A Buffer, or text if an encoding was asked for. */
export function output(bytes: ArrayBuffer, encoding: unknown): Buffer | string {
    const buffer = Buffer.from(bytes);
    return encoding === undefined || encoding === null || encoding === "buffer" ? buffer : buffer.toString(encoding as BufferEncoding);
}
