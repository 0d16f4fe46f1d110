// JSON Web Keys (RFC 7517) to DER and back.
import { codedTypeError, invalidType } from "./coded";
import { digits, integer, readAll, readValue, sequence, sized, value } from "./der";

export type Jwk = Record<string, string | undefined>;

/** A curve: its names, the DER of its name, and bytes of a coordinate. */
export const CURVES = [
    { jwk: "P-256", name: "prime256v1", oid: "06082a8648ce3d030107", size: 32 },
    { jwk: "P-384", name: "secp384r1", oid: "06052b81040022", size: 48 },
    { jwk: "P-521", name: "secp521r1", oid: "06052b81040023", size: 66 },
    { jwk: "secp256k1", name: "secp256k1", oid: "06052b8104000a", size: 32 },
] as const;
const EC = Buffer.from("06072a8648ce3d0201", "hex");
const OKP: Record<string, string> = { Ed25519: "06032b6570", X25519: "06032b656e" };

const bad = (): Error => codedTypeError("ERR_CRYPTO_INVALID_JWK", "Invalid JWK data");

function part(jwk: Jwk, name: string): Buffer {
    const text = jwk[name];
    if (typeof text !== "string") throw invalidType(`key.${name}`, "of type string", text);
    return Buffer.from(text, "base64url");
}

/** DER of a key, the form it has, and whether it is private. */
export function fromJwk(jwk: Jwk, wanted: "public" | "private"): { form: string; der: Buffer } {
    const isPrivate = wanted === "private";
    const bits = (bytes: Uint8Array): Buffer => value(3, Buffer.of(0), bytes);
    if (jwk["kty"] === "RSA") {
        const [n, e] = [integer(part(jwk, "n")), integer(part(jwk, "e"))];
        if (!isPrivate) return { form: "pkcs1-public", der: sequence(n, e) };
        const rest = ["d", "p", "q", "dp", "dq", "qi"].map((name) => integer(part(jwk, name)));
        return { form: "pkcs1", der: sequence(integer(Buffer.of(0)), n, e, ...rest) };
    }
    if (jwk["kty"] === "EC") {
        const curve = CURVES.find((known) => known.jwk === jwk["crv"]);
        if (curve === undefined) throw codedTypeError("ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
        const [x, y] = [part(jwk, "x"), part(jwk, "y")];
        if (x.length > curve.size || y.length > curve.size) throw bad();
        const point = Buffer.concat([Buffer.of(4), sized(x, curve.size), sized(y, curve.size)]);
        const oid = Buffer.from(curve.oid, "hex");
        if (!isPrivate) return { form: "spki", der: sequence(sequence(EC, oid), bits(point)) };
        return { form: "sec1", der: sequence(integer(Buffer.of(1)), value(4, sized(part(jwk, "d"), curve.size)), value(0xa0, oid), value(0xa1, bits(point))) };
    }
    if (jwk["kty"] === "OKP") {
        const oid = OKP[jwk["crv"] ?? ""];
        if (oid === undefined) throw codedTypeError("ERR_INVALID_ARG_VALUE", `The property 'key.crv' must be one of: 'Ed25519', 'Ed448', 'X25519', 'X448'. Received '${jwk["crv"]}'`);
        const algorithm = sequence(Buffer.from(oid, "hex"));
        if (!isPrivate) return { form: "spki", der: sequence(algorithm, bits(part(jwk, "x"))) };
        return { form: "pkcs8", der: sequence(integer(Buffer.of(0)), algorithm, value(4, value(4, part(jwk, "d")))) };
    }
    throw codedTypeError("ERR_INVALID_ARG_VALUE", `The property 'key.kty' must be one of: 'RSA', 'EC', 'OKP'. Received '${jwk["kty"]}'`);
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("base64url");

/** A public key's JWK from its SubjectPublicKeyInfo. */
export function publicJwk(spki: Uint8Array): Jwk {
    const [algorithm, key] = readAll(readValue(spki)?.body ?? spki);
    const [oid, parameter] = readAll(algorithm?.body ?? spki);
    const raw = key?.body.subarray(1) ?? new Uint8Array(0);
    const name = Buffer.from(oid?.body ?? []).toString("hex");
    for (const [crv, der] of Object.entries(OKP)) if (der.slice(4) === name) return { crv, x: text(raw), kty: "OKP" };
    if (EC.toString("hex").slice(4) === name) {
        const curve = CURVES.find(({ oid: known }) => known.slice(4) === Buffer.from(parameter?.body ?? []).toString("hex"));
        if (curve === undefined) throw codedTypeError("ERR_CRYPTO_JWK_UNSUPPORTED_CURVE", "Unsupported JWK EC curve.");
        return { kty: "EC", x: text(raw.subarray(1, 1 + curve.size)), y: text(raw.subarray(1 + curve.size)), crv: curve.jwk };
    }
    const [n, e] = readAll(readValue(raw)?.body ?? raw);
    return { kty: "RSA", n: text(digits(n?.body ?? raw)), e: text(digits(e?.body ?? raw)) };
}

/** A private key's JWK from its PrivateKeyInfo and its public half. */
export function privateJwk(pkcs8: Uint8Array, spki: Uint8Array): Jwk {
    const jwk = publicJwk(spki);
    const inner = readAll(readValue(pkcs8)?.body ?? pkcs8)[2]?.body ?? pkcs8;
    const value = readValue(inner);
    if (jwk["kty"] === "OKP") return { crv: jwk["crv"], d: text(value?.body), x: jwk["x"], kty: "OKP" };
    const parts = readAll(value?.body ?? inner);
    if (jwk["kty"] === "EC") return { ...jwk, d: text(parts[1]?.body) };
    const names = ["d", "p", "q", "dp", "dq", "qi"];
    for (const [at, name] of names.entries()) jwk[name] = text(digits(parts[at + 3]?.body ?? inner));
    return jwk;
}

/** The public half of a certificate: its SubjectPublicKeyInfo (RFC 5280, section 4.1). */
export function certificateKey(der: Uint8Array): Uint8Array | undefined {
    const signed = readAll(readValue(der)?.body ?? der)[0];
    const fields = readAll(signed?.body ?? der).filter(({ tag }) => tag !== 0xa0);
    const key = fields[5];
    return key === undefined ? undefined : value(0x30, key.body);
}
