// Express's entity tags, as `packages/leat/src/express/etag.ts` makes them: here in one native pass over the body.
import { http } from "./native";

type Body = string | Buffer;

/** `"length-digest"` of the bytes of `body`. */
export function strongETag(body: Body, encoding?: BufferEncoding): string {
    const plain = typeof body !== "string" || encoding === undefined || encoding === "utf8" || encoding === "utf-8";
    return http.tag(plain ? body : Buffer.from(body, encoding)) as string;
}

/** The same as a weak one. */
export function weakETag(body: Body, encoding?: BufferEncoding): string {
    return `W/${strongETag(body, encoding)}`;
}

/** The weak tag of a body, in UTF-8 if it is a string. */
export function weakTagOf(body: Body): string {
    return `W/${http.tag(body) as string}`;
}
