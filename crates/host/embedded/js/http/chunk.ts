// Pieces of a body, as programs write them and as the host takes them.
import { codes } from "../leat/errors";

/** A piece of a body. */
export type Chunk = string | Uint8Array;

export function isLatin1(encoding: string | undefined): boolean {
    return encoding === "latin1" || encoding === "binary" || encoding === "ascii";
}

/** A chunk as the host takes it: text in UTF-8 or Latin-1, or bytes. */
export function encoded(chunk: Chunk, encoding: string | undefined): Chunk {
    if (typeof chunk !== "string" || encoding === undefined || encoding === null || encoding === "utf8" || encoding === "utf-8" || isLatin1(encoding)) return chunk;
    return Buffer.from(chunk, encoding as BufferEncoding);
}

export function lengthOf(chunk: Chunk, encoding: string | undefined): number {
    if (typeof chunk !== "string") return chunk.byteLength;
    return isLatin1(encoding) ? chunk.length : Buffer.byteLength(chunk, encoding as BufferEncoding);
}

export function checkChunk(chunk: unknown): void {
    if (chunk === null) throw new codes.ERR_STREAM_NULL_VALUES();
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) throw new codes.ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "Uint8Array"], chunk);
}
