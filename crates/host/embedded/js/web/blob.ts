// Blob, File and FormData (W3C File API, XMLHttpRequest), and forms as bodies.
import { TextDecoder, TextEncoder, bytesOf } from "./encoding";

const customInspect = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: unknown) => string;

/** Bytes that one read of a blob's stream gives at most. */
const PIECE_BYTES_MAX = 64 * 1024;
/** Parts of a form that is read. */
const PARTS_MAX = 10_000;
/** The head of one of them, in bytes. */
const PART_HEAD_BYTES_MAX = 16 * 1024;

/** Bytes of a blob. A slice shares them. */
type Part = Uint8Array<ArrayBuffer>;

let partsOf: (blob: Blob) => Part[];
let make: (parts: Part[], type: string) => Blob;

function joined(parts: Uint8Array[]): Part {
    const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        made.set(part, at);
        at += part.length;
    }
    return made;
}

function lowerType(type: unknown): string {
    const text = String(type);
    return /[^\x20-\x7e]/.test(text) ? "" : text.toLowerCase();
}

export class Blob {
    #parts: Part[] = [];
    #size = 0;
    #type: string;

    static {
        partsOf = (blob) => blob.#parts;
        make = (parts, type) => {
            const blob = new Blob([], { type });
            blob.#parts = parts;
            blob.#size = parts.reduce((sum, part) => sum + part.length, 0);
            return blob;
        };
    }

    constructor(sources: Iterable<unknown> = [], options: { type?: string; endings?: string } | null = {}) {
        if (sources === null || typeof sources !== "object" || typeof sources[Symbol.iterator] !== "function") {
            throw Object.assign(new TypeError('The "sources" argument must be a sequence'), { code: "ERR_INVALID_ARG_TYPE" });
        }
        const encoder = new TextEncoder();
        for (const source of sources) {
            if (source instanceof Blob) this.#parts.push(...source.#parts);
            else if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) this.#parts.push(new Uint8Array(bytesOf(source)));
            else {
                const text = String(source);
                this.#parts.push(encoder.encode(options?.endings === "native" ? text.replace(/\r\n?/g, "\n") : text));
            }
        }
        this.#size = this.#parts.reduce((sum, part) => sum + part.length, 0);
        this.#type = lowerType(options?.type ?? "");
    }
    get size(): number {
        return this.#size;
    }
    get type(): string {
        return this.#type;
    }
    slice(start = 0, end = this.#size, type = ""): Blob {
        const at = (place: number): number => (place < 0 ? Math.max(this.#size + place, 0) : Math.min(place, this.#size));
        const [from, to] = [at(Math.trunc(start)), at(Math.trunc(end))];
        const parts: Part[] = [];
        let before = 0;
        for (const part of this.#parts) {
            const [first, last] = [Math.max(from - before, 0), Math.min(to - before, part.length)];
            if (first < last) parts.push(part.subarray(first, last));
            before += part.length;
        }
        return make(parts, lowerType(type));
    }
    bytes(): Promise<Part> {
        return Promise.resolve(joined(this.#parts));
    }
    arrayBuffer(): Promise<ArrayBuffer> {
        return this.bytes().then((bytes) => bytes.buffer);
    }
    text(): Promise<string> {
        return this.bytes().then((bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    }
    stream(): unknown {
        const { ReadableStream } = require("leat:web/streams") as { ReadableStream: typeof globalThis.ReadableStream };
        const parts = this.#parts;
        let part = 0;
        let offset = 0;
        return new ReadableStream({
            type: "bytes",
            pull(controller) {
                const current = parts[part];
                if (current === undefined) {
                    controller.close();
                    (controller as unknown as { byobRequest: { respond(count: number): void } | null }).byobRequest?.respond(0);
                    return;
                }
                const piece = current.slice(offset, offset + PIECE_BYTES_MAX);
                offset += piece.length;
                if (offset >= current.length) {
                    part += 1;
                    offset = 0;
                }
                if (piece.length > 0) controller.enqueue(piece);
                else return (this.pull as (controller: unknown) => void)(controller);
            },
        });
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        return depth < 0 ? "[Blob]" : `Blob ${inspect({ size: this.size, type: this.type }, options)}`;
    }
}

export class File extends Blob {
    #name: string;
    #lastModified: number;
    constructor(sources: Iterable<unknown>, name: unknown, options: { type?: string; endings?: string; lastModified?: number } | null = {}) {
        if (arguments.length < 2) throw Object.assign(new TypeError('The "sources" and "fileName" arguments must be specified'), { code: "ERR_MISSING_ARGS" });
        super(sources, options);
        this.#name = String(name).toWellFormed();
        this.#lastModified = options?.lastModified === undefined ? Date.now() : Number(options.lastModified);
    }
    get name(): string {
        return this.#name;
    }
    get lastModified(): number {
        return this.#lastModified;
    }
    get webkitRelativePath(): string {
        return "";
    }
    override [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        const { size, type, name, lastModified } = this;
        return depth < 0 ? "[File]" : `File ${inspect({ size, type, name, lastModified }, options)}`;
    }
}

type Value = string | File;

export class FormData {
    #list: [name: string, value: Value][] = [];

    constructor(form?: unknown) {
        if (form !== undefined) throw new TypeError("Failed to construct 'FormData': 1: An HTML form is not there outside of browsers");
    }
    static #value(value: unknown, name: unknown): Value {
        if (!(value instanceof Blob)) return String(value).toWellFormed();
        if (value instanceof File && name === undefined) return value;
        return new File([value], name === undefined ? "blob" : name, { type: value.type });
    }
    append(name: unknown, value: unknown, file?: unknown): void {
        if (arguments.length < 2) throw new TypeError("FormData.append: 2 arguments required");
        this.#list.push([String(name).toWellFormed(), FormData.#value(value, file)]);
    }
    set(name: unknown, value: unknown, file?: unknown): void {
        if (arguments.length < 2) throw new TypeError("FormData.set: 2 arguments required");
        const key = String(name).toWellFormed();
        const made: [string, Value] = [key, FormData.#value(value, file)];
        const first = this.#list.findIndex(([each]) => each === key);
        if (first < 0) this.#list.push(made);
        else this.#list = this.#list.flatMap((pair, at) => (at === first ? [made] : pair[0] === key ? [] : [pair]));
    }
    delete(name: unknown): void {
        this.#list = this.#list.filter(([each]) => each !== String(name));
    }
    get(name: unknown): Value | null {
        return this.#list.find(([each]) => each === String(name))?.[1] ?? null;
    }
    getAll(name: unknown): Value[] {
        return this.#list.filter(([each]) => each === String(name)).map(([, value]) => value);
    }
    has(name: unknown): boolean {
        return this.#list.some(([each]) => each === String(name));
    }
    forEach(callback: (value: Value, name: string, form: FormData) => void, thisArg?: unknown): void {
        for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries(): IterableIterator<[string, Value]> {
        for (let at = 0; at < this.#list.length; at++) yield [...(this.#list[at] as [string, Value])];
    }
    *keys(): IterableIterator<string> {
        for (const [name] of this.entries()) yield name;
    }
    *values(): IterableIterator<Value> {
        for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator](): IterableIterator<[string, Value]> {
        return this.entries();
    }
}

for (const Kind of [Blob, File, FormData]) {
    Object.defineProperty(Kind.prototype, Symbol.toStringTag, { configurable: true, value: Kind.name });
    for (const name of Object.getOwnPropertyNames(Kind.prototype)) {
        if (name !== "constructor") Object.defineProperty(Kind.prototype, name, { enumerable: true });
    }
}

/** A form as multipart/form-data (RFC 7578), and its content type. */
export function writeForm(form: FormData): { type: string; blob: Blob } {
    const digits = Array.from({ length: 12 }, () => Math.floor(Math.random() * 10)).join("");
    const boundary = `----formdata-leat-0${digits}`;
    const escaped = (text: string): string => text.replace(/\r?\n|\r/g, "\r\n").replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");
    const sources: unknown[] = [];
    for (const [name, value] of form) {
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
        if (typeof value === "string") sources.push(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, "\r\n")}\r\n`);
        else sources.push(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`, value, "\r\n");
    }
    sources.push(`--${boundary}--\r\n`);
    return { type: `multipart/form-data; boundary=${boundary}`, blob: new Blob(sources) };
}

/** Where `wanted` begins in `bytes`, at `from` or later; -1. */
function find(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
    const first = wanted[0] as number;
    for (let at = bytes.indexOf(first, from); at >= 0 && at + wanted.length <= bytes.length; at = bytes.indexOf(first, at + 1)) {
        let same = 1;
        while (same < wanted.length && bytes[at + same] === wanted[same]) same += 1;
        if (same === wanted.length) return at;
    }
    return -1;
}

/** Reads multipart/form-data. Throws a TypeError where it is none. */
export function readForm(bytes: Uint8Array, boundary: string): FormData {
    const malformed = (): TypeError => new TypeError("Failed to parse body as FormData.");
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();
    const form = new FormData();
    const line = encoder.encode(`--${boundary}`);
    const between = encoder.encode(`\r\n--${boundary}`);
    const blank = encoder.encode("\r\n\r\n");
    let at = find(bytes, line, 0);
    if (at < 0) throw malformed();
    at += line.length;
    for (let count = 0; count < PARTS_MAX; count++) {
        if (bytes[at] === 45 && bytes[at + 1] === 45) return form;
        if (bytes[at] !== 13 || bytes[at + 1] !== 10) throw malformed();
        const headEnd = find(bytes, blank, at);
        if (headEnd < 0 || headEnd - at > PART_HEAD_BYTES_MAX) throw malformed();
        const head = decoder.decode(bytes.subarray(at + 2, headEnd));
        const end = find(bytes, between, headEnd + 2);
        if (end < 0) throw malformed();
        const body = bytes.subarray(headEnd + 4, end);
        const said = (name: string): string | undefined => {
            const found = new RegExp(`^content-disposition:\\s*form-data;(?:.*;)?\\s*${name}="([^"]*)"`, "im").exec(head)?.[1];
            return found?.replace(/%0A/gi, "\n").replace(/%0D/gi, "\r").replace(/%22/g, '"');
        };
        const name = said("name");
        if (name === undefined) throw malformed();
        const file = said("filename");
        if (file === undefined) form.append(name, new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
        else form.append(name, new File([body], file, { type: /^content-type:\s*(.*?)\s*$/im.exec(head)?.[1] ?? "text/plain" }));
        at = end + between.length;
    }
    throw malformed();
}

/** The bytes of a blob, without a promise. */
export function blobBytes(blob: Blob): Part {
    return joined(partsOf(blob));
}
