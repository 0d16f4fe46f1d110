// Reads the cases of the corpus as bytes.
import { readFileSync, readdirSync } from "node:fs";

const REQUESTS = new URL("../../corpus/h1/request/", import.meta.url);
const RESPONSES = new URL("../../corpus/h1/response/", import.meta.url);

/** Every request case as `{ name, bytes, eof, compatible, strict }`, in the order of the files. */
export function requests() {
    return read(REQUESTS).map(({ name, pieces, eof = false, compatible, strict }) => ({ name, bytes: Buffer.concat(pieces.map(bytes)), eof, compatible, strict }));
}

/** Every response case as `{ name, method, pieces, bytes, eof, compatible }`, in the order of the files. */
export function responses() {
    return read(RESPONSES).map(({ name, method = "GET", pieces, eof = false, compatible }) => {
        const buffers = pieces.map(bytes);
        return { name, method, pieces: buffers, bytes: Buffer.concat(buffers), eof, compatible };
    });
}

const read = (folder) =>
    readdirSync(folder)
        .filter((file) => file.endsWith(".json"))
        .sort()
        .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")));

/** The bytes of a piece or a body: a string of which each character is one byte, or a repetition of one. */
export function bytes(piece) {
    return typeof piece === "string" ? Buffer.from(piece, "latin1") : Buffer.from(piece.repeat.repeat(piece.times), "latin1");
}
