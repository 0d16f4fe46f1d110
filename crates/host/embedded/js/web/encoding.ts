// TextEncoder and TextDecoder (WHATWG Encoding), without the legacy encodings but Windows-1252 (which Latin-1 is another label of).
import { described } from "./_argument";

const found = native("encoding") as {
    encode(text: string): Uint8Array<ArrayBuffer>;
    encodeInto(text: string, into: Uint8Array): [read: number, written: number];
    decode(bytes: Uint8Array, kind: string, fatal: boolean): string | undefined;
    unfinished(bytes: Uint8Array, kind: string): number;
};

const LABELS: Record<string, string[]> = {
    "utf-8": ["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"],
    "utf-16le": ["csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le"],
    "utf-16be": ["unicodefffe", "utf-16be"],
    "windows-1252": [
        "ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100", "iso8859-1", "iso88591",
        "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252", "x-cp1252",
    ],
};

function encodingOf(label: string): string {
    const plain = label.trim().toLowerCase();
    for (const [name, labels] of Object.entries(LABELS)) if (labels.includes(plain)) return name;
    throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: "ERR_ENCODING_NOT_SUPPORTED" });
}

/** A view on the bytes of a buffer or of any view of one. */
export function bytesOf(source: unknown, name = "input"): Uint8Array {
    if (source instanceof Uint8Array) return source;
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
    throw Object.assign(new TypeError(`The "${name}" argument must be an instance of ArrayBuffer or ArrayBufferView. Received ${described(source)}`), { code: "ERR_INVALID_ARG_TYPE" });
}

export class TextEncoder {
    get encoding(): string {
        return "utf-8";
    }
    encode(text: unknown = ""): Uint8Array<ArrayBuffer> {
        return found.encode(String(text).toWellFormed());
    }
    encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
        if (typeof text !== "string") throw Object.assign(new TypeError('The "src" argument must be of type string'), { code: "ERR_INVALID_ARG_TYPE" });
        if (!(into instanceof Uint8Array)) throw Object.assign(new TypeError('The "dest" argument must be an instance of Uint8Array'), { code: "ERR_INVALID_ARG_TYPE" });
        const [read, written] = found.encodeInto(text.toWellFormed(), into);
        return { read, written };
    }
}

export class TextDecoder {
    #encoding: string;
    #fatal: boolean;
    #ignoreBOM: boolean;
    /** The beginning of a character. */
    #rest: Uint8Array | undefined;
    /** Whether the text has begun, so that no byte order mark is to come. */
    #begun = false;

    constructor(label: unknown = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } | null = {}) {
        this.#encoding = encodingOf(String(label));
        this.#fatal = Boolean(options?.fatal);
        this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding(): string {
        return this.#encoding;
    }
    get fatal(): boolean {
        return this.#fatal;
    }
    get ignoreBOM(): boolean {
        return this.#ignoreBOM;
    }

    decode(input: unknown = new Uint8Array(0), options: { stream?: boolean } | null = {}): string {
        let bytes = bytesOf(input, "list");
        const goesOn = Boolean(options?.stream);
        if (this.#rest !== undefined) {
            const joined = new Uint8Array(this.#rest.length + bytes.length);
            joined.set(this.#rest);
            joined.set(bytes, this.#rest.length);
            bytes = joined;
            this.#rest = undefined;
        }
        if (goesOn) {
            const left = found.unfinished(bytes, this.#encoding);
            if (left > 0) {
                this.#rest = bytes.slice(bytes.length - left);
                bytes = bytes.subarray(0, bytes.length - left);
            }
        }
        let text = found.decode(bytes, this.#encoding, this.#fatal);
        if (text === undefined) {
            this.#begun = false;
            throw Object.assign(new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`), { code: "ERR_ENCODING_INVALID_ENCODED_DATA" });
        }
        if (!this.#begun && !this.#ignoreBOM && this.#encoding !== "windows-1252" && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
        this.#begun = goesOn && (this.#begun || bytes.length > 0);
        return text;
    }
}

for (const Kind of [TextEncoder, TextDecoder]) {
    Object.defineProperty(Kind.prototype, Symbol.toStringTag, { configurable: true, value: Kind.name });
    for (const name of Object.getOwnPropertyNames(Kind.prototype)) {
        if (name !== "constructor") Object.defineProperty(Kind.prototype, name, { enumerable: true });
    }
}
