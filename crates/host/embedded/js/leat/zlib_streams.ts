// zlib's streams. A chunk of output is made when it is asked for, so data that unfolds without end fills no memory.
import { Transform, type TransformOptions } from "node:stream";
import { outOfRange } from "./coded";
import { codes } from "./errors";
import { BROTLI_DECODE, BROTLI_ENCODE, DEFLATE, DEFLATERAW, GUNZIP, GZIP, INFLATE, INFLATERAW, UNZIP, ZSTD_COMPRESS, ZSTD_DECOMPRESS, flushOf, lib, planOf, type Engine, type Options, type Plan } from "./zlib";

type Done = (error?: Error | null) => void;
const FLUSH = Symbol("flush");
const NOTHING = new Uint8Array(0);
/** From the weakest to the strongest. */
const STRENGTH = [0, 4, 5, 1, 2, 3];
const FINISH = 4;

abstract class ZlibBase extends Transform {
    #engine: Engine | undefined;
    readonly #plan: Plan;
    #written = 0;
    #made = 0;
    /** What is left to do of the chunk before. */
    #rest: (() => void) | undefined;

    constructor(mode: number, options: (Options & TransformOptions) | undefined) {
        const plan = planOf(mode, options);
        super({ autoDestroy: true, ...(options as TransformOptions | undefined) });
        this.#plan = plan;
        this.#engine = lib.open(mode, plan.settings, plan.dictionary ?? null);
    }

    /** What those packages look for: it is closed with the stream. */
    readonly _handle: { close(): void } = { close() {} };

    get _closed(): boolean {
        return this.#engine === undefined;
    }
    get bytesWritten(): number {
        return this.#written;
    }
    set bytesWritten(value: number) {
        this.#written = value;
    }
    get _level(): number {
        return this.#plan.level;
    }
    get _strategy(): number {
        return this.#plan.strategy;
    }
    get _chunkSize(): number {
        return this.#plan.chunkSize;
    }
    get _finishFlushFlag(): number {
        return this.#plan.finishFlush;
    }

    override _transform(chunk: Uint8Array & { [FLUSH]?: number }, _encoding: string, done: Done): void {
        let flush = this.#plan.flush;
        // A flush is a chunk of nothing that passes through the queue of writes.
        if (typeof chunk[FLUSH] === "number") flush = chunk[FLUSH];
        else if (this.writableEnded && this.writableLength === chunk.byteLength) flush = stronger(flush, this.#plan.finishFlush);
        this.#run(chunk, flush, done);
    }

    override _flush(done: Done): void {
        this.#run(NOTHING, this.#plan.finishFlush, done);
    }

    #run(chunk: Uint8Array, flush: number, done: Done): void {
        const { chunkSize, most, mode } = this.#plan;
        const asked = flushOf(mode, flush);
        let at = 0;
        const go = (): void => {
            for (;;) {
                const engine = this.#engine;
                if (engine === undefined) return done();
                let made: ArrayBuffer | undefined;
                try {
                    made = engine.step(chunk, at, asked, chunkSize);
                } catch (error) {
                    this.#engine = undefined;
                    return done(error as Error);
                }
                at += engine.consumed;
                this.#written += engine.consumed;
                if (made !== undefined) {
                    this.#made += made.byteLength;
                    if (this.#made > most) return done(new codes.ERR_BUFFER_TOO_LARGE(most));
                    const wants = this.push(Buffer.from(made));
                    if (this.destroyed) return;
                    if (engine.more && !wants) {
                        this.#rest = go;
                        return;
                    }
                }
                if (engine.more && !engine.ended) continue;
                // Data behind the end is nobody's, but for members of gzip, which the codec reads itself.
                if (engine.ended && at < chunk.byteLength) this.push(null);
                return done();
            }
        };
        go();
    }

    /** For packages that drive a codec by hand (minizlib, which tar is built on): all of a chunk at once. */
    _processChunk(chunk: Uint8Array, flush: number): Buffer {
        const { chunkSize, most, mode } = this.#plan;
        const parts: Uint8Array[] = [];
        let at = 0;
        for (let engine = this.#engine; engine !== undefined; engine = this.#engine) {
            const made = engine.step(chunk, at, flushOf(mode, flush), chunkSize);
            at += engine.consumed;
            this.#written += engine.consumed;
            if (made !== undefined) parts.push(new Uint8Array(made));
            this.#made += made?.byteLength ?? 0;
            if (this.#made > most) throw new codes.ERR_BUFFER_TOO_LARGE(most);
            if (!engine.more || engine.ended) break;
        }
        return Buffer.concat(parts);
    }

    override _read(size: number): void {
        const rest = this.#rest;
        if (rest === undefined) return super._read(size);
        this.#rest = undefined;
        rest();
    }

    override _final(done: Done): void {
        done();
    }

    override _destroy(error: Error | null, done: Done): void {
        this.#engine = undefined;
        done(error);
    }

    flush(kind?: number | (() => void), done?: () => void): void {
        if (typeof kind === "function" || (kind === undefined && done === undefined)) {
            done = kind as (() => void) | undefined;
            kind = this.#plan.mode < BROTLI_DECODE ? 3 : 1;
        }
        if (this.writableFinished) {
            if (done) process.nextTick(done);
            return;
        }
        if (this.writableEnded) {
            if (done) this.once("end", done);
            return;
        }
        const chunk = Buffer.alloc(0) as Buffer & { [FLUSH]?: number };
        chunk[FLUSH] = kind as number;
        this.write(chunk, "utf8", done as () => void);
    }

    close(done?: () => void): void {
        if (done) {
            if (this.closed) process.nextTick(done);
            else this.once("close", done);
        }
        this.destroy();
    }

    reset(): void {
        if (this.#engine === undefined) throw new Error("zlib binding closed");
        this.#engine = lib.open(this.#plan.mode, this.#plan.settings, this.#plan.dictionary ?? null);
    }

    params(level: number, strategy: number, done?: Done): void {
        if (!(level >= -1 && level <= 9)) throw outOfRange("level", ">= -1 and <= 9", level);
        if (!(strategy >= 0 && strategy <= 4)) throw outOfRange("strategy", ">= 0 and <= 4", strategy);
        if (level === this.#plan.level && strategy === this.#plan.strategy) {
            if (done) process.nextTick(done);
            return;
        }
        this.flush(2, () => {
            this.#engine?.params(level, strategy);
            this.#plan.level = level;
            this.#plan.strategy = strategy;
            done?.();
        });
    }
}

function stronger(one: number, other: number): number {
    return (STRENGTH[one] ?? 0) > (STRENGTH[other] ?? FINISH) ? one : other;
}

type Given = Options & TransformOptions;

export class Deflate extends ZlibBase {
    constructor(options?: Given) {
        super(DEFLATE, options);
    }
}
export class Inflate extends ZlibBase {
    constructor(options?: Given) {
        super(INFLATE, options);
    }
}
export class Gzip extends ZlibBase {
    constructor(options?: Given) {
        super(GZIP, options);
    }
}
export class Gunzip extends ZlibBase {
    constructor(options?: Given) {
        super(GUNZIP, options);
    }
}
export class DeflateRaw extends ZlibBase {
    constructor(options?: Given) {
        // The library has no window of 256 bytes here.
        super(DEFLATERAW, options?.windowBits === 8 ? { ...options, windowBits: 9 } : options);
    }
}
export class InflateRaw extends ZlibBase {
    constructor(options?: Given) {
        super(INFLATERAW, options);
    }
}
export class Unzip extends ZlibBase {
    constructor(options?: Given) {
        super(UNZIP, options);
    }
}
export class BrotliCompress extends ZlibBase {
    constructor(options?: Given) {
        super(BROTLI_ENCODE, options);
    }
}
export class BrotliDecompress extends ZlibBase {
    constructor(options?: Given) {
        super(BROTLI_DECODE, options);
    }
}
export class ZstdCompress extends ZlibBase {
    constructor(options?: Given) {
        super(ZSTD_COMPRESS, options);
    }
}
export class ZstdDecompress extends ZlibBase {
    constructor(options?: Given) {
        super(ZSTD_DECOMPRESS, options);
    }
}
