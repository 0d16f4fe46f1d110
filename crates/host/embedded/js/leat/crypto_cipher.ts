// Ciphers: AES in the modes CBC, CTR, ECB and GCM.
import type { Transform, TransformOptions } from "node:stream";
import { codedTypeError, invalidType } from "./coded";
import { bytesOf, lib, output, type NativeCipher } from "./crypto";
import { codes } from "./errors";
import { lateStream } from "./late_stream";
import { validateString } from "./validate";

const GCM = 6;
const MODES: Record<number, string> = { 1: "ecb", 2: "cbc", 5: "ctr", 6: "gcm" };
/** OpenSSL's numbers, for keys of 128, 192 and 256 bits. */
const NUMBERS: Record<string, number[]> = { ecb: [418, 422, 426], cbc: [419, 423, 427], ctr: [904, 905, 906], gcm: [895, 898, 901] };
const KEY = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey";
const DATA = "of type string or an instance of Buffer, TypedArray, or DataView";

type Options = TransformOptions & { authTagLength?: number; encoding?: string };

abstract class CipherBase {
    protected native: NativeCipher;
    protected ended = false;
    protected tagLength: number | undefined;
    protected gcm: boolean;
    #decoder: import("node:string_decoder").StringDecoder | undefined;
    #options: Options | undefined;

    constructor(name: unknown, key: unknown, vector: unknown, options: Options | undefined, encrypts: boolean) {
        validateString(name, "cipher");
        const secret = (key as { secretBytes?: () => Uint8Array } | null | undefined)?.secretBytes?.() ?? bytesOf(key, "key", options?.encoding, KEY);
        const start = vector === null ? new Uint8Array(0) : bytesOf(vector, "iv");
        const info = lib.cipherInfo(name);
        if (info === undefined) throw new codes.ERR_CRYPTO_UNKNOWN_CIPHER();
        const [keyLength, vectorLength, , mode] = info;
        if (secret.byteLength !== keyLength) throw new codes.ERR_CRYPTO_INVALID_KEYLEN();
        this.gcm = mode === GCM;
        if (this.gcm ? start.byteLength === 0 : start.byteLength !== vectorLength) throw codedTypeError("ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
        this.tagLength = this.gcm ? options?.authTagLength : undefined;
        if (this.tagLength !== undefined && !validTag(this.tagLength)) throw codedTypeError("ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${this.tagLength}`);
        this.native = lib.cipher(name, secret, start, encrypts);
        this.#options = options;
        for (const hidden of ["native", "ended", "tagLength", "gcm"]) Object.defineProperty(this, hidden, { enumerable: false, writable: true });
    }

    #text(bytes: ArrayBuffer, encoding: unknown, last: boolean): Buffer | string {
        if (encoding === undefined || encoding === null || encoding === "buffer") return output(bytes, undefined);
        if (this.#decoder === undefined) {
            const { StringDecoder } = require("node:string_decoder") as typeof import("node:string_decoder");
            this.#decoder = new StringDecoder(encoding as BufferEncoding);
        }
        const text = this.#decoder.write(Buffer.from(bytes));
        return last ? text + this.#decoder.end() : text;
    }

    update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): Buffer | string {
        if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw invalidType("data", DATA, data);
        if (this.ended) throw new Error("Trying to add data in unsupported state");
        return this.#text(this.native.update(bytesOf(data, "data", inputEncoding)), outputEncoding, false);
    }

    final(outputEncoding?: unknown): Buffer | string {
        if (this.ended) throw codedTypeErrorOfState();
        this.ended = true;
        return this.#text(this.native.finish(), outputEncoding, true);
    }

    setAutoPadding(pads = true): this {
        if (this.ended) throw new codes.ERR_CRYPTO_INVALID_STATE("setAutoPadding");
        this.native.pad(Boolean(pads));
        return this;
    }

    setAAD(data: unknown, options?: { encoding?: string }): this {
        if (!this.gcm || !this.native.authenticate(bytesOf(data, "buffer", options?.encoding))) throw new codes.ERR_CRYPTO_INVALID_STATE("setAAD");
        return this;
    }

    static stream(cipher: CipherBase): Transform {
        const { Transform } = require("node:stream") as typeof import("node:stream");
        return new Transform({
            ...cipher.#options,
            transform(chunk: Uint8Array | string, encoding, next) {
                next(null, cipher.update(chunk, encoding));
            },
            flush(next) {
                try {
                    next(null, cipher.final());
                } catch (error) {
                    next(error as Error);
                }
            },
        });
    }
}
lateStream<CipherBase>(CipherBase.prototype, CipherBase.stream);

/** Of `final` called again. */
function codedTypeErrorOfState(): Error {
    const error = new codes.ERR_CRYPTO_INVALID_STATE("final");
    error.message = "Invalid state";
    return error;
}

const validTag = (length: number): boolean => length === 4 || length === 8 || (length >= 12 && length <= 16);

export class Cipheriv extends CipherBase {
    constructor(name: unknown, key: unknown, vector: unknown, options?: Options) {
        super(name, key, vector, options, true);
    }

    getAuthTag(): Buffer {
        const tag = this.gcm ? this.native.tag() : undefined;
        if (tag === undefined) throw new codes.ERR_CRYPTO_INVALID_STATE("getAuthTag");
        return Buffer.from(tag).subarray(0, this.tagLength ?? 16);
    }
}

export class Decipheriv extends CipherBase {
    #tagged = false;

    constructor(name: unknown, key: unknown, vector: unknown, options?: Options) {
        super(name, key, vector, options, false);
    }

    setAuthTag(tag: unknown, encoding?: unknown): this {
        const bytes = bytesOf(tag, "buffer", encoding);
        if (!this.gcm || this.ended || this.#tagged) throw new codes.ERR_CRYPTO_INVALID_STATE("setAuthTag");
        if (this.tagLength === undefined ? !validTag(bytes.byteLength) : bytes.byteLength !== this.tagLength) throw codedTypeError("ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${bytes.byteLength}`);
        this.#tagged = true;
        this.native.setTag(bytes);
        return this;
    }

    override final(outputEncoding?: unknown): Buffer | string {
        if (this.gcm && !this.#tagged && !this.ended) throw new Error("Unsupported state or unable to authenticate data");
        return super.final(outputEncoding);
    }
}

export function getCipherInfo(name: unknown, options?: { keyLength?: number; ivLength?: number }): object | undefined {
    validateString(name, "nameOrNid");
    const info = lib.cipherInfo(name);
    if (info === undefined) return undefined;
    const [keyLength, ivLength, blockSize, mode] = info;
    if (options?.keyLength !== undefined && options.keyLength !== keyLength) return undefined;
    if (options?.ivLength !== undefined && options.ivLength !== ivLength && mode !== GCM) return undefined;
    const known = MODES[mode] ?? "stream";
    return { mode: known, name: known === "gcm" ? `id-${name.toLowerCase().replace("aes-", "aes").replace("id-", "")}` : name.toLowerCase(), nid: NUMBERS[known]?.[(keyLength - 16) / 8], blockSize, ...(ivLength > 0 ? { ivLength: options?.ivLength ?? ivLength } : {}), keyLength };
}

