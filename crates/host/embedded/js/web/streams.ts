// Web streams: the reference implementation's polyfill, and the streams that change text and bytes.
import { ReadableStream, TransformStream, WritableStream } from "web-streams-polyfill";
import { TextDecoder, TextEncoder } from "./encoding";

export {
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    ReadableByteStreamController,
    ReadableStream,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableStreamDefaultController,
    ReadableStreamDefaultReader,
    TransformStream,
    TransformStreamDefaultController,
    WritableStream,
    WritableStreamDefaultController,
    WritableStreamDefaultWriter,
} from "web-streams-polyfill";

/** Both ends of a transformation. */
class Pair<In, Out> {
    #stream: TransformStream<In, Out>;
    constructor(stream: TransformStream<In, Out>) {
        this.#stream = stream;
    }
    get readable(): ReadableStream<Out> {
        return this.#stream.readable;
    }
    get writable(): WritableStream<In> {
        return this.#stream.writable;
    }
}

export class TextEncoderStream extends Pair<unknown, Uint8Array> {
    constructor() {
        const encoder = new TextEncoder();
        /** Half of a surrogate pair. */
        let high = "";
        super(
            new TransformStream<unknown, Uint8Array>({
                transform(chunk, controller) {
                    let text = high + String(chunk);
                    high = "";
                    const last = text.charCodeAt(text.length - 1);
                    if (last >= 0xd800 && last < 0xdc00) {
                        high = text.slice(-1);
                        text = text.slice(0, -1);
                    }
                    if (text !== "") controller.enqueue(encoder.encode(text));
                },
                flush(controller) {
                    if (high !== "") controller.enqueue(encoder.encode(high));
                },
            }),
        );
    }
    get encoding(): string {
        return "utf-8";
    }
}

export class TextDecoderStream extends Pair<unknown, string> {
    #decoder: TextDecoder;
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) {
        const decoder = new TextDecoder(label, options);
        super(
            new TransformStream<unknown, string>({
                transform(chunk, controller) {
                    const text = decoder.decode(chunk, { stream: true });
                    if (text !== "") controller.enqueue(text);
                },
                flush(controller) {
                    const text = decoder.decode();
                    if (text !== "") controller.enqueue(text);
                },
            }),
        );
        this.#decoder = decoder;
    }
    get encoding(): string {
        return this.#decoder.encoding;
    }
    get fatal(): boolean {
        return this.#decoder.fatal;
    }
    get ignoreBOM(): boolean {
        return this.#decoder.ignoreBOM;
    }
}

/** The part of node:zlib's streams that is used. */
interface Squeezer {
    write(chunk: Uint8Array, done: () => void): boolean;
    end(): void;
    on(event: "data", call: (chunk: Uint8Array) => void): void;
    on(event: "end", call: () => void): void;
    on(event: "error", call: (error: Error) => void): void;
}

function through(made: Squeezer): TransformStream<Uint8Array, Uint8Array> {
    let failed: Error | undefined;
    let fail: (error: Error) => void = () => {};
    return new TransformStream<Uint8Array, Uint8Array>({
        start(controller) {
            made.on("data", (chunk) => controller.enqueue(new Uint8Array(chunk)));
            made.on("error", (error) => {
                failed = Object.assign(new TypeError(error.message), { cause: error });
                controller.error(failed);
                fail(failed);
            });
        },
        transform: (chunk) =>
            new Promise<void>((resolve, reject) => {
                if (failed !== undefined) return reject(failed);
                fail = reject;
                made.write(chunk, resolve);
            }),
        flush: () =>
            new Promise<void>((resolve, reject) => {
                fail = reject;
                made.on("end", resolve);
                made.end();
            }),
    });
}

function squeezer(direction: "create" | "undo", format: string): Squeezer {
    const zlib = require("node:zlib") as Record<string, () => Squeezer>;
    const names: Record<string, [string, string]> = {
        "gzip": ["createGzip", "createGunzip"],
        "deflate": ["createDeflate", "createInflate"],
        "deflate-raw": ["createDeflateRaw", "createInflateRaw"],
    };
    const make = zlib[names[format]?.[direction === "create" ? 0 : 1] ?? ""];
    if (make === undefined) {
        throw Object.assign(new TypeError(`The argument 'format' must be one of: 'deflate', 'deflate-raw', 'gzip'. Received '${format}'`), { code: "ERR_INVALID_ARG_VALUE" });
    }
    return make();
}

export class CompressionStream extends Pair<Uint8Array, Uint8Array> {
    constructor(format: string) {
        super(through(squeezer("create", format)));
    }
}

export class DecompressionStream extends Pair<Uint8Array, Uint8Array> {
    constructor(format: string) {
        super(through(squeezer("undo", format)));
    }
}

for (const Kind of [TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream]) {
    Object.defineProperty(Kind.prototype, Symbol.toStringTag, { configurable: true, value: Kind.name });
}
