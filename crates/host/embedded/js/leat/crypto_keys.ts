// KeyObject, and keys from PEM, DER and JWK.
import { codedError, codedTypeError, invalidType, invalidValue, missing } from "./coded";
import { bytesOf, lib, memory, type NativeKey } from "./crypto";
import { certificateKey, fromJwk, privateJwk, publicJwk, type Jwk } from "./crypto_jwk";
import { codes } from "./errors";
import { readAll, readValue, value } from "./der";
import { validateFunction, validateInteger, validateString } from "./validate";

type Type = "secret" | "public" | "private";
type Form = { format?: string; type?: string; cipher?: string; passphrase?: unknown; encoding?: string };

const made = Symbol("made");
const unsupported = (): Error => codedError("ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported");

/** A key of any kind. */
export class KeyObject {
    readonly #type: Type;
    readonly #secret: Uint8Array | undefined;
    readonly #key: NativeKey | undefined;

    constructor(type: Type, handle: Uint8Array | NativeKey, by?: symbol) {
        if (by !== made) throw invalidValue("type", type);
        this.#type = type;
        if (handle instanceof Uint8Array) this.#secret = handle;
        else this.#key = handle;
    }

    static from(key: unknown): KeyObject {
        const inner = (key as { keyObject?: KeyObject } | null)?.keyObject;
        if (inner === undefined) throw invalidType("key", "an instance of CryptoKey", key);
        return inner;
    }

    get type(): Type {
        return this.#type;
    }
    get symmetricKeySize(): number | undefined {
        return this.#secret?.byteLength;
    }
    get asymmetricKeyType(): string | undefined {
        return this.#key?.kind();
    }
    get asymmetricKeyDetails(): object | undefined {
        if (this.#key === undefined) return undefined;
        const kind = this.#key.kind();
        if (kind === "ec") return { namedCurve: this.#key.curve() };
        if (!kind.startsWith("rsa")) return {};
        const { e = "" } = publicJwk(new Uint8Array(this.#key.spki()));
        return { modulusLength: this.#key.bits(), publicExponent: BigInt(`0x${Buffer.from(e, "base64url").toString("hex")}`) };
    }

    /** For ciphers and HMACs: the bytes of a secret key. */
    secretBytes(): Uint8Array {
        if (this.#secret === undefined) throw codedTypeError("ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${this.#type}, expected secret.`);
        return this.#secret;
    }
    /** For signatures. */
    nativeKey(wanted: "public" | "private"): NativeKey {
        if (this.#key === undefined || (wanted === "private" && this.#type !== "private")) throw codedTypeError("ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${this.#type}, expected ${wanted === "private" ? "private" : "private or public"}.`);
        return this.#key;
    }

    equals(other: unknown): boolean {
        if (!(other instanceof KeyObject)) throw invalidType("otherKeyObject", "an instance of KeyObject", other);
        if (other.type !== this.#type) return false;
        if (this.#secret !== undefined) return this.#secret.byteLength === other.secretBytes().byteLength && lib.equal(this.#secret, other.secretBytes());
        return Buffer.from(this.nativeKey("public").spki()).equals(Buffer.from(other.nativeKey("public").spki()));
    }

    export(options: Form = {}): Buffer | string | Jwk {
        if (options.format === "jwk") return this.#toJwk();
        if (this.#secret !== undefined) return Buffer.from(this.#secret);
        const { type = this.#type === "public" ? "spki" : "pkcs8", format = "pem", cipher } = options;
        if (cipher !== undefined) throw missing("encrypted private keys");
        const [der, label] = this.#toDer(type);
        if (format === "der") return der;
        if (format !== "pem") throw invalidValue("options.format", format);
        return `-----BEGIN ${label}-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
    }

    #toDer(type: string): [Buffer, string] {
        const key = this.nativeKey(this.#type === "private" ? "private" : "public");
        if (this.#type === "public") {
            const der = Buffer.from(key.spki());
            if (type === "spki") return [der, "PUBLIC KEY"];
            if (type === "pkcs1" && key.kind() === "rsa") return [Buffer.from(readAll(readValue(der)?.body ?? der)[1]?.body.subarray(1) ?? der), "RSA PUBLIC KEY"];
        } else {
            const der = Buffer.from(key.pkcs8());
            if (type === "pkcs8") return [der, "PRIVATE KEY"];
            const inner = Buffer.from(readAll(readValue(der)?.body ?? der)[2]?.body ?? der);
            if (type === "pkcs1" && key.kind() === "rsa") return [inner, "RSA PRIVATE KEY"];
            if (type === "sec1" && key.kind() === "ec") return [withCurve(der, inner), "EC PRIVATE KEY"];
        }
        throw invalidValue("options.type", type);
    }

    #toJwk(): Jwk {
        if (this.#secret !== undefined) return { kty: "oct", k: Buffer.from(this.#secret).toString("base64url") };
        const key = this.nativeKey("public");
        const spki = new Uint8Array(key.spki());
        return this.#type === "public" ? publicJwk(spki) : privateJwk(new Uint8Array(key.pkcs8()), spki);
    }

    get [Symbol.toStringTag](): string {
        return "KeyObject";
    }
}

/** PKCS #8 names the curve outside of the key, SEC 1 inside. */
function withCurve(pkcs8: Uint8Array, inner: Uint8Array): Buffer {
    const algorithm = readAll(readValue(pkcs8)?.body ?? pkcs8)[1];
    const curve = readAll(algorithm?.body ?? inner)[1];
    const parts = readAll(readValue(inner)?.body ?? inner);
    if (curve === undefined || parts.some(({ tag }) => tag === 0xa0)) return Buffer.from(inner);
    const again = parts.map(({ tag, body }) => value(tag, body));
    again.splice(2, 0, value(0xa0, value(6, curve.body)));
    return value(0x30, ...again);
}

/** DER and its form, by the label of PEM. */
const LABELS: Record<string, [string, Type]> = {
    "PRIVATE KEY": ["pkcs8", "private"],
    "RSA PRIVATE KEY": ["pkcs1", "private"],
    "EC PRIVATE KEY": ["sec1", "private"],
    "PUBLIC KEY": ["spki", "public"],
    "RSA PUBLIC KEY": ["pkcs1-public", "public"],
    CERTIFICATE: ["certificate", "public"],
};

function fromPem(text: string): [NativeKey, Type] {
    for (const [, label = "", body = ""] of text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g)) {
        if (label === "ENCRYPTED PRIVATE KEY" || body.includes("ENCRYPTED")) throw missing("encrypted private keys", "decrypt the key first (openssl pkcs8 -in KEY -out PLAIN)");
        const known = LABELS[label];
        if (known === undefined) continue;
        const der = Buffer.from(body, "base64");
        const bytes = known[0] === "certificate" ? certificateKey(der) : der;
        const key = bytes === undefined ? undefined : lib.parseKey(known[0] === "certificate" ? "spki" : known[0], bytes);
        if (key !== undefined) return [key, known[1]];
    }
    throw unsupported();
}

function parse(input: unknown, wanted: "public" | "private"): [NativeKey, Type] {
    let form: Form = {};
    let key = input;
    if (key instanceof KeyObject) return [key.nativeKey(wanted), key.type];
    if (typeof key === "object" && key !== null && memory(key) === undefined && "key" in key) {
        form = key as Form;
        key = (key as { key: unknown }).key;
        if (key instanceof KeyObject) return [key.nativeKey(wanted), key.type];
    }
    const inner = (key as { keyObject?: KeyObject } | null | undefined)?.keyObject;
    if (inner !== undefined) return [inner.nativeKey(wanted), inner.type];
    if (form.format === "jwk") {
        if (typeof key !== "object" || key === null) throw invalidType("key.key", "of type object", key);
        const { form: name, der } = fromJwk(key as Jwk, wanted);
        const parsed = lib.parseKey(name, der);
        if (parsed === undefined) throw codedTypeError("ERR_CRYPTO_INVALID_JWK", "Invalid JWK data");
        return [parsed, wanted];
    }
    const bytes = bytesOf(key, "key", form.encoding, "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey");
    if (form.format !== "der") return fromPem(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    const forms = wanted === "private" ? [form.type ?? "pkcs8"] : form.type === "pkcs1" ? ["pkcs1-public", "pkcs1"] : [form.type ?? "spki"];
    for (const name of forms) {
        const parsed = lib.parseKey(name, bytes);
        if (parsed !== undefined) return [parsed, name === "spki" || name === "pkcs1-public" ? "public" : "private"];
    }
    throw unsupported();
}

/** The key of a signature, in any form that programs may give. */
export function signingKey(input: unknown): NativeKey {
    const [key, type] = parse(input, "private");
    if (type !== "private") throw unsupported();
    return key;
}
export const verifyingKey = (input: unknown): NativeKey => parse(input, "public")[0];

export function createPrivateKey(input: unknown): KeyObject {
    if (input instanceof KeyObject) throw invalidType("key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", input);
    return new KeyObject("private", signingKey(input), made);
}

export function createPublicKey(input: unknown): KeyObject {
    if (input instanceof KeyObject && input.type !== "private") throw codedTypeError("ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${input.type}, expected private.`);
    const key = verifyingKey(input);
    return new KeyObject("public", lib.parseKey("spki", new Uint8Array(key.spki())) ?? key, made);
}

export function createSecretKey(key: unknown, encoding?: string): KeyObject {
    const bytes = bytesOf(key, "key", encoding);
    return new KeyObject("secret", new Uint8Array(bytes), made);
}

type Generated = { publicKey: unknown; privateKey: unknown };
type Wanted = { modulusLength?: number; publicExponent?: number; namedCurve?: string; publicKeyEncoding?: Form; privateKeyEncoding?: Form };

function begin(kind: unknown, options: Wanted | undefined): [string, string, number, number] {
    validateString(kind, "type");
    const { modulusLength = 0, publicExponent = 65537, namedCurve = "" } = options ?? {};
    if (kind === "rsa") validateInteger(modulusLength, "options.modulusLength", 0, 16384);
    if (kind === "ec") validateString(options?.namedCurve, "options.namedCurve");
    if (!/^(rsa|ec|ed25519|x25519)$/.test(kind)) throw missing(`keys of type ${kind}`);
    const curve = { "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1" }[namedCurve] ?? namedCurve;
    if (kind === "ec" && !/^(prime256v1|secp(384r1|521r1|256k1))$/.test(curve)) throw codedTypeError("ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
    return [kind, curve, modulusLength, publicExponent];
}

function pair(pkcs8: ArrayBuffer, options: Wanted | undefined): Generated {
    const key = lib.parseKey("pkcs8", new Uint8Array(pkcs8));
    if (key === undefined) throw new codes.ERR_OPERATION_FAILED("key generation failed");
    const [privateKey, publicKey] = [new KeyObject("private", key, made), new KeyObject("public", lib.parseKey("spki", new Uint8Array(key.spki())) ?? key, made)];
    const { publicKeyEncoding, privateKeyEncoding } = options ?? {};
    return { publicKey: publicKeyEncoding ? publicKey.export(publicKeyEncoding) : publicKey, privateKey: privateKeyEncoding ? privateKey.export(privateKeyEncoding) : privateKey };
}

export const generateKeyPairSync = (kind: unknown, options?: Wanted): Generated => pair(lib.generateKey(...begin(kind, options)), options);

export function generateKeyPair(kind: unknown, options: unknown, callback?: unknown): void {
    if (typeof options === "function") [callback, options] = [options, undefined];
    validateFunction(callback, "callback");
    const told = callback as (error: Error | null, publicKey?: unknown, privateKey?: unknown) => void;
    lib.generateKey(...begin(kind, options as Wanted | undefined), (error, pkcs8) => {
        if (error) return told(error);
        const { publicKey, privateKey } = pair(pkcs8, options as Wanted | undefined);
        told(null, publicKey, privateKey);
    });
}
Object.defineProperty(generateKeyPair, Symbol.for("nodejs.util.promisify.custom"), {
    value: (kind: unknown, options?: Wanted) =>
        new Promise((resolve, reject) => {
            generateKeyPair(kind, options, (error: Error | null, publicKey: unknown, privateKey: unknown) => (error ? reject(error) : resolve({ publicKey, privateKey })));
        }),
});

export function generateKeySync(kind: unknown, options: { length: number }): KeyObject {
    if (kind !== "hmac" && kind !== "aes") throw invalidValue("type", kind, "must be a supported key type");
    validateInteger(options?.length, "options.length", 8, 2 ** 31 - 1);
    if (kind === "aes" && ![128, 192, 256].includes(options.length)) throw invalidValue("options.length", options.length, "must be one of: 128, 192, 256");
    return new KeyObject("secret", new Uint8Array(lib.random(options.length >> 3)), made);
}

export function generateKey(kind: unknown, options: { length: number }, callback: (error: Error | null, key: KeyObject) => void): void {
    validateFunction(callback, "callback");
    const key = generateKeySync(kind, options);
    process.nextTick(callback, null, key);
}
