// The entity tags of npm's `etag`: the length in hexadecimal and the first 27 characters of the body's SHA-1 in base64.
import * as crypto from "node:crypto";

type Body = string | Buffer;

/** The 27 characters that are taken of a digest's 28; the last is padding. */
const DIGEST_CHARS = 27;

const hash = (crypto as { hash?: (algorithm: string, data: Body, encoding: "base64") => string }).hash;

function digest(body: Body): string {
    const text = hash === undefined ? crypto.createHash("sha1").update(body).digest("base64") : hash("sha1", body, "base64");
    return text.substring(0, DIGEST_CHARS);
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
