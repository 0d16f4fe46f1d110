// `crypto.webcrypto`: random numbers and what `subtle` is asked for most: digests, HMAC, AES-GCM and -CBC, RSA, ECDSA, Ed25519,
// PBKDF2 and HKDF. Anything else is refused by name.
import { missing } from "./coded";
import { lib, memory, type NativeCipher } from "./crypto";
import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from "./crypto_keys";
import { randomUUID } from "./crypto_kdf";
import { sign as signWith, verify as verifyWith } from "./crypto_sign";

type Algorithm = Record<string, unknown> & { name: string };
type Format = "raw" | "pkcs8" | "spki" | "jwk";
type Source = ArrayBuffer | ArrayBufferView;

const RANDOM_BYTES_MAX = 65536;

function domError(message: string, name: string): Error {
    const Maker = (globalThis as { DOMException?: new (message: string, name: string) => Error }).DOMException;
    if (Maker !== undefined) return new Maker(message, name);
    const error = new Error(message);
    error.name = name;
    return error;
}

const INTEGERS = new Set(["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array"]);
const nameOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as (this: unknown) => string | undefined;

export function getRandomValues<T>(array: T): T {
    if (!INTEGERS.has(nameOf.call(array) ?? "")) throw domError("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    const bytes = memory(array) as Uint8Array;
    if (bytes.byteLength > RANDOM_BYTES_MAX) throw domError("The requested length exceeds 65,536 bytes", "QuotaExceededError");
    lib.randomFill(bytes);
    return array;
}

const bytes = (source: unknown): Uint8Array => {
    const found = memory(source);
    if (found === undefined) throw new TypeError("The provided value is not of type '(ArrayBuffer or ArrayBufferView)'");
    return found;
};

function normal(algorithm: unknown): Algorithm {
    const given = (typeof algorithm === "string" ? { name: algorithm } : { ...(algorithm as object) }) as Algorithm;
    given.name = String(given.name).toUpperCase().replace("ED25519", "Ed25519").replace("RSASSA-PKCS1-V1_5", "RSASSA-PKCS1-v1_5");
    return given;
}

/** `SHA-256` as the library has it. */
function digestOf(hash: unknown): string {
    const name = String((hash as Algorithm | undefined)?.name ?? hash).toUpperCase();
    if (!/^SHA-(1|256|384|512)$/.test(name)) throw domError("Unrecognized name.", "NotSupportedError");
    return name.replace("-", "").toLowerCase();
}
const hashName = (hash: unknown): { name: string } => ({ name: String((hash as Algorithm | undefined)?.name ?? hash).toUpperCase() });
const refused = (what: string): Error => missing(`crypto.subtle for ${what}`);

export class CryptoKey {
    readonly type: string;
    readonly extractable: boolean;
    readonly algorithm: Algorithm;
    readonly usages: string[];
    readonly keyObject!: KeyObject;

    constructor(key: KeyObject, algorithm: Algorithm, extractable: boolean, usages: string[]) {
        this.type = key.type;
        this.extractable = extractable;
        this.algorithm = algorithm;
        this.usages = usages;
        Object.defineProperty(this, "keyObject", { value: key, enumerable: false });
    }
}

function allow(key: CryptoKey, usage: string): void {
    if (!key.usages.includes(usage)) throw domError(`Unable to use this key to ${usage}`, "InvalidAccessError");
}

const buffer = (made: Uint8Array): ArrayBuffer => made.slice().buffer as ArrayBuffer;
const SIGNS = /^(RSASSA-PKCS1-v1_5|RSA-PSS|ECDSA|Ed25519)$/;

/** What `sign` and `verify` of `node:crypto` are given for a web key. */
function way(algorithm: Algorithm, key: CryptoKey): [string | null, object] {
    switch (algorithm.name) {
        case "RSASSA-PKCS1-v1_5":
            return [digestOf(key.algorithm["hash"]), { key: key.keyObject }];
        case "RSA-PSS":
            return [digestOf(key.algorithm["hash"]), { key: key.keyObject, padding: 6, saltLength: algorithm["saltLength"] }];
        case "ECDSA":
            return [digestOf(algorithm["hash"]), { key: key.keyObject, dsaEncoding: "ieee-p1363" }];
        default:
            return [null, { key: key.keyObject }];
    }
}

function mac(key: CryptoKey, data: Uint8Array): Uint8Array {
    const hasher = lib.hmac(digestOf(key.algorithm["hash"]), key.keyObject.secretBytes());
    if (hasher === undefined) throw refused("this hash");
    hasher.update(data);
    return new Uint8Array(hasher.digest());
}

function aes(algorithm: Algorithm, key: CryptoKey, encrypts: boolean): NativeCipher {
    const mode = algorithm.name.replace("AES-", "").toLowerCase();
    if (!/^(gcm|cbc)$/.test(mode)) throw refused(algorithm.name);
    const secret = key.keyObject.secretBytes();
    const cipher = lib.cipher(`aes-${secret.byteLength * 8}-${mode}`, secret, bytes(algorithm["iv"]), encrypts);
    if (mode === "gcm" && algorithm["additionalData"] !== undefined) cipher.authenticate(bytes(algorithm["additionalData"]));
    return cipher;
}

function imported(format: Format, data: unknown, algorithm: Algorithm): KeyObject {
    if (format === "raw") {
        if (SIGNS.test(algorithm.name)) throw refused("raw public keys");
        return createSecretKey(bytes(data));
    }
    if (format === "pkcs8") return createPrivateKey({ key: bytes(data), format: "der", type: "pkcs8" });
    if (format === "spki") return createPublicKey({ key: bytes(data), format: "der", type: "spki" });
    const jwk = data as Record<string, string>;
    if (jwk["kty"] === "oct") return createSecretKey(Buffer.from(jwk["k"] ?? "", "base64url"));
    return "d" in jwk ? createPrivateKey({ key: jwk, format: "jwk" }) : createPublicKey({ key: jwk, format: "jwk" });
}

/** The algorithm as keys show it. */
function described(algorithm: Algorithm, key: KeyObject): Algorithm {
    const { name } = algorithm;
    if (name === "HMAC") return { name, length: (key.symmetricKeySize ?? 0) * 8, hash: hashName(algorithm["hash"]) };
    if (name.startsWith("AES-")) return { name, length: (key.symmetricKeySize ?? 0) * 8 };
    if (name === "ECDSA") return { name, namedCurve: algorithm["namedCurve"] };
    if (name.startsWith("RSA")) {
        const { modulusLength, publicExponent } = key.asymmetricKeyDetails as { modulusLength: number; publicExponent: bigint };
        const hex = publicExponent.toString(16);
        return { name, modulusLength, publicExponent: new Uint8Array(Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex")), hash: hashName(algorithm["hash"]) };
    }
    return { name };
}

async function derived(algorithm: Algorithm, base: CryptoKey, bits: number): Promise<ArrayBuffer> {
    const secret = base.keyObject.secretBytes();
    return await new Promise((resolve, reject) => {
        const told = (error: Error | null, made: ArrayBuffer): void => (error ? reject(error) : resolve(made));
        if (algorithm.name === "PBKDF2") lib.pbkdf2(secret, bytes(algorithm["salt"]), Number(algorithm["iterations"]), bits >> 3, digestOf(algorithm["hash"]), told);
        else if (algorithm.name === "HKDF") lib.hkdf(digestOf(algorithm["hash"]), secret, bytes(algorithm["salt"]), bytes(algorithm["info"]), bits >> 3, told);
        else reject(refused(algorithm.name));
    });
}

export class SubtleCrypto {
    async digest(algorithm: unknown, data: Source): Promise<ArrayBuffer> {
        return lib.hash(digestOf(normal(algorithm)), bytes(data), false) as ArrayBuffer;
    }

    async sign(algorithm: unknown, key: CryptoKey, data: Source): Promise<ArrayBuffer> {
        const given = normal(algorithm);
        allow(key, "sign");
        if (given.name === "HMAC") return buffer(mac(key, bytes(data)));
        if (!SIGNS.test(given.name)) throw refused(given.name);
        const [digest, options] = way(given, key);
        return buffer(signWith(digest, bytes(data), options) as Buffer);
    }

    async verify(algorithm: unknown, key: CryptoKey, signature: Source, data: Source): Promise<boolean> {
        const given = normal(algorithm);
        allow(key, "verify");
        if (given.name === "HMAC") {
            const [right, told] = [mac(key, bytes(data)), bytes(signature)];
            return right.byteLength === told.byteLength && lib.equal(right, told);
        }
        if (!SIGNS.test(given.name)) throw refused(given.name);
        const [digest, options] = way(given, key);
        return verifyWith(digest, bytes(data), options, bytes(signature)) as boolean;
    }

    async encrypt(algorithm: unknown, key: CryptoKey, data: Source): Promise<ArrayBuffer> {
        allow(key, "encrypt");
        const cipher = aes(normal(algorithm), key, true);
        const parts = [Buffer.from(cipher.update(bytes(data))), Buffer.from(cipher.finish())];
        const tag = cipher.tag();
        if (tag !== undefined) parts.push(Buffer.from(tag));
        return buffer(Buffer.concat(parts));
    }

    async decrypt(algorithm: unknown, key: CryptoKey, data: Source): Promise<ArrayBuffer> {
        allow(key, "decrypt");
        const given = normal(algorithm);
        const cipher = aes(given, key, false);
        let from = bytes(data);
        try {
            if (given.name === "AES-GCM") {
                cipher.setTag(from.subarray(-16));
                from = from.subarray(0, -16);
            }
            return buffer(Buffer.concat([Buffer.from(cipher.update(from)), Buffer.from(cipher.finish())]));
        } catch {
            throw domError("The operation failed for an operation-specific reason", "OperationError");
        }
    }

    async importKey(format: Format, data: unknown, algorithm: unknown, extractable: boolean, usages: string[]): Promise<CryptoKey> {
        const given = normal(algorithm);
        const key = imported(format, data, given);
        return new CryptoKey(key, described(given, key), extractable, [...usages]);
    }

    async exportKey(format: Format, key: CryptoKey): Promise<unknown> {
        if (!key.extractable) throw domError("key is not extractable", "InvalidAccessException");
        if (format === "jwk") return { ...(key.keyObject.export({ format: "jwk" }) as object), key_ops: key.usages, ext: true };
        if (format === "raw") return buffer(key.keyObject.secretBytes());
        return buffer(key.keyObject.export({ format: "der", type: format }) as Buffer);
    }

    async generateKey(algorithm: unknown, extractable: boolean, usages: string[]): Promise<unknown> {
        const given = normal(algorithm);
        if (given.name === "HMAC" || given.name.startsWith("AES-")) {
            const length = Number(given["length"] ?? { sha1: 512, sha256: 512, sha384: 1024, sha512: 1024 }[digestOf(given["hash"])]);
            const key = createSecretKey(new Uint8Array(lib.random(length >> 3)));
            return new CryptoKey(key, described(given, key), extractable, [...usages]);
        }
        if (!SIGNS.test(given.name)) throw refused(given.name);
        const kind = given.name === "ECDSA" ? "ec" : given.name === "Ed25519" ? "ed25519" : "rsa";
        const pair = generateKeyPairSync(kind, { namedCurve: String(given["namedCurve"] ?? ""), modulusLength: Number(given["modulusLength"] ?? 0) });
        const [privateKey, publicKey] = [pair.privateKey as KeyObject, pair.publicKey as KeyObject];
        const of = (key: KeyObject, able: boolean, usage: string): CryptoKey => new CryptoKey(key, described(given, key), able, usages.filter((one) => one === usage));
        return { publicKey: of(publicKey, true, "verify"), privateKey: of(privateKey, extractable, "sign") };
    }

    async deriveBits(algorithm: unknown, base: CryptoKey, length: number): Promise<ArrayBuffer> {
        allow(base, "deriveBits");
        return await derived(normal(algorithm), base, length);
    }

    async deriveKey(algorithm: unknown, base: CryptoKey, wanted: unknown, extractable: boolean, usages: string[]): Promise<CryptoKey> {
        allow(base, "deriveKey");
        const target = normal(wanted);
        const secret = await derived(normal(algorithm), base, Number(target["length"] ?? 256));
        return await this.importKey("raw", secret, target, extractable, usages);
    }

    async wrapKey(): Promise<never> {
        throw refused("wrapKey");
    }
    async unwrapKey(): Promise<never> {
        throw refused("unwrapKey");
    }
}

// Programs tell what these are by their names.
for (const [Class, name] of [[CryptoKey, "CryptoKey"], [SubtleCrypto, "SubtleCrypto"]] as const) Object.defineProperty(Class.prototype, Symbol.toStringTag, { configurable: true, value: name });

export const subtle = new SubtleCrypto();

export class Crypto {
    get subtle(): SubtleCrypto {
        return subtle;
    }
    getRandomValues<T>(array: T): T {
        return getRandomValues(array);
    }
    randomUUID(): string {
        return randomUUID();
    }
}

Object.defineProperty(Crypto.prototype, Symbol.toStringTag, { configurable: true, value: "Crypto" });
export const webcrypto = new Crypto();
Object.defineProperty(webcrypto, "CryptoKey", { value: CryptoKey, configurable: true, writable: true, enumerable: false });
