// What Request and Response share: a body, of which there is one reading.
import { TextDecoder, TextEncoder, bytesOf } from "./encoding";
import { Headers } from "./headers";
import { Incoming, joined } from "./_incoming";
import type { Blob as BlobClass, FormData as FormDataClass } from "./blob";

type Forms = typeof import("./blob");
type Stream = ReadableStream<Uint8Array>;
/** Loaded when a program first has one. */
const forms = (): Forms => require("leat:web/blob") as Forms;
const streams = (): { ReadableStream: typeof ReadableStream & { from?(from: unknown): Stream } } => require("leat:web/streams") as never;

export type Source = Uint8Array | BlobClass | Incoming | Stream;

const isStream = (value: unknown): value is Stream =>
    typeof value === "object" && value !== null && typeof (value as Stream).getReader === "function" && typeof (value as Stream).tee === "function";
const tagged = (value: unknown, ...tags: string[]): boolean =>
    typeof value === "object" && value !== null && tags.includes((value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? "");

/** The bytes of what a program gave as a body, and its content type. */
export function extract(given: unknown): { source: Source; type: string | undefined } {
    if (isStream(given)) {
        if (given.locked) throw new TypeError("Response body object should not be disturbed or locked");
        return { source: given, type: undefined };
    }
    if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return { source: new Uint8Array(bytesOf(given)), type: undefined };
    if (tagged(given, "Blob", "File")) {
        const blob = given as BlobClass;
        return { source: blob, type: blob.type === "" ? undefined : blob.type };
    }
    if (tagged(given, "URLSearchParams")) {
        return { source: new TextEncoder().encode(String(given)), type: "application/x-www-form-urlencoded;charset=UTF-8" };
    }
    if (tagged(given, "FormData")) {
        const { blob, type } = forms().writeForm(given as FormDataClass);
        return { source: blob, type };
    }
    if (typeof given === "object" && given !== null && Symbol.asyncIterator in given) {
        const from = streams().ReadableStream.from;
        if (from !== undefined) return { source: from(given), type: undefined };
    }
    return { source: new TextEncoder().encode(String(given)), type: "text/plain;charset=UTF-8" };
}

export const isWhole = (source: Source | null): source is Uint8Array | BlobClass =>
    source === null || source instanceof Uint8Array || tagged(source, "Blob", "File");

/** All bytes of a body that is there. */
export function bytesNow(source: Uint8Array | BlobClass): Uint8Array {
    return source instanceof Uint8Array ? source : forms().blobBytes(source);
}

async function drained(stream: Stream): Promise<Uint8Array> {
    const reader = stream.getReader();
    const pieces: Uint8Array[] = [];
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return joined(pieces);
        if (!(value instanceof Uint8Array)) throw new TypeError("Received non-Uint8Array chunk");
        pieces.push(value);
    }
}

export abstract class Body {
    abstract readonly headers: Headers;
    #source: Source | null;
    #stream: Stream | undefined;
    #isUsed = false;

    constructor(source: Source | null) {
        this.#source = source;
        if (isStream(source)) this.#stream = source;
    }
    get body(): Stream | null {
        const source = this.#source;
        if (source === null) return null;
        if (this.#stream === undefined) {
            if (source instanceof Incoming) this.#stream = source.stream();
            else {
                const bytes = bytesNow(source as Uint8Array | BlobClass);
                const { ReadableStream: Kind } = streams();
                this.#stream = new Kind({
                    type: "bytes",
                    start: (controller: ReadableByteStreamController) => {
                        if (bytes.length > 0) controller.enqueue(bytes.slice());
                        controller.close();
                    },
                }) as Stream;
            }
        }
        return this.#stream;
    }
    get bodyUsed(): boolean {
        return this.#isUsed || (this.#stream !== undefined && isDisturbed(this.#stream));
    }

    /** Whether there is a body; its stream is not made for that. */
    hasBody(): boolean {
        return this.#source !== null;
    }
    /** Whether it was read, or somebody is reading it. */
    isUnusable(): boolean {
        return this.bodyUsed || this.#stream?.locked === true;
    }

    async #read(): Promise<Uint8Array> {
        if (this.isUnusable()) throw new TypeError("Body is unusable: Body has already been read");
        this.#isUsed = this.#source !== null;
        const source = this.#stream ?? this.#source;
        if (source === null) return new Uint8Array(0);
        if (source instanceof Incoming) return source.whole();
        return isStream(source) ? drained(source) : bytesNow(source);
    }
    async bytes(): Promise<Uint8Array> {
        return new Uint8Array(await this.#read());
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
        return new Uint8Array(await this.#read()).buffer;
    }
    async text(): Promise<string> {
        return new TextDecoder().decode(await this.#read());
    }
    async json(): Promise<unknown> {
        return JSON.parse(new TextDecoder().decode(await this.#read())) as unknown;
    }
    async blob(): Promise<BlobClass> {
        const { Blob } = forms();
        return new Blob([await this.#read()], { type: this.headers.get("content-type") ?? "" });
    }
    async formData(): Promise<FormDataClass> {
        const type = this.headers.get("content-type") ?? "";
        const essence = type.split(";", 1)[0]?.trim().toLowerCase();
        const { FormData, readForm } = forms();
        if (essence === "multipart/form-data") {
            const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
            const bytes = await this.#read();
            if (boundary === null) throw new TypeError("Failed to parse body as FormData.");
            return readForm(bytes, boundary[1] ?? boundary[2] ?? "");
        }
        if (essence === "application/x-www-form-urlencoded") {
            const { URLSearchParams: Params } = require("leat:web/url") as { URLSearchParams: new (query: string) => Iterable<[string, string]> };
            const form = new FormData();
            for (const [name, value] of new Params(await this.text())) form.append(name, value);
            return form;
        }
        throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
    }

    /** The body as it can be sent; this message is used then. */
    take(): Source | null {
        this.#isUsed = this.#source !== null;
        return this.#stream ?? this.#source;
    }
    /** Gives a message that has no body one. */
    give(source: Source): void {
        this.#source = source;
        if (isStream(source)) this.#stream = source;
    }
    /** The body for a second message, which has its own reading. */
    protected split(): Source | null {
        if (this.isUnusable()) throw new TypeError(`${this.constructor.name}.clone: Body has already been consumed.`);
        if (this.#source === null || isWhole(this.#source)) return this.#source;
        const [one, other] = (this.body as Stream).tee() as [Stream, Stream];
        this.#stream = one;
        this.#source = one;
        return other;
    }
}
for (const name of ["body", "bodyUsed", "bytes", "arrayBuffer", "text", "json", "blob", "formData"]) {
    Object.defineProperty(Body.prototype, name, { enumerable: true });
}

function isDisturbed(stream: Stream): boolean {
    return (stream as unknown as { _disturbed?: boolean })._disturbed === true;
}
