// Reads the request cases of the corpus as bytes.
import { readFileSync, readdirSync } from "node:fs";

const FOLDER = new URL("../../corpus/h1/request/", import.meta.url);

/** Every request case as `{ name, bytes, eof, compatible, strict }`, in the order of the files. */
export function requests() {
    return readdirSync(FOLDER)
        .filter((file) => file.endsWith(".json"))
        .sort()
        .flatMap((file) => JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")))
        .map(({ name, pieces, eof = false, compatible, strict }) => ({ name, bytes: Buffer.concat(pieces.map(bytes)), eof, compatible, strict }));
}

/** The bytes of a piece or a body: a string of which each character is one byte, or a repetition of one. */
export function bytes(piece) {
    return typeof piece === "string" ? Buffer.from(piece, "latin1") : Buffer.from(piece.repeat.repeat(piece.times), "latin1");
}
