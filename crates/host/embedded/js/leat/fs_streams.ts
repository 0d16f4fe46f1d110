// Files as streams.
import { Readable, Writable } from "node:stream";
import { validateFunction } from "./validate";
import { codedError, encodeText, invalidType, later, outOfRange, toBuffer, toDescriptor, toFlags, toMode, toOptions, toPath } from "./fs";

type Done = (error?: Error | null) => void;
interface Handle {
    fd: number;
    close(): Promise<void>;
}
interface Options {
    autoClose?: boolean;
    emitClose?: boolean;
    encoding?: BufferEncoding;
    end?: number;
    fd?: number | Handle | null;
    flags?: string | number;
    flush?: boolean;
    fs?: Record<string, (...given: unknown[]) => void>;
    highWaterMark?: number;
    mode?: unknown;
    signal?: AbortSignal;
    start?: number;
}

const READ_BYTES = 64 * 1024;

function bound(value: unknown, name: string): number | undefined {
    if (value === undefined) return undefined;
    if (typeof value !== "number") throw invalidType(name, "of type number", value);
    if (value !== Infinity && !Number.isInteger(value)) throw outOfRange(name, "an integer", value);
    if (value < 0) throw outOfRange(name, `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, value);
    return value;
}

interface Common {
    fd: number | null;
    path: unknown;
    flags: string | number;
    mode: unknown;
    autoClose: boolean;
    start: number | undefined;
    pos: number | undefined;
    handle: Handle | undefined;
    busy: (() => void) | boolean;
    own: Options["fs"];
}

/** What both kinds begin with. */
function begin(stream: Common, path: unknown, options: Options, flags: string): void {
    stream.own = options.fs;
    stream.busy = false;
    if (options.fd === undefined || options.fd === null) {
        stream.fd = null;
        stream.path = toPath(path) instanceof Uint8Array || typeof path === "string" ? path : toPath(path);
    } else if (typeof options.fd === "object") {
        stream.handle = options.fd;
        stream.fd = options.fd.fd;
        stream.path = undefined;
    } else {
        stream.fd = toDescriptor(options.fd);
        stream.path = path ?? undefined;
    }
    stream.flags = options.flags ?? flags;
    stream.mode = options.mode ?? 0o666;
    stream.autoClose = options.autoClose ?? true;
    stream.start = bound(options.start, "start");
    stream.pos = stream.start;
}

function construct(stream: Common & NodeJS.EventEmitter, done: Done): void {
    if (typeof stream.fd === "number") return done();
    const opened = (error: Error | null, fd: number): void => {
        if (error) return done(error);
        stream.fd = fd;
        done();
        stream.emit("open", fd);
        stream.emit("ready");
    };
    if (stream.own?.["open"]) return stream.own["open"](stream.path, stream.flags, stream.mode, opened);
    try {
        later("open", toPath(stream.path), toFlags(stream.flags, "r"), toMode(stream.mode, "mode", 0o666), opened);
    } catch (error) {
        done(error as Error);
    }
}

/** Closes once no operation is under way. */
function destroy(stream: Common, error: Error | null, done: Done): void {
    const close = (): void => {
        const { fd, handle } = stream;
        if (typeof fd !== "number") return done(error);
        stream.fd = null;
        if (handle !== undefined) return void handle.close().then(() => done(error), (failed: Error) => done(error ?? failed));
        const closed = (failed?: Error | null): void => done(error ?? failed ?? null);
        if (stream.own?.["close"]) return stream.own["close"](fd, closed);
        later("close", fd, closed);
    };
    if (stream.busy === false) close();
    else stream.busy = close;
}

/** The operation under way has ended; a close that waits for it goes on. True if so. */
function rested(stream: Common): boolean {
    const waits = stream.busy;
    stream.busy = false;
    if (typeof waits !== "function") return false;
    waits();
    return true;
}

export interface ReadStream extends Common {}
export class ReadStream extends Readable {
    declare end: number;
    declare bytesRead: number;

    constructor(path: unknown, given?: unknown) {
        const options = toOptions<Options>(given, {}) as Options;
        super({
            highWaterMark: options.highWaterMark ?? READ_BYTES,
            autoDestroy: options.autoClose ?? true,
            emitClose: options.emitClose ?? true,
            ...(options.encoding ? { encoding: options.encoding } : {}),
            ...(options.signal ? { signal: options.signal } : {}),
        });
        begin(this as unknown as Common, path, options, "r");
        this.end = bound(options.end, "end") ?? Infinity;
        this.bytesRead = 0;
        if (this.start !== undefined && this.end !== Infinity && this.start > this.end) throw outOfRange("start", `<= "end" (here: ${this.end})`, this.start);
        if (this.start === undefined && this.end !== Infinity && typeof this.fd !== "number") this.pos = 0;
    }

    get pending(): boolean {
        return this.fd === null;
    }

    override _construct(done: Done): void {
        construct(this as unknown as Common & NodeJS.EventEmitter, done);
    }

    override _read(size: number): void {
        const left = this.pos !== undefined ? this.end - this.pos + 1 : this.end - this.bytesRead + 1;
        const wanted = Math.min(left, size);
        if (wanted <= 0) return void this.push(null);
        const finish = (error: Error | null, chunk: Uint8Array | undefined): void => {
            if (rested(this as unknown as Common)) return;
            if (error || chunk === undefined) return void this.destroy(error ?? undefined);
            if (chunk.byteLength === 0) return void this.push(null);
            if (this.pos !== undefined) this.pos += chunk.byteLength;
            this.bytesRead += chunk.byteLength;
            this.push(chunk);
        };
        this.busy = true;
        if (this.own?.["read"]) {
            const room = Buffer.allocUnsafe(wanted);
            this.own["read"](this.fd, room, 0, wanted, this.pos, (error: Error | null, count: number) => finish(error, error ? undefined : room.subarray(0, count)));
            return;
        }
        later("read", this.fd, wanted, this.pos ?? -1, (error: Error | null, memory: ArrayBuffer) => finish(error, error ? undefined : toBuffer(memory)));
    }

    override _destroy(error: Error | null, done: Done): void {
        destroy(this as unknown as Common, error, done);
    }

    close(done?: Done): void {
        if (done !== undefined) finished(this, done);
        this.destroy();
    }
}

export interface WriteStream extends Common {}
export class WriteStream extends Writable {
    declare bytesWritten: number;
    #flush: boolean;

    constructor(path: unknown, given?: unknown) {
        const options = toOptions<Options>(given, {}) as Options;
        super({
            ...(options.highWaterMark === undefined ? {} : { highWaterMark: options.highWaterMark }),
            autoDestroy: options.autoClose ?? true,
            emitClose: options.emitClose ?? true,
            decodeStrings: false,
            ...(options.signal ? { signal: options.signal } : {}),
        });
        begin(this as unknown as Common, path, options, options.start === undefined ? "w" : "r+");
        if (options.flags === undefined) this.flags = "w";
        this.bytesWritten = 0;
        this.#flush = options.flush === true;
        if (options.encoding) this.setDefaultEncoding(options.encoding);
    }

    get pending(): boolean {
        return this.fd === null;
    }

    override _construct(done: Done): void {
        construct(this as unknown as Common & NodeJS.EventEmitter, done);
    }

    #all(bytes: Uint8Array, done: Done): void {
        const finish = (error: Error | null, count: number): void => {
            if (rested(this as unknown as Common)) return done(codedError("ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
            if (error) return done(error);
            this.bytesWritten += count;
            if (this.pos !== undefined) this.pos += count;
            if (count < bytes.byteLength) this.#all(bytes.subarray(count), done);
            else done();
        };
        this.busy = true;
        if (this.own?.["write"]) this.own["write"](this.fd, bytes, 0, bytes.byteLength, this.pos, finish);
        else later("write", this.fd, bytes, this.pos ?? -1, finish);
    }

    override _write(chunk: Uint8Array | string, encoding: string, done: Done): void {
        const data = typeof chunk === "string" ? encodeText(chunk, encoding) : chunk;
        this.#all(typeof data === "string" ? Buffer.from(data) : data, done);
    }

    override _writev(chunks: { chunk: Uint8Array | string; encoding: BufferEncoding }[], done: Done): void {
        this.#all(Buffer.concat(chunks.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk))), done);
    }

    override _final(done: Done): void {
        if (!this.#flush) return done();
        later("fsync", this.fd, done);
    }

    override _destroy(error: Error | null, done: Done): void {
        destroy(this as unknown as Common, error, done);
    }

    close(done?: Done): void {
        if (done !== undefined) {
            validateFunction(done, "cb");
            if (this.closed) return void process.nextTick(done);
            this.on("close", done);
        }
        // What was written comes first.
        if (!this.autoClose) this.on("finish", () => this.destroy());
        this.end();
    }

    destroySoon(): void {
        this.end();
    }
}

function finished(stream: Readable, done: Done): void {
    if (stream.closed) process.nextTick(done);
    else stream.on("close", done);
}
