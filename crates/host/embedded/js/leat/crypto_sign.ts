// Signatures: RSA (PKCS #1 v1.5 and PSS), ECDSA and Ed25519.
import { codedError, codedTypeError } from "./coded";
import { bytesOf, lib, type NativeKey } from "./crypto";
import { CURVES } from "./crypto_jwk";
import { signingKey, verifyingKey } from "./crypto_keys";
import { signatureFromDer, signatureToDer } from "./der";
import { codes } from "./errors";
import { lateStream } from "./late_stream";
import { validateFunction, validateString } from "./validate";

type Options = { padding?: number; saltLength?: number; dsaEncoding?: string };
const PSS = 6;
/** OpenSSL's number for «found out when it is verified». */
const SALT_AUTO = -2;
const SALT_DIGEST = -1;

const digestName = (name: string): string => name.replace(/^(rsa-|ecdsa-with-)/i, "").replace(/^(sha\d+)withrsaencryption$/i, "$1");

function settings(key: NativeKey, options: unknown): [number, number, number | undefined] {
    const { padding = 0, saltLength, dsaEncoding = "der" } = (typeof options === "object" && options !== null && !ArrayBuffer.isView(options) ? options : {}) as Options;
    const kind = key.kind();
    if (dsaEncoding !== "der" && dsaEncoding !== "ieee-p1363") throw new codes.ERR_INVALID_ARG_VALUE("options.dsaEncoding", dsaEncoding);
    const raw = kind === "ec" && dsaEncoding === "ieee-p1363" ? CURVES.find(({ name }) => name === key.curve())?.size : undefined;
    if (kind === "rsa-pss" || (kind === "rsa" && padding === PSS)) return [PSS, saltLength ?? SALT_AUTO, raw];
    return [0, SALT_DIGEST, raw];
}

function signature(digest: string, data: Uint8Array, input: unknown): Buffer {
    const key = signingKey(input);
    const [padding, salt, raw] = settings(key, input);
    const made = lib.sign(key, digest, padding, salt, data);
    return raw === undefined ? Buffer.from(made) : signatureFromDer(new Uint8Array(made), raw);
}

function verified(digest: string, data: Uint8Array, input: unknown, given: Uint8Array): boolean {
    const key = verifyingKey(input);
    const [padding, salt, raw] = settings(key, input);
    const der = raw === undefined ? given : signatureToDer(given, raw);
    return der !== undefined && lib.verify(key, digest, padding, salt, data, der);
}

abstract class Signer {
    readonly #parts: Uint8Array[] = [];
    protected readonly digest: string;

    constructor(algorithm: unknown) {
        validateString(algorithm, "algorithm");
        this.digest = digestName(algorithm);
        if (lib.digestSize(this.digest) === 0) throw codedTypeError("ERR_CRYPTO_INVALID_DIGEST", "Invalid digest");
    }

    update(data: unknown, encoding?: unknown): this {
        const bytes = bytesOf(data, "data", encoding, "of type string or an instance of Buffer, TypedArray, or DataView");
        this.#parts.push(typeof data === "string" ? bytes : new Uint8Array(bytes));
        return this;
    }

    protected data(): Uint8Array {
        return Buffer.concat(this.#parts);
    }
}
lateStream<Signer>(Signer.prototype, (signer) => {
    const { Writable } = require("node:stream") as typeof import("node:stream");
    const stream = new Writable({
        write(chunk: Uint8Array | string, encoding, next) {
            signer.update(chunk, encoding);
            next();
        },
    });
    return stream as unknown as import("node:stream").Transform;
});

export class Sign extends Signer {
    sign(key: unknown, encoding?: unknown): Buffer | string {
        if (key === undefined || key === null) throw codedError("ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
        const made = signature(this.digest, this.data(), key);
        return encoding === undefined || encoding === null || encoding === "buffer" ? made : made.toString(encoding as BufferEncoding);
    }
}

export class Verify extends Signer {
    verify(key: unknown, given: unknown, encoding?: unknown): boolean {
        return verified(this.digest, this.data(), key, bytesOf(given, "signature", encoding, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView"));
    }
}

export const createSign = (algorithm: unknown): Sign => new Sign(algorithm);
export const createVerify = (algorithm: unknown): Verify => new Verify(algorithm);

function oneShot(algorithm: unknown): string {
    if (algorithm === null || algorithm === undefined) return "";
    validateString(algorithm, "algorithm");
    const digest = digestName(algorithm);
    if (lib.digestSize(digest) === 0) throw codedTypeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
    return digest;
}

/** RSA and EC have a digest of their own if none is named; Ed25519 never has one. */
function digestFor(algorithm: unknown, key: unknown, find: (key: unknown) => NativeKey): string {
    const digest = oneShot(algorithm);
    return digest === "" && !/25519$/.test(find(key).kind()) ? "sha256" : digest;
}

export function sign(algorithm: unknown, data: unknown, key: unknown, callback?: unknown): Buffer | void {
    if (callback !== undefined) validateFunction(callback, "callback");
    if (key === undefined || key === null) throw codedError("ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    const bytes = bytesOf(data, "data", undefined, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView");
    const made = signature(digestFor(algorithm, key, signingKey), bytes, key);
    if (callback === undefined) return made;
    process.nextTick(callback as () => void, null, made);
}

export function verify(algorithm: unknown, data: unknown, key: unknown, given: unknown, callback?: unknown): boolean | void {
    if (callback !== undefined) validateFunction(callback, "callback");
    const expected = "an instance of ArrayBuffer, Buffer, TypedArray, or DataView";
    const bytes = bytesOf(data, "data", undefined, expected);
    const right = verified(digestFor(algorithm, key, verifyingKey), bytes, key, bytesOf(given, "signature", undefined, expected));
    if (callback === undefined) return right;
    process.nextTick(callback as () => void, null, right);
}

