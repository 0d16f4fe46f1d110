// NDJSON: one JSON text a line, as bulk requests have it.
import { TextDecoder } from "node:util";
import { TransportError, wrongRequest } from "../error";
import { type JsonOptions, parseJson, writeJson } from "./json";

/** Lines that are written together, with their type. */
export class Ndjson {
    readonly items: readonly unknown[];

    constructor(items: readonly unknown[]) {
        this.items = items;
    }
}

/**
 * A body of lines: `body: ndjson([{ index: {} }, { title: "a" }])`. Texts are lines already.
 * @throws {TransportError} `request.invalid`
 */
export function ndjson(items: Iterable<unknown>): Ndjson {
    if (typeof items !== "object" || !(Symbol.iterator in items)) throw wrongRequest("ndjson", items, "an array of lines: ndjson([{ index: {} }, { title: \"a\" }])");
    return new Ndjson([...items]);
}

/** The lines, each with its end. Called while secrets may be written. */
export function writeNdjson({ items }: Ndjson): string {
    let text = "";
    items.forEach((item, at) => {
        const line = typeof item === "string" ? item : writeJson(item);
        if (line === undefined) throw wrongRequest(`ndjson[${at}]`, item, "what JSON has a form for");
        if (typeof item === "string" && /[\r\n]/.test(line)) throw wrongRequest(`ndjson[${at}]`, item, "text of one line");
        text += `${line}\n`;
    });
    return text;
}

/** The values of the lines; empty lines are none. */
export function parseNdjson(text: string, options: JsonOptions): unknown[] {
    const values: unknown[] = [];
    for (const line of text.split("\n")) if (line.trim() !== "") values.push(parseJson(line, options));
    return values;
}

/** A line that does not end is held in memory, so it has a limit. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads lines as they come: `for await (const item of readNdjson(response.body))`. Leaving the loop ends the stream.
 * @throws {TransportError} `response.body`, `response.limit`
 */
export async function* readNdjson(source: AsyncIterable<Uint8Array>, options: JsonOptions & { readonly lineBytesMax?: number } = { bigint: false }): AsyncGenerator<unknown, void, undefined> {
    const { lineBytesMax = LINE_BYTES_MAX } = options;
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for await (const chunk of source) {
        const lines = (rest + decoded(decoder, chunk)).split("\n");
        rest = lines.pop() ?? "";
        // A character has at least a byte, so this never lets more through than it says.
        if (rest.length > lineBytesMax) throw new TransportError("response.limit", `a line is longer than ${lineBytesMax} bytes`, { limit: "lineBytesMax" });
        for (const line of lines) if (line.trim() !== "") yield parseJson(line, options);
    }
    rest += decoded(decoder, undefined);
    if (rest.trim() !== "") yield parseJson(rest, options);
}

function decoded(decoder: TextDecoder, chunk: Uint8Array | undefined): string {
    try {
        return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
        throw new TransportError("response.body", "the body is no UTF-8");
    }
}
