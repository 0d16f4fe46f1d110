// node:fs/promises.
import { EventEmitter } from "node:events";
import { abortError, codedError, constants, encodeText, invalidType, promised, toBytes, toPath } from "../../leat/fs";
import { operations, planOf, plans, type Plan } from "../../leat/fs_plans";

type Anything = (...given: unknown[]) => unknown;

async function run({ name, given, finish }: Plan): Promise<unknown> {
    const value = await promised(name, ...given);
    return finish === undefined ? value : finish(value as never);
}

const READ_BYTES = 16384;

/** An open file. */
class FileHandle extends EventEmitter {
    #fd: number;
    #closing: Promise<void> | undefined;

    constructor(fd: number) {
        super();
        this.#fd = fd;
    }

    get fd(): number {
        return this.#fd;
    }

    #open(syscall: string): number {
        if (this.#fd < 0) {
            const error = codedError("EBADF", "file closed") as Error & { syscall?: string };
            error.syscall = syscall;
            throw error;
        }
        return this.#fd;
    }

    close = (): Promise<void> => {
        if (this.#fd < 0) return this.#closing ?? Promise.resolve();
        const fd = this.#fd;
        this.#fd = -1;
        this.#closing = run(plans.close(fd)).then(() => void this.emit("close"));
        return this.#closing;
    };

    async appendFile(data: unknown, options?: unknown): Promise<void> {
        await run(plans.appendFile(this.#open("write"), data, options));
    }
    async writeFile(data: unknown, options?: unknown): Promise<void> {
        await write(this.#open("write"), data, options);
    }
    async readFile(options?: unknown): Promise<unknown> {
        return await run(plans.readFile(this.#open("read"), options));
    }
    async stat(options?: { bigint?: boolean }): Promise<unknown> {
        return await run(plans.fstat(this.#open("fstat"), options));
    }
    async sync(): Promise<void> {
        await run(plans.fsync(this.#open("fsync")));
    }
    async datasync(): Promise<void> {
        await run(plans.fdatasync(this.#open("fdatasync")));
    }
    async truncate(length?: number): Promise<void> {
        await run(plans.ftruncate(this.#open("ftruncate"), length));
    }
    async chmod(mode: unknown): Promise<void> {
        await run(plans.fchmod(this.#open("fchmod"), mode));
    }
    async chown(uid: unknown, gid: unknown): Promise<void> {
        await run(plans.fchown(this.#open("fchown"), uid, gid));
    }
    async utimes(atime: unknown, mtime: unknown): Promise<void> {
        await run(plans.futimes(this.#open("futime"), atime, mtime));
    }

    read(...given: unknown[]): Promise<unknown> {
        return this.#regions("read", "bytesRead", given.length === 0 || (given.length === 1 && !ArrayBuffer.isView(given[0])) ? this.#readOptions(given[0]) : given);
    }
    #readOptions(options: unknown): unknown[] {
        const { buffer = Buffer.alloc(READ_BYTES), offset, length, position } = (options ?? {}) as Record<string, unknown>;
        return [buffer, offset, length, position];
    }
    write(...given: unknown[]): Promise<unknown> {
        return this.#regions("write", "bytesWritten", given);
    }
    readv(buffers: unknown, position?: unknown): Promise<unknown> {
        return this.#regions("readv", "bytesRead", [buffers, position]);
    }
    writev(buffers: unknown, position?: unknown): Promise<unknown> {
        return this.#regions("writev", "bytesWritten", [buffers, position]);
    }
    #regions(name: string, count: string, given: unknown[]): Promise<unknown> {
        const fs = require("../fs") as Record<string, Anything>;
        return new Promise((resolve, reject) => {
            fs[name]?.(this.#open(name), ...given, (error: Error | null, number: number, value: unknown) => (error ? reject(error) : resolve({ [count]: number, [name.endsWith("v") ? "buffers" : "buffer"]: value })));
        });
    }

    createReadStream(options?: object): unknown {
        return new (require("../../leat/fs_streams") as typeof import("../../leat/fs_streams")).ReadStream(undefined, { ...options, fd: this });
    }
    createWriteStream(options?: object): unknown {
        return new (require("../../leat/fs_streams") as typeof import("../../leat/fs_streams")).WriteStream(undefined, { ...options, fd: this });
    }
    readLines(options?: object): unknown {
        const { createInterface } = require("node:readline") as typeof import("node:readline");
        return createInterface({ input: this.createReadStream(options) as NodeJS.ReadableStream, crlfDelay: Infinity });
    }

    async [Symbol.for("nodejs.asyncDispose")](): Promise<void> {
        await this.close();
    }
}

const exported: Record<string, unknown> = {};
for (const name of operations) {
    if (name === "realpathNative" || /^(close|open|fchmod|fchown|fdatasync|fstat|fsync|ftruncate|futimes)$/.test(name)) continue;
    const planned = planOf(name);
    exported[name] = async (...given: unknown[]): Promise<unknown> => {
        const [first] = given;
        // Whole files by their handle.
        if (first instanceof FileHandle) given[0] = first.fd;
        return await run(planned(...given));
    };
}
exported["realpath"] = async (...given: [unknown]) => await run(plans.realpathNative(...given));

exported["open"] = async (path: unknown, flags?: unknown, mode?: unknown): Promise<FileHandle> => new FileHandle((await run(plans.open(path, flags, mode))) as number);

exported["truncate"] = async (path: unknown, length?: unknown): Promise<void> => {
    const fd = (await run(plans.open(path, "r+"))) as number;
    try {
        await run(plans.ftruncate(fd, length));
    } finally {
        await run(plans.close(fd));
    }
};

/** Writes all of `data`, which may also come bit by bit. */
async function write(file: unknown, data: unknown, options: unknown): Promise<void> {
    if (typeof data === "string" || ArrayBuffer.isView(data) || data === null || typeof data !== "object") return void (await run(plans.writeFile(file, data, options)));
    if (!(Symbol.asyncIterator in data) && !(Symbol.iterator in data)) throw invalidType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
    const given = (typeof options === "string" ? { encoding: options } : options ?? {}) as { encoding?: string; flag?: string; mode?: unknown; signal?: AbortSignal };
    const fd = typeof file === "number" ? file : ((await run(plans.open(file, given.flag ?? "w", given.mode))) as number);
    try {
        for await (const part of data as AsyncIterable<unknown>) {
            if (given.signal?.aborted) throw abortError(given.signal.reason);
            const bytes = typeof part === "string" ? encodeText(part, given.encoding) : toBytes(part, "data");
            await promised("writeFile", fd, bytes);
        }
    } finally {
        if (typeof file !== "number") await run(plans.close(fd));
    }
}
exported["writeFile"] = (file: unknown, data: unknown, options?: unknown) => Promise.resolve().then(() => write(file instanceof FileHandle ? file.fd : file, data, options));

exported["opendir"] = async (path: unknown, options?: object) => await (require("../../leat/fs_dir") as typeof import("../../leat/fs_dir")).Dir.open(path, options);
exported["cp"] = async (from: unknown, to: unknown, options?: unknown) => await (require("../../leat/fs_copy") as typeof import("../../leat/fs_copy")).cpPromise(from, to, options);
exported["watch"] = (path: unknown, options?: unknown) => (require("../../leat/fs_watch") as typeof import("../../leat/fs_watch")).changes(toPath(path), options);
exported["constants"] = constants;

module.exports = exported;
