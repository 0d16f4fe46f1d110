// A response's bytes as what the caller asked for.
import { Readable } from "node:stream";
import { TextDecoder, TextEncoder } from "node:util";
import { type Headers, type Response } from "../../middleware/message";
import { TransportError } from "../error";
import { parseJson } from "./json";
import { parseNdjson } from "./ndjson";

/**
 * How a body is read: `auto` by its type (JSON, NDJSON, text, else bytes; undefined if there is none), or always as one of them;
 * `stream` hands it out as it comes.
 */
export const FORMS = ["auto", "json", "ndjson", "text", "bytes", "stream"] as const;
export type Form = (typeof FORMS)[number];

const NOTHING = new Uint8Array(0);

/**
 * Reads a body.
 *
 * Cost: for text one string, for JSON also its values; bytes are not copied.
 * @throws {TransportError} `response.body`, `response.encoding`
 */
export function decode(response: Response, form: Form, bigint: boolean): unknown {
    // What a middleware has put there: nothing, or a text, which is plain whatever coding the body before it had.
    const isText = typeof response.body === "string";
    const body = isText ? new TextEncoder().encode(response.body) : (response.body ?? NOTHING);
    if (form === "stream" && body !== response.body) return Readable.from([body]);
    if (form === "stream" || form === "bytes") return body;
    if (!(body instanceof Uint8Array)) throw new TransportError("response.body", "a middleware left a body that is neither bytes nor a stream", { response });
    if (body.byteLength === 0) return form === "auto" || form === "json" ? undefined : form === "text" ? "" : [];
    const wanted = form === "auto" ? formOf(response.headers) : form;
    if (wanted === "bytes") return body;
    const coding = isText ? undefined : valueOf(response.headers, "content-encoding");
    if (coding !== undefined && coding !== "identity") throw new TransportError("response.encoding", `the body is encoded with ${JSON.stringify(coding.slice(0, 40))}; the middleware compression decodes it, and as: "bytes" takes it as it is`, { response });
    try {
        const text = textOf(body);
        if (wanted === "text") return text;
        return wanted === "json" ? parseJson(text, { bigint }) : parseNdjson(text, { bigint });
    } catch (error) {
        // The same error, with the response that it was found in.
        throw error instanceof TransportError ? new TransportError(error.code, error.message, { response }) : error;
    }
}

function formOf(headers: Headers): "json" | "ndjson" | "text" | "bytes" {
    const type = valueOf(headers, "content-type");
    if (type === undefined) return "bytes";
    const end = type.indexOf(";");
    const name = (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
    if (name === "application/json" || name.endsWith("+json")) return "json";
    if (name === "application/x-ndjson" || name.endsWith("+x-ndjson")) return "ndjson";
    return name.startsWith("text/") ? "text" : "bytes";
}

/** One value of a header. */
export function valueOf(headers: Headers, name: string): string | undefined {
    const value = headers[name];
    return typeof value === "object" ? value[0] : value;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function textOf(body: Uint8Array): string {
    try {
        return UTF8.decode(body);
    } catch {
        throw new TransportError("response.body", 'the body is no UTF-8; as: "bytes" takes it as it is');
    }
}
