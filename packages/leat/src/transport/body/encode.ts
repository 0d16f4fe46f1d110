// What a caller gives as a body, as what a plan carries, with the type that it has by itself.
import { wrongRequest } from "../error";
import { type Redactor, revealing } from "../secret";
import { type Body, type BodySource, FactoryBody, OnceBody } from "./body";
import { isForm, writeForm } from "./form";
import { writeJson } from "./json";
import { Ndjson, writeNdjson } from "./ndjson";

/**
 * Bodies that `request` takes: text, bytes, `URLSearchParams`, `FormData`, `ndjson(…)`, a `Blob`; a function that makes a stream for
 * each try; a stream, which can be sent once; any other object or array is JSON.
 */
export type BodyGiven = string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | Ndjson | Blob | FactoryBody | OnceBody | (() => BodySource) | BodySource | object;

/** A body, and the type that it has unless the caller says another one. */
export interface Encoded {
    readonly body: Body | undefined;
    readonly type: string | undefined;
}

const NONE: Encoded = { body: undefined, type: undefined };
const JSON_TYPE = "application/json";

/**
 * Reads a body.
 *
 * Cost: JSON is written once, whatever is tried again; bytes and texts are not copied.
 * @throws {TransportError} `request.invalid`
 */
export function encode(given: unknown, redactor: Redactor): Encoded {
    if (given === undefined || given === null) return NONE;
    if (typeof given === "string") return { body: given, type: "text/plain; charset=utf-8" };
    if (typeof given === "function") return { body: new FactoryBody(given as () => BodySource), type: undefined };
    if (typeof given !== "object") throw wrong(given);
    if (given instanceof Uint8Array || given instanceof FactoryBody || given instanceof OnceBody) return { body: given, type: undefined };
    if (given instanceof ArrayBuffer) return { body: new Uint8Array(given), type: undefined };
    if (ArrayBuffer.isView(given)) return { body: new Uint8Array(given.buffer, given.byteOffset, given.byteLength), type: undefined };
    if (given instanceof Ndjson) return { body: revealing(redactor, () => writeNdjson(given)), type: "application/x-ndjson" };
    if (given instanceof URLSearchParams) return { body: given.toString(), type: "application/x-www-form-urlencoded" };
    if (given instanceof Blob) return { body: new FactoryBody(() => given.stream(), given.size), type: given.type === "" ? undefined : given.type };
    if (isForm(given)) return writeForm(given);
    if (Symbol.asyncIterator in given) return { body: new OnceBody(given as BodySource), type: undefined };
    // JSON would make {} of them, and nobody would notice.
    if (given instanceof Map || given instanceof Set || given instanceof Promise || given instanceof Error) throw wrong(given);
    return { body: json(given, redactor), type: JSON_TYPE };
}

function json(given: object, redactor: Redactor): string {
    let text: string | undefined;
    try {
        text = revealing(redactor, () => writeJson(given));
    } catch (cause) {
        throw wrongRequest("body", given, `what JSON has a form for (${cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "its toJSON failed"})`);
    }
    if (text === undefined) throw wrong(given);
    return text;
}

function wrong(given: unknown): Error {
    return wrongRequest("body", given, "text, bytes, an object or an array (JSON), ndjson([…]), URLSearchParams, FormData, a Blob, a stream, or a function that makes one");
}
