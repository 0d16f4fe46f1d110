// node:stream/consumers: all that a stream has, as one value.
import { codes } from "../../leat/errors";

type Source = AsyncIterable<unknown> | Iterable<unknown>;

/** All bytes as a Buffer. */
export async function buffer(source: Source): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of source) {
        if (typeof part === "string") parts.push(Buffer.from(part));
        else if (part instanceof Uint8Array) parts.push(part);
        else if (ArrayBuffer.isView(part)) parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
        else if (part instanceof ArrayBuffer) parts.push(new Uint8Array(part));
        else throw new codes.ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "TypedArray", "ArrayBuffer"], part);
    }
    return Buffer.concat(parts);
}

/** All bytes as an ArrayBuffer. */
export async function arrayBuffer(source: Source): Promise<ArrayBuffer> {
    const all = await buffer(source);
    return all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength) as ArrayBuffer;
}

/** All bytes as a Blob. */
export async function blob(source: Source): Promise<unknown> {
    const { Blob } = require("node:buffer") as unknown as { Blob: new (parts: unknown[]) => unknown };
    return new Blob([await buffer(source)]);
}

/** All bytes as text. */
export async function text(source: Source): Promise<string> {
    const { StringDecoder } = require("node:string_decoder") as typeof import("node:string_decoder");
    const decoder = new StringDecoder("utf8");
    let all = "";
    let first = true;
    for await (const part of source) {
        const next = typeof part === "string" ? part : decoder.write(part as Buffer);
        // The mark at the beginning is none of the text.
        all += first && next.charCodeAt(0) === 0xfeff ? next.slice(1) : next;
        if (next !== "") first = false;
    }
    return all + decoder.end();
}

/** All bytes as the value that their JSON has. */
export async function json(source: Source): Promise<unknown> {
    return JSON.parse(await text(source)) as unknown;
}
