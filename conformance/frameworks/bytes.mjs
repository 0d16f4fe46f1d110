// Bodies whose content shows what was lost or swapped: no two places of one look alike.
import { createHash } from "node:crypto";

export const MIB = 1 << 20;

/** `length` bytes that depend on their position. */
export function bytesOf(length) {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at += 1) bytes[at] = (at ^ (at >>> 8) ^ (at >>> 16)) & 0xff;
    return bytes;
}

/** The same bytes in pieces of `size`. */
export function* pieces(bytes, size) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function digest(bytes) {
    return createHash("sha256").update(bytes).digest("hex");
}

/** A multipart/form-data body of fields and files with a fixed boundary: `{ type, body }`. */
export function multipart(parts) {
    const boundary = "----leat-conformance-boundary";
    const chunks = [];
    for (const { name, value, filename, type } of parts) {
        const file = filename === undefined ? "" : `; filename="${filename}"`;
        chunks.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type ? `Content-Type: ${type}\r\n` : ""}\r\n`), Buffer.from(value), Buffer.from("\r\n"));
    }
    chunks.push(Buffer.from(`--${boundary}--\r\n`));
    return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(chunks) };
}
