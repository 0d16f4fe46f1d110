// node:fs. Streams, watchers and promises are modules of their own, loaded when they are first touched.
import { Dirent, Stats, call, checkCallback, constants, invalidType, later, outOfRange, readInto, toBytes, toData, toDescriptor, toPath, writeFrom, type Callback } from "../leat/fs";
import { kValidateObjectAllowNullable, validateObject } from "../leat/validate";
import { operations, planOf, plans, type Plan } from "../leat/fs_plans";

type Anything = (...given: unknown[]) => unknown;
type Streams = typeof import("../leat/fs_streams");
type Watch = typeof import("../leat/fs_watch");
type Copy = typeof import("../leat/fs_copy");

const fs: Record<string, unknown> = {};
const custom = Symbol.for("nodejs.util.promisify.custom");

function run({ name, given, finish }: Plan): unknown {
    const value = call(name, ...given);
    return finish === undefined ? value : finish(value as never);
}

function start({ name, given, finish }: Plan, callback: Callback): void {
    if (finish === undefined) return later(name, ...given, callback);
    later(name, ...given, (error: Error | null, value: unknown) => (error ? (callback as (error: Error) => void)(error) : callback(null, finish(value as never))));
}

/** Splits off the callback, which stands behind at least `before` others. */
function withCallback(given: unknown[], before = 0): Callback {
    return checkCallback(given.length > before ? given.pop() : undefined);
}

const without = new Set(["mkdir", "readFile", "readdir", "stat", "lstat", "fstat", "open", "readlink", "realpath", "realpathNative", "mkdtemp"]);
for (const name of operations) {
    const planned = planOf(name);
    fs[`${name}Sync`] = (...given: unknown[]) => run(planned(...given));
    // Node gives callbacks of operations without a value the error alone.
    fs[name] = without.has(name)
        ? (...given: unknown[]) => {
              const callback = withCallback(given, 1);
              start(planned(...given), callback);
          }
        : (...given: unknown[]) => {
              const callback = withCallback(given, 1) as (error: Error | null) => void;
              start(planned(...given), (error) => callback(error));
          };
}
for (const name of ["realpath", "realpathSync"]) {
    const native = name === "realpath" ? "realpathNative" : "realpathNativeSync";
    (fs[name] as Anything & { native?: unknown }).native = fs[native];
    delete fs[native];
}

function statSync(name: "stat" | "lstat") {
    return (path: unknown, options?: { throwIfNoEntry?: boolean; bigint?: boolean }) => {
        if (options?.throwIfNoEntry !== false) return run(plans[name](path, options));
        try {
            return run(plans[name](path, options as never));
        } catch (error) {
            const { code } = error as { code?: string };
            if (code === "ENOENT" || code === "ENOTDIR") return undefined;
            throw error;
        }
    };
}
fs["statSync"] = statSync("stat");
fs["lstatSync"] = statSync("lstat");

fs["existsSync"] = (path: unknown): boolean => {
    try {
        return call("exists", toPath(path)) as boolean;
    } catch {
        return false;
    }
};
function exists(path: unknown, callback: unknown): void {
    const told = checkCallback<(found: boolean) => void>(callback);
    try {
        later("exists", toPath(path), (_error: Error | null, found: boolean) => told(found));
    } catch {
        told(false);
    }
}
Object.defineProperty(exists, custom, { value: (path: unknown) => new Promise((resolve) => exists(path, resolve)) });
fs["exists"] = exists;

// truncate(path) opens, as in Node: its errors say so.
fs["truncateSync"] = (path: unknown, length?: unknown): void => {
    if (typeof path === "number") return void run(plans.ftruncate(path, length));
    const fd = run(plans.open(path, "r+")) as number;
    try {
        run(plans.ftruncate(fd, length));
    } finally {
        run(plans.close(fd));
    }
};
fs["truncate"] = (path: unknown, ...rest: unknown[]): void => {
    const callback = withCallback(rest) as (error: Error | null) => void;
    if (typeof path === "number") return start(plans.ftruncate(path, rest[0]), (error) => callback(error));
    start(plans.open(path, "r+"), (error, fd) => {
        if (error) return callback(error);
        start(plans.ftruncate(fd, rest[0]), (failed) => start(plans.close(fd), (closed) => callback(failed ?? closed)));
    });
};
const closed = fs["close"] as (fd: unknown, callback: Callback) => void;
fs["close"] = (fd: unknown, callback?: Callback): void => {
    closed(fd, callback ?? ((error) => rethrow(error)));
};
function rethrow(error: unknown): void {
    if (error) throw error;
}

interface Region {
    bytes: Uint8Array;
    view: ArrayBufferView;
    offset: number;
    length: number;
    position: number;
}

/** Which part of a view is read into or written from. */
function region(view: unknown, offset: unknown, length: unknown, position: unknown): Region {
    const bytes = toBytes(view);
    if (typeof offset === "object" && offset !== null) return region(view, (offset as Region).offset, (offset as Region).length, (offset as Region).position);
    const from = offset === undefined || offset === null ? 0 : offset;
    if (typeof from !== "number") throw invalidType("offset", "of type number", from);
    if (!Number.isInteger(from)) throw outOfRange("offset", "an integer", from);
    if (from < 0) throw outOfRange("offset", `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, from);
    if (from > bytes.byteLength) throw outOfRange("offset", `<= ${bytes.byteLength}`, from);
    const most = bytes.byteLength - from;
    const wanted = length === undefined || length === null ? most : length;
    if (typeof wanted !== "number") throw invalidType("length", "of type number", wanted);
    if (wanted < 0) throw outOfRange("length", ">= 0", wanted);
    if (wanted > most) throw outOfRange("length", `<= ${most}`, wanted);
    return { bytes, view: view as ArrayBufferView, offset: from, length: wanted | 0, position: place(position) };
}

/** Where in the file; -1 is where it stands. */
function place(position: unknown): number {
    if (position === undefined || position === null) return -1;
    if (typeof position !== "number" && typeof position !== "bigint") throw invalidType("position", "one of type number or bigint", position);
    return Number(position);
}

fs["readSync"] = (fd: unknown, view: unknown, ...rest: unknown[]): number => {
    const [offset, length, position] = rest;
    if (rest.length === 1 && offset !== undefined) validateObject(offset, "options", kValidateObjectAllowNullable);
    const to = region(view, offset, length, position);
    return to.length === 0 ? 0 : readInto(toDescriptor(fd), to.bytes, to.offset, to.length, to.position);
};
const READ_BYTES = 16384;
function read(fd: unknown, ...given: unknown[]): void {
    const callback = checkCallback<(error: Error | null, read: number, view: unknown) => void>(given.pop());
    let [view, offset, length, position] = given;
    if (given.length <= 1 && !ArrayBuffer.isView(view)) {
        const options = (view ?? {}) as { buffer?: unknown; offset?: unknown; length?: unknown; position?: unknown };
        ({ offset, length, position } = options);
        view = options.buffer ?? Buffer.alloc(READ_BYTES);
    }
    const to = region(view, offset, length, position);
    later("read", toDescriptor(fd), to.length, to.position, (error: Error | null, memory: ArrayBuffer) => {
        if (error) return callback(error, 0, to.view);
        to.bytes.set(new Uint8Array(memory), to.offset);
        callback(null, memory.byteLength, to.view);
    });
}
fs["read"] = read;

function written(from: unknown, second: unknown, third: unknown, fourth: unknown): Region {
    if (typeof from !== "string") return region(from, second, third, fourth);
    const encoding = typeof third === "string" ? third : "utf8";
    const data = toData(from, encoding);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    return { bytes, view: bytes, offset: 0, length: bytes.byteLength, position: place(typeof second === "number" || typeof second === "bigint" ? second : null) };
}
fs["writeSync"] = (fd: unknown, from: unknown, second?: unknown, third?: unknown, fourth?: unknown): number => {
    const part = written(from, second, third, fourth);
    return writeFrom(toDescriptor(fd), part.bytes, part.offset, part.length, part.position);
};
function write(fd: unknown, from: unknown, ...given: unknown[]): void {
    const callback = checkCallback<(error: Error | null, written: number, from: unknown) => void>(given.pop());
    const part = written(from, given[0], given[1], given[2]);
    const bytes = part.bytes.subarray(part.offset, part.offset + part.length);
    later("write", toDescriptor(fd), bytes, part.position, (error: Error | null, count: number) => callback(error, error ? 0 : count, from));
}
fs["write"] = write;

function views(value: unknown): ArrayBufferView[] {
    if (!Array.isArray(value) || !value.every((view) => ArrayBuffer.isView(view))) throw invalidType("buffers", "an instance of ArrayBufferView[]", value);
    return value as ArrayBufferView[];
}
/** Spreads `from` over views; gives nothing. */
function scatter(from: Uint8Array, to: ArrayBufferView[]): void {
    let at = 0;
    for (const view of to) {
        const part = from.subarray(at, at + view.byteLength);
        toBytes(view).set(part);
        at += part.byteLength;
    }
}
const total = (all: ArrayBufferView[]): number => all.reduce((sum, view) => sum + view.byteLength, 0);
const joined = (all: ArrayBufferView[]): Uint8Array => (all.length === 1 ? toBytes(all[0]) : Buffer.concat(all.map((view) => toBytes(view))));
fs["readvSync"] = (fd: unknown, buffers: unknown, position?: unknown): number => {
    const all = views(buffers);
    const bytes = new Uint8Array(total(all));
    const count = readInto(toDescriptor(fd), bytes, 0, bytes.length, place(position));
    scatter(bytes.subarray(0, count), all);
    return count;
};
function readv(fd: unknown, buffers: unknown, ...given: unknown[]): void {
    const callback = checkCallback<(error: Error | null, read: number, all: unknown) => void>(given.pop());
    const all = views(buffers);
    later("read", toDescriptor(fd), total(all), place(given[0]), (error: Error | null, memory: ArrayBuffer) => {
        if (!error) scatter(new Uint8Array(memory), all);
        callback(error, error ? 0 : memory.byteLength, all);
    });
}
fs["readv"] = readv;
fs["writevSync"] = (fd: unknown, buffers: unknown, position?: unknown): number => {
    const bytes = joined(views(buffers));
    return writeFrom(toDescriptor(fd), bytes, 0, bytes.byteLength, place(position));
};
function writev(fd: unknown, buffers: unknown, ...given: unknown[]): void {
    const callback = checkCallback<(error: Error | null, written: number, all: unknown) => void>(given.pop());
    later("write", toDescriptor(fd), joined(views(buffers)), place(given[0]), (error: Error | null, count: number) => callback(error, error ? 0 : count, buffers));
}
fs["writev"] = writev;

/** `util.promisify` of these gives an object with both values. */
for (const [work, count, what] of [[read, "bytesRead", "buffer"], [write, "bytesWritten", "buffer"], [readv, "bytesRead", "buffers"], [writev, "bytesWritten", "buffers"]] as const) {
    const start = work as (...given: unknown[]) => void;
    Object.defineProperty(work, custom, {
        value: (...given: unknown[]) =>
            new Promise((resolve, reject) => {
                start(...given, (error: Error | null, number: number, value: unknown) => (error ? reject(error) : resolve({ [count]: number, [what]: value })));
            }),
    });
}

const streams = (): Streams => require("../leat/fs_streams") as Streams;
const watches = (): Watch => require("../leat/fs_watch") as Watch;
const copies = (): Copy => require("../leat/fs_copy") as Copy;
fs["createReadStream"] = (path: unknown, options?: unknown) => new (streams().ReadStream)(path, options);
fs["createWriteStream"] = (path: unknown, options?: unknown) => new (streams().WriteStream)(path, options);
fs["watch"] = (...given: unknown[]) => (watches().watch as Anything)(...given);
fs["watchFile"] = (...given: unknown[]) => (watches().watchFile as Anything)(...given);
fs["unwatchFile"] = (...given: unknown[]) => (watches().unwatchFile as Anything)(...given);
fs["cp"] = (...given: unknown[]) => (copies().cp as Anything)(...given);
fs["cpSync"] = (...given: unknown[]) => (copies().cpSync as Anything)(...given);
fs["opendir"] = (path: unknown, ...rest: unknown[]): void => {
    const callback = withCallback(rest);
    const { Dir } = require("../leat/fs_dir") as typeof import("../leat/fs_dir");
    Dir.open(path, rest[0] as undefined).then((dir) => process.nextTick(callback, null, dir), (error: unknown) => process.nextTick(callback, error));
};
fs["opendirSync"] = (path: unknown, options?: unknown) => (require("../leat/fs_dir") as typeof import("../leat/fs_dir")).Dir.openSync(path, options as undefined);
Object.assign(fs, { constants, Stats, Dirent, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 });

/** A property that is loaded when it is first read, and may be replaced. */
function late(name: string, load: () => unknown): void {
    Object.defineProperty(fs, name, {
        configurable: true,
        enumerable: true,
        get() {
            const value = load();
            Object.defineProperty(fs, name, { configurable: true, enumerable: true, writable: true, value });
            return value;
        },
        set(value: unknown) {
            Object.defineProperty(fs, name, { configurable: true, enumerable: true, writable: true, value });
        },
    });
}
late("ReadStream", () => streams().ReadStream);
late("WriteStream", () => streams().WriteStream);
late("FileReadStream", () => streams().ReadStream);
late("FileWriteStream", () => streams().WriteStream);
late("Dir", () => (require("../leat/fs_dir") as typeof import("../leat/fs_dir")).Dir);
late("promises", () => require("./fs/promises"));

module.exports = fs;
