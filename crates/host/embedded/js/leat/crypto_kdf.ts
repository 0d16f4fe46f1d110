// Keys from passwords, and random numbers.
import { codedRangeError, codedTypeError, invalidType, outOfRange } from "./coded";
import { bytesOf, lib, memory } from "./crypto";
import { codes } from "./errors";
import { validateFunction, validateInt32, validateInteger, validateString, validateObject, validateBoolean } from "./validate";

type Callback<T> = (error: Error | null, value: T) => void;
const INT_MAX = 2147483647;

function checkDigest(digest: unknown): asserts digest is string {
    validateString(digest, "digest");
    if (lib.digestSize(digest) === 0) throw codedTypeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
}

const buffered = (callback: Callback<Buffer>) => (error: Error | null, bytes: ArrayBuffer) => (error ? callback(error, undefined as never) : callback(null, Buffer.from(bytes)));

function checkPbkdf2(password: unknown, salt: unknown, iterations: unknown, length: unknown, digest: unknown): [Uint8Array, Uint8Array, number, number, string] {
    validateString(digest, "digest");
    const [key, with_] = [bytesOf(password, "password"), bytesOf(salt, "salt")];
    validateInt32(iterations, "iterations", 1);
    validateInt32(length, "keylen", 0);
    checkDigest(digest);
    return [key, with_, iterations, length, digest];
}

export function pbkdf2(password: unknown, salt: unknown, iterations: unknown, length: unknown, digest: unknown, callback?: unknown): void {
    if (typeof digest === "function") [callback, digest] = [digest, undefined];
    const given = checkPbkdf2(password, salt, iterations, length, digest);
    validateFunction(callback, "callback");
    lib.pbkdf2(...given, buffered(callback as Callback<Buffer>));
}

export function pbkdf2Sync(password: unknown, salt: unknown, iterations: unknown, length: unknown, digest: unknown): Buffer {
    return Buffer.from(lib.pbkdf2(...checkPbkdf2(password, salt, iterations, length, digest)));
}

type Costs = { N?: number; cost?: number; r?: number; blockSize?: number; p?: number; parallelization?: number; maxmem?: number };

function checkScrypt(password: unknown, salt: unknown, length: unknown, options: Costs | undefined): [Uint8Array, Uint8Array, number, number[]] {
    const [key, with_] = [bytesOf(password, "password"), bytesOf(salt, "salt")];
    validateInt32(length, "keylen", 0);
    const { N, cost, r, blockSize, p, parallelization, maxmem = 32 * 1024 * 1024 } = options ?? {};
    const costs = [N ?? cost ?? 16384, r ?? blockSize ?? 8, p ?? parallelization ?? 1, maxmem];
    const [n = 0, block = 0] = costs;
    if (n < 2 || (n & (n - 1)) !== 0) throw codedRangeError("ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params");
    if (128 * n * block > maxmem) throw codedRangeError("ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params: error:030000AC:digital envelope routines::memory limit exceeded");
    // Node counts what the last step needs too; the library would refuse what Node takes.
    costs[3] = maxmem + 128 * block * (costs[2] as number) + 64 * 1024;
    return [key, with_, length, costs];
}

export function scrypt(password: unknown, salt: unknown, length: unknown, options: unknown, callback?: unknown): void {
    if (callback === undefined) [callback, options] = [options, undefined];
    const given = checkScrypt(password, salt, length, options as Costs | undefined);
    validateFunction(callback, "callback");
    lib.scrypt(...given, buffered(callback as Callback<Buffer>));
}

export function scryptSync(password: unknown, salt: unknown, length: unknown, options?: Costs): Buffer {
    return Buffer.from(lib.scrypt(...checkScrypt(password, salt, length, options)));
}

function checkHkdf(digest: unknown, secret: unknown, salt: unknown, info: unknown, length: unknown): [string, Uint8Array, Uint8Array, Uint8Array, number] {
    validateString(digest, "digest");
    const key = (secret as { secretBytes?: () => Uint8Array } | null | undefined)?.secretBytes?.() ?? bytesOf(secret, "ikm");
    const [with_, about] = [bytesOf(salt, "salt"), bytesOf(info, "info")];
    validateInteger(length, "length", 0, INT_MAX);
    if (about.byteLength > 1024) throw outOfRange("info", "must not contain more than 1024 bytes", about.byteLength);
    checkDigest(digest);
    if (length > lib.digestSize(digest) * 255) throw new codes.ERR_CRYPTO_INVALID_KEYLEN();
    return [digest, key, with_, about, length];
}

export function hkdf(digest: unknown, secret: unknown, salt: unknown, info: unknown, length: unknown, callback: unknown): void {
    const given = checkHkdf(digest, secret, salt, info, length);
    validateFunction(callback, "callback");
    lib.hkdf(...given, callback as Callback<ArrayBuffer>);
}

export const hkdfSync = (digest: unknown, secret: unknown, salt: unknown, info: unknown, length: unknown): ArrayBuffer => lib.hkdf(...checkHkdf(digest, secret, salt, info, length));

function checkSize(size: unknown): asserts size is number {
    if (typeof size !== "number") throw invalidType("size", "of type number", size);
    if (Number.isNaN(size) || size > INT_MAX || size < 0) throw outOfRange("size", `>= 0 && <= ${INT_MAX}`, size);
}

export function randomBytes(size: unknown, callback?: unknown): Buffer | void {
    checkSize(size);
    if (callback === undefined) return Buffer.from(lib.random(size));
    validateFunction(callback, "callback");
    lib.randomLater(size, buffered(callback as Callback<Buffer>));
}

function part(buffer: unknown, offset: unknown, size: unknown): Uint8Array {
    const bytes = memory(buffer);
    if (bytes === undefined) throw invalidType("buf", "an instance of ArrayBuffer or ArrayBufferView", buffer);
    const unit = (buffer as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
    const from = offset === undefined ? 0 : offset;
    if (typeof from !== "number") throw invalidType("offset", "of type number", from);
    if (!(from >= 0) || from * unit > bytes.byteLength) throw outOfRange("offset", `>= 0 && <= ${bytes.byteLength}`, from);
    const length = size === undefined ? bytes.byteLength / unit - from : size;
    if (typeof length !== "number") throw invalidType("size", "of type number", length);
    if (!(length >= 0) || length > INT_MAX) throw outOfRange("size", `>= 0 && <= ${INT_MAX}`, length);
    if ((from + length) * unit > bytes.byteLength) throw outOfRange("size + offset", `<= ${bytes.byteLength}`, (from + length) * unit);
    return bytes.subarray(from * unit, (from + length) * unit);
}

export function randomFillSync<T>(buffer: T, offset?: unknown, size?: unknown): T {
    lib.randomFill(part(buffer, offset, size));
    return buffer;
}

export function randomFill(buffer: unknown, offset: unknown, size?: unknown, callback?: unknown): void {
    if (typeof offset === "function") [callback, offset] = [offset, undefined];
    else if (typeof size === "function") [callback, size] = [size, undefined];
    validateFunction(callback, "callback");
    const into = part(buffer, offset, size);
    lib.randomLater(into.byteLength, (error, bytes) => {
        if (!error) into.set(new Uint8Array(bytes));
        (callback as Callback<unknown>)(error, buffer);
    });
}

const RANGE_MAX = 2 ** 48 - 1;

export function randomInt(min: unknown, max?: unknown, callback?: unknown): number | void {
    const one = max === undefined || typeof max === "function";
    if (one) [callback, max, min] = [max, min, 0];
    if (callback !== undefined) validateFunction(callback, "callback");
    if (!Number.isSafeInteger(min)) throw invalidType("min", "a safe integer", min);
    if (!Number.isSafeInteger(max)) throw invalidType("max", "a safe integer", max);
    const [low, high] = [min as number, max as number];
    if (high <= low) throw outOfRange("max", `greater than the value of "min" (${low})`, high);
    const range = high - low;
    if (range > RANGE_MAX) throw outOfRange(one ? "max" : "max - min", `<= ${RANGE_MAX}`, range);
    // Draws above the last whole multiple of the range would favour small numbers.
    const fair = 2 ** 48 - (2 ** 48 % range);
    let drawn: number;
    do {
        const bytes = new DataView(lib.random(6));
        drawn = bytes.getUint16(0) * 2 ** 32 + bytes.getUint32(2);
    } while (drawn >= fair);
    const value = low + (drawn % range);
    if (callback === undefined) return value;
    process.nextTick(callback as Callback<number>, undefined, value);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function randomUUID(options?: { disableEntropyCache?: boolean }): string {
    if (options !== undefined) validateObject(options, "options");
    if (options?.disableEntropyCache !== undefined) validateBoolean(options.disableEntropyCache, "options.disableEntropyCache");
    const bytes = new Uint8Array(lib.random(16));
    bytes[6] = ((bytes[6] as number) & 15) | 64;
    bytes[8] = ((bytes[8] as number) & 63) | 128;
    let text = "";
    for (let at = 0; at < 16; at++) text += (at === 4 || at === 6 || at === 8 || at === 10 ? "-" : "") + HEX[bytes[at] as number];
    return text;
}

export function timingSafeEqual(one: unknown, other: unknown): boolean {
    const expected = "an instance of ArrayBuffer, Buffer, TypedArray, or DataView";
    const [left, right] = [memory(one), memory(other)];
    if (left === undefined) throw codedTypeError("ERR_INVALID_ARG_TYPE", `The "buf1" argument must be ${expected}.`);
    if (right === undefined) throw codedTypeError("ERR_INVALID_ARG_TYPE", `The "buf2" argument must be ${expected}.`);
    if (left.byteLength !== right.byteLength) throw new codes.ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH();
    return lib.equal(left, right);
}
