// Forms with files: multipart/form-data (RFC 7578), as the HTML standard encodes it ("Multipart form data").
import { randomBytes } from "node:crypto";
import { wrongRequest } from "../error";
import { type Body, type BodySource, FactoryBody } from "./body";

/** Chance enough that it stands in no part. */
const BOUNDARY_BYTES = 18;

/** The part of `FormData` that is read; undici's own and Node's have it. */
export interface Form {
    entries(): Iterable<[string, unknown]>;
}

/** A form with files in it: they are read anew for each try. */
export class FormBody extends FactoryBody {
    /** Its fields that are texts. */
    readonly texts: readonly (readonly [name: string, value: string])[];

    constructor(make: () => BodySource, byteLength: number, texts: readonly (readonly [string, string])[]) {
        super(make, byteLength);
        this.texts = texts;
    }
}

export function isForm(given: object): given is Form {
    return (given as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === "FormData" && typeof (given as Partial<Form>).entries === "function";
}

/**
 * A form as it stands now, and its type, which has the boundary. Without files it is a text; with them their bytes are read when they
 * are sent, as fast as the peer takes them. Its length is known either way.
 *
 * Cost: the texts are copied once; files are not.
 * @throws {TransportError} `request.invalid`
 */
export function writeForm(form: Form): { readonly body: Body; readonly type: string } {
    const boundary = `leat-${randomBytes(BOUNDARY_BYTES).toString("base64url")}`;
    const pieces: (string | Blob)[] = [];
    const texts: [string, string][] = [];
    let text = "";
    for (const [name, value] of form.entries()) {
        const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(lines(name))}"`;
        if (typeof value === "string") {
            texts.push([name, value]);
            text += `${disposition}\r\n\r\n${lines(value)}\r\n`;
            continue;
        }
        if (!(value instanceof Blob)) throw wrongRequest(`body["${name.slice(0, 60)}"]`, value, "a text, or a Blob");
        // A Blob that was appended became a File, so it has a name.
        const { name: file = "blob" } = value as Partial<File>;
        text += `${disposition}; filename="${escaped(file)}"\r\nContent-Type: ${value.type === "" ? "application/octet-stream" : value.type}\r\n\r\n`;
        pieces.push(text, value);
        text = "\r\n";
    }
    text += `--${boundary}--\r\n`;
    const type = `multipart/form-data; boundary=${boundary}`;
    if (pieces.length === 0) return { body: text, type };
    pieces.push(text);
    const byteLength = pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? Buffer.byteLength(piece) : piece.size), 0);
    return { body: new FormBody(() => read(pieces), byteLength, texts), type };
}

async function* read(pieces: readonly (string | Blob)[]): AsyncGenerator<string | Uint8Array, void, undefined> {
    for (const piece of pieces) {
        if (typeof piece === "string") yield piece;
        else yield* piece.stream();
    }
}

/** Line ends of names and texts are CRLF. */
function lines(text: string): string {
    return text.replace(/\r\n?|\n/g, "\r\n");
}

/** What would end the quotes or the line. */
function escaped(name: string): string {
    return name.replace(/\r/g, "%0D").replace(/\n/g, "%0A").replace(/"/g, "%22");
}
