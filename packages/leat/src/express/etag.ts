// The entity tags of npm's `etag`: the length in hexadecimal and the first 27 characters of the body's SHA-1 in base64.
import { createHash, hash as hashWhole } from "node:crypto";

type Body = string | Buffer;
type Hash = (algorithm: string, data: Body, encoding: "base64") => string;

/** The 27 characters that are taken of a digest's 28; the last is padding. */
const DIGEST_CHARS = 27;

let hash: Hash | undefined;

function digest(body: Body): string {
    hash ??= hashOf();
    return hash("sha1", body, "base64").substring(0, DIGEST_CHARS);
}

/** `crypto.hash` costs a third of `createHash`, where Node has it. Asked for at the first tag, since Node loads OpenSSL's part late. */
function hashOf(): Hash {
    const whole = hashWhole as Hash | undefined;
    return whole ?? ((algorithm, data, encoding) => createHash(algorithm).update(data).digest(encoding));
}

/** `"length-digest"` of the bytes of `body`. */
export function strongETag(body: Body, encoding?: BufferEncoding): string {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body, encoding);
    return `"${bytes.length.toString(16)}-${digest(bytes)}"`;
}

/** The same as a weak one. */
export function weakETag(body: Body, encoding?: BufferEncoding): string {
    return `W/${strongETag(body, encoding)}`;
}

/** The weak tag of a body that is `bytes` long, in UTF-8 if it is a string. */
export function weakTagOf(body: Body, bytes: number): string {
    return `W/"${bytes.toString(16)}-${digest(body)}"`;
}
