// `process.stdout`, `process.stderr` and `process.stdin`, made when they are first touched. What is written is written at once,
// whatever it goes to, so that nothing is lost when a program ends.
import { Readable, Writable } from "node:stream";

interface Native {
    write(to: number, text: string): void;
    writeBytes(to: number, bytes: Uint8Array): void;
    readStdin(): Promise<Uint8Array | null>;
    isTerminal(descriptor: number): boolean;
}

interface Tty {
    WriteStream: { prototype: Record<string, (...args: unknown[]) => unknown> };
}

const { write, writeBytes, readStdin, isTerminal } = native("process") as Native;

/** What a terminal's stream has beside a file's. */
function terminal(stream: Writable): void {
    const size = (name: string, otherwise: number): number => Number((require("node:process") as NodeJS.Process).env[name]) || otherwise;
    const methods = (): Tty["WriteStream"]["prototype"] => (require("node:tty") as Tty).WriteStream.prototype;
    const properties: PropertyDescriptorMap = {
        isTTY: { value: true },
        columns: { get: () => size("COLUMNS", 80) },
        rows: { get: () => size("LINES", 24) },
        getWindowSize: { value: () => [size("COLUMNS", 80), size("LINES", 24)] },
    };
    for (const name of ["getColorDepth", "hasColors", "cursorTo", "moveCursor", "clearLine", "clearScreenDown"]) {
        properties[name] = { value: (...args: unknown[]) => methods()[name]?.apply(stream, args) };
    }
    for (const descriptor of Object.values(properties)) {
        descriptor.configurable = true;
        descriptor.enumerable = true;
        if ("value" in descriptor) descriptor.writable = true;
    }
    Object.defineProperties(stream, properties);
}

export function output(descriptor: 1 | 2): Writable {
    const stream = new Writable({
        decodeStrings: false,
        write(chunk: string | Uint8Array, encoding: BufferEncoding, done: () => void) {
            if (typeof chunk !== "string") writeBytes(descriptor, chunk);
            else if (encoding === "utf8" || encoding === "utf-8") write(descriptor, chunk);
            else writeBytes(descriptor, Buffer.from(chunk, encoding));
            done();
        },
        // Both stay open for whoever prints last.
        destroy(error: Error | null, done: (error: Error | null) => void) {
            done(error);
        },
    });
    Object.assign(stream, { fd: descriptor, _type: "fs", _isStdio: true, destroySoon: stream.destroy });
    if (isTerminal(descriptor)) terminal(stream);
    return stream;
}

export function input(): Readable {
    const stream = new Readable({
        read() {
            readStdin().then(
                (bytes) => void this.push(bytes === null || bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
                (error: Error) => void this.destroy(error),
            );
        },
    });
    const properties: Record<string, unknown> = { fd: 0, isRaw: false, ref: () => stream, unref: () => stream };
    if (isTerminal(0)) {
        properties["isTTY"] = true;
        properties["setRawMode"] = () => {
            throw new Error("leat run has no raw mode of terminals");
        };
    }
    return Object.assign(stream, properties);
}
