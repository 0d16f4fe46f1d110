// Between Node's streams and web streams: `Readable.toWeb`, `Readable.fromWeb`, and the same of `Writable`.
import { Readable, Writable } from "node:stream";

type Streams = { ReadableStream: typeof ReadableStream; WritableStream: typeof WritableStream };
const streams = (): Streams => require("leat:web/streams") as Streams;

/** A web stream that reads `source`, which is destroyed when the reader gives up. */
export function readableToWeb(source: Readable, options: { strategy?: QueuingStrategy } = {}): ReadableStream {
    const { ReadableStream: Kind } = streams();
    const iterator = source[Symbol.asyncIterator]();
    const from = {
        async pull(controller: ReadableStreamDefaultController) {
            const { done, value } = await iterator.next();
            if (done === true) controller.close();
            // Web streams know no Buffer.
            else controller.enqueue(Buffer.isBuffer(value) ? new Uint8Array(value.buffer, value.byteOffset, value.length) : (value as unknown));
        },
        cancel(reason: unknown) {
            source.destroy(reason instanceof Error ? reason : undefined);
        },
    };
    return new Kind(from, options.strategy ?? { highWaterMark: 0 });
}

/** A Readable of what a web stream gives. */
export function readableFromWeb(source: ReadableStream, options: ConstructorParameters<typeof Readable>[0] = {}): Readable {
    const reader = source.getReader();
    let isOver = false;
    return new Readable({
        ...options,
        read() {
            reader.read().then(
                ({ done, value }) => {
                    isOver = done;
                    this.push(done ? null : options?.objectMode === true || typeof value === "string" ? value : Buffer.from(value as Uint8Array));
                },
                (error: unknown) => {
                    isOver = true;
                    this.destroy(error as Error);
                },
            );
        },
        destroy(error, callback) {
            if (isOver) return callback(error);
            isOver = true;
            reader.cancel(error ?? undefined).then(
                () => callback(error),
                () => callback(error),
            );
        },
    });
}

/** A web stream that writes to `to`. */
export function writableToWeb(to: Writable): WritableStream {
    const { WritableStream: Kind } = streams();
    let failed: Error | undefined;
    to.on("error", (error) => void (failed = error));
    return new Kind({
        write: (chunk: unknown) =>
            new Promise<void>((resolve, reject) => {
                if (failed !== undefined) return reject(failed);
                to.write(chunk, (error) => (error ? reject(error) : resolve()));
            }),
        close: () =>
            new Promise<void>((resolve, reject) => {
                to.once("error", reject);
                to.end(() => resolve());
            }),
        abort: (reason: unknown) => void to.destroy(reason instanceof Error ? reason : undefined),
    });
}

/** A Writable whose bytes go into a web stream. */
export function writableFromWeb(to: WritableStream, options: ConstructorParameters<typeof Writable>[0] = {}): Writable {
    const writer = to.getWriter();
    return new Writable({
        ...options,
        write(chunk, _encoding, callback) {
            writer.ready.then(() => writer.write(chunk)).then(
                () => callback(),
                (error: unknown) => callback(error as Error),
            );
        },
        final(callback) {
            writer.close().then(
                () => callback(),
                (error: unknown) => callback(error as Error),
            );
        },
        destroy(error, callback) {
            if (error === null) return callback(null);
            writer.abort(error).then(
                () => callback(error),
                () => callback(error),
            );
        },
    });
}
