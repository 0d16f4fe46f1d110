// Hash and Hmac.
import type { Transform, TransformOptions } from "node:stream";
import { codedError, codedTypeError, invalidType } from "./coded";
import { bytesOf, lib, memory, output, type NativeHasher } from "./crypto";
import { codes } from "./errors";
import { lateStream } from "./late_stream";
import { validateString } from "./validate";

const DATA = "of type string or an instance of Buffer, TypedArray, or DataView";

/** Text as UTF-8 and bytes as they are; other encodings are translated. */
function data(value: unknown, encoding: unknown): Uint8Array | string {
    if (typeof value === "string") return encoding === undefined || encoding === "utf8" || encoding === "utf-8" || encoding === "buffer" ? value : Buffer.from(value, encoding as BufferEncoding);
    if (value instanceof Uint8Array) return value;
    const found = ArrayBuffer.isView(value) ? memory(value) : undefined;
    if (found === undefined) throw invalidType("data", DATA, value);
    return found;
}

abstract class Digest {
    readonly #native: NativeHasher;
    readonly #options: TransformOptions | undefined;
    #done = false;
    #result: ArrayBuffer | undefined;

    constructor(native: NativeHasher, options: TransformOptions | undefined) {
        this.#native = native;
        this.#options = options;
    }

    update(value: unknown, encoding?: unknown): this {
        if (this.#done) throw new codes.ERR_CRYPTO_HASH_FINALIZED();
        this.#native.update(data(value, encoding));
        return this;
    }

    digest(encoding?: unknown): Buffer | string {
        if (this.#done) return this.again(encoding);
        this.#done = true;
        if (encoding === "hex" && this.#result === undefined) return this.#native.hex();
        return output(this.#bytes(), encoding);
    }

    /** What comes of a digest that was given before. */
    protected abstract again(encoding: unknown): Buffer | string;

    protected copied(): NativeHasher {
        if (this.#done) throw new codes.ERR_CRYPTO_HASH_FINALIZED();
        return this.#native.copy();
    }

    #bytes(): ArrayBuffer {
        return (this.#result ??= this.#native.digest());
    }

    /** Its stream: what is written is hashed, what is read is the digest. */
    static stream(hash: Digest): Transform {
        const { Transform } = require("node:stream") as typeof import("node:stream");
        return new Transform({
            ...hash.#options,
            transform(chunk: Uint8Array | string, encoding, next) {
                hash.#native.update(data(chunk, encoding));
                next();
            },
            flush(next) {
                this.push(Buffer.from(hash.#bytes()));
                next();
            },
        });
    }
}
lateStream<Digest>(Digest.prototype, Digest.stream);

export class Hash extends Digest {
    constructor(algorithm: unknown, options?: TransformOptions & { outputLength?: number }, copied?: NativeHasher) {
        if (copied === undefined) validateString(algorithm, "algorithm");
        const native = copied ?? lib.hasher(algorithm as string, options?.outputLength ?? -1);
        if (native === undefined) throw new Error("Digest method not supported");
        super(native, options);
    }

    protected override again(): never {
        throw new codes.ERR_CRYPTO_HASH_FINALIZED();
    }

    copy(options?: TransformOptions): Hash {
        return new Hash("", options, this.copied());
    }
}

const KEY = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey";

export class Hmac extends Digest {
    constructor(algorithm: unknown, key: unknown, options?: TransformOptions & { encoding?: string }) {
        validateString(algorithm, "hmac");
        const secret = (key as { secretBytes?: () => Uint8Array } | null | undefined)?.secretBytes?.() ?? bytesOf(key, "key", options?.encoding, KEY);
        const native = lib.hmac(algorithm, secret);
        if (native === undefined) throw codedTypeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
        super(native, options);
    }

    /** As in Node: nothing. */
    protected override again(encoding: unknown): Buffer | string {
        return encoding === undefined || encoding === "buffer" ? Buffer.alloc(0) : "";
    }
}

/** One digest, without an object for it. */
export function hash(algorithm: unknown, input: unknown, encoding: unknown = "hex"): Buffer | string {
    validateString(algorithm, "algorithm");
    const bytes = typeof input === "string" ? input : ArrayBuffer.isView(input) ? memory(input) : undefined;
    if (bytes === undefined) throw invalidType("input", DATA, input);
    const made = lib.hash(algorithm, bytes, encoding === "hex");
    if (made === undefined) throw codedError("ERR_OSSL_EVP_UNSUPPORTED", "error:0308010C:digital envelope routines::unsupported");
    return typeof made === "string" ? made : output(made, encoding);
}
