// What `node:fs` and `node:fs/promises` share: the native operations, checks of arguments, Stats and Dirent.
import { codedError, codedTypeError, invalidType, invalidValue, outOfRange } from "./coded";
import { AbortError } from "./errors";

export type Callback<T = unknown> = (error: Error | null, value: T) => void;
export type PathLike = string | Uint8Array | URL;

export interface Native {
    call(name: string, ...given: unknown[]): unknown;
    later(name: string, ...given: unknown[]): void;
    readInto(fd: number, into: Uint8Array, offset: number, length: number, position: number): number;
    writeFrom(fd: number, from: Uint8Array, offset: number, length: number, position: number): number;
}

const natives = native("fs") as Native;
export const { call, later, readInto, writeFrom } = natives;

/** An operation on another thread as a promise. */
export function promised<T>(name: string, ...given: unknown[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
        later(name, ...given, (error: Error | null, value: T) => (error ? reject(error) : resolve(value)));
    });
}

type Bytes = import("node:buffer").Buffer;
let bufferClass: typeof import("node:buffer").Buffer | undefined;
/** A Buffer over the memory of `memory`. */
export function toBuffer(memory: ArrayBuffer): Bytes {
    bufferClass ??= (require("node:buffer") as typeof import("node:buffer")).Buffer;
    return bufferClass.from(memory);
}

export function encodeText(text: string, encoding: string | undefined): Uint8Array | string {
    if (encoding === undefined || encoding === "utf8" || encoding === "utf-8") return text;
    bufferClass ??= (require("node:buffer") as typeof import("node:buffer")).Buffer;
    return bufferClass.from(text, encoding as BufferEncoding);
}

export function isUtf8(encoding: unknown): boolean {
    return encoding === "utf8" || encoding === "utf-8" || encoding === "UTF-8" || encoding === "UTF8";
}

/** A path as the natives take it. */
export function toPath(path: unknown, name = "path"): string | Uint8Array {
    if (typeof path === "string") {
        if (path.includes("\0")) throw invalidValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
        return path;
    }
    if (path instanceof Uint8Array) {
        if (path.includes(0)) throw invalidValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
        return path;
    }
    if (typeof path === "object" && path !== null && typeof (path as URL).href === "string" && typeof (path as URL).protocol === "string") {
        const plain = (require("node:url") as typeof import("node:url")).fileURLToPath(path as URL);
        return toPath(plain, name);
    }
    throw invalidType(name, "of type string or an instance of Buffer or URL", path);
}

export function toDescriptor(fd: unknown): number {
    if (typeof fd !== "number") throw invalidType("fd", "of type number", fd);
    if (!Number.isInteger(fd)) throw outOfRange("fd", "an integer", fd);
    if (fd < 0 || fd > 2147483647) throw outOfRange("fd", ">= 0 && <= 2147483647", fd);
    return fd;
}

/** A path, or a descriptor. */
export function toFile(file: unknown): string | Uint8Array | number {
    return typeof file === "number" && Number.isInteger(file) && file >= 0 ? file : toPath(file);
}

export const constants = Object.freeze(
    Object.assign(Object.create(null) as Record<string, number>, {
        UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2,
        UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7,
        EXTENSIONLESS_FORMAT_JAVASCRIPT: 0, EXTENSIONLESS_FORMAT_WASM: 1,
        S_IFMT: 61440, S_IFREG: 32768, S_IFDIR: 16384, S_IFCHR: 8192, S_IFBLK: 24576, S_IFIFO: 4096, S_IFLNK: 40960, S_IFSOCK: 49152,
        O_CREAT: 64, O_EXCL: 128, UV_FS_O_FILEMAP: 0, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_NOATIME: 262144, O_NOFOLLOW: 131072, O_SYNC: 1052672, O_DSYNC: 4096, O_DIRECT: 16384, O_NONBLOCK: 2048,
        S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8, S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1,
        F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
    }),
);

const SYNC = 1052672;
const FLAGS: Record<string, number> = {
    r: 0, rs: SYNC, sr: SYNC, "r+": 2, "rs+": 2 | SYNC, "sr+": 2 | SYNC,
    w: 577, wx: 705, xw: 705, "w+": 578, "wx+": 706, "xw+": 706,
    a: 1089, ax: 1217, xa: 1217, as: 1089 | SYNC, sa: 1089 | SYNC, "a+": 1090, "ax+": 1218, "xa+": 1218, "as+": 1090 | SYNC, "sa+": 1090 | SYNC,
};

export function toFlags(flags: unknown, fallback: string): number {
    if (typeof flags === "number") return flags;
    if (flags === undefined || flags === null) return FLAGS[fallback] as number;
    const known = FLAGS[String(flags)];
    if (known === undefined) throw invalidValue("flags", flags);
    return known;
}

export function toMode(mode: unknown, name: string, fallback?: number): number {
    if (mode === undefined || mode === null) {
        if (fallback !== undefined) return fallback;
    }
    if (typeof mode === "string") {
        if (!/^[0-7]+$/.test(mode)) throw invalidValue(name, mode, "must be a 32-bit unsigned integer or an octal string");
        return parseInt(mode, 8);
    }
    if (typeof mode !== "number") throw invalidType(name, "of type number", mode);
    if (!Number.isInteger(mode)) throw outOfRange(name, "an integer", mode);
    if (mode < 0 || mode > 4294967295) throw outOfRange(name, ">= 0 && <= 4294967295", mode);
    return mode;
}

/** Options that may also be an encoding's name. */
export function toOptions<T extends object>(options: unknown, fallback: T): T & { encoding?: string | null | undefined } {
    if (options === undefined || options === null || typeof options === "function") return fallback;
    if (typeof options === "string") {
        checkEncoding(options);
        return { ...fallback, encoding: options };
    }
    if (typeof options !== "object") throw invalidType("options", "one of type string or an instance of Object", options);
    const encoding = (options as { encoding?: unknown }).encoding;
    if (encoding !== undefined && encoding !== null && encoding !== "buffer") checkEncoding(encoding);
    return options as T & { encoding?: string };
}

function checkEncoding(encoding: unknown): void {
    if (typeof encoding === "string" && (isUtf8(encoding) || encoding === "buffer" || /^(ascii|latin1|binary|hex|base64|base64url|ucs-?2|utf-?16le)$/i.test(encoding))) return;
    throw invalidValue("encoding", encoding, "is invalid encoding");
}

/** Seconds since 1970 of a time as programs give it. */
export function toSeconds(time: unknown, name = "time"): number {
    if (typeof time === "string" && Number.isFinite(+time)) return +time;
    if (typeof time === "number" && Number.isFinite(time)) return time < 0 ? Date.now() / 1000 : time;
    if (time instanceof Date) return time.getTime() / 1000;
    throw invalidType(name, "one of type number or string or an instance of Date", time);
}

export type Facts = number[];

class StatsBase<T extends number | bigint> {
    declare dev: T;
    declare mode: T;
    declare nlink: T;
    declare uid: T;
    declare gid: T;
    declare rdev: T;
    declare blksize: T;
    declare ino: T;
    declare size: T;
    declare blocks: T;

    constructor(dev: T, mode: T, nlink: T, uid: T, gid: T, rdev: T, blksize: T, ino: T, size: T, blocks: T) {
        this.dev = dev;
        this.mode = mode;
        this.nlink = nlink;
        this.uid = uid;
        this.gid = gid;
        this.rdev = rdev;
        this.blksize = blksize;
        this.ino = ino;
        this.size = size;
        this.blocks = blocks;
    }

    isDirectory(): boolean {
        return (Number(this.mode) & 61440) === 16384;
    }
    isFile(): boolean {
        return (Number(this.mode) & 61440) === 32768;
    }
    isBlockDevice(): boolean {
        return (Number(this.mode) & 61440) === 24576;
    }
    isCharacterDevice(): boolean {
        return (Number(this.mode) & 61440) === 8192;
    }
    isSymbolicLink(): boolean {
        return (Number(this.mode) & 61440) === 40960;
    }
    isFIFO(): boolean {
        return (Number(this.mode) & 61440) === 4096;
    }
    isSocket(): boolean {
        return (Number(this.mode) & 61440) === 49152;
    }
}

const DATES = ["atime", "mtime", "ctime", "birthtime"] as const;

/** Numbers of a file; dates are made when they are read. */
export class Stats extends StatsBase<number> {
    declare atimeMs: number;
    declare mtimeMs: number;
    declare ctimeMs: number;
    declare birthtimeMs: number;
    declare atime: Date;
    declare mtime: Date;
    declare ctime: Date;
    declare birthtime: Date;

    constructor(dev: number, mode: number, nlink: number, uid: number, gid: number, rdev: number, blksize: number, ino: number, size: number, blocks: number, atimeMs: number, mtimeMs: number, ctimeMs: number, birthtimeMs: number) {
        super(dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks);
        this.atimeMs = atimeMs;
        this.mtimeMs = mtimeMs;
        this.ctimeMs = ctimeMs;
        this.birthtimeMs = birthtimeMs;
    }
}

// Dates are made when they are first read, as in Node 22; Node 20 has them as the object's own.
for (const name of DATES) {
    const put = (stats: Stats, value: unknown): void => {
        Object.defineProperty(stats, name, { configurable: true, enumerable: true, writable: true, value });
    };
    Object.defineProperty(Stats.prototype, name, {
        configurable: true,
        enumerable: true,
        get(this: Stats) {
            const value = new Date(Math.round(this[`${name}Ms`]));
            put(this, value);
            return value;
        },
        set(this: Stats, value: unknown) {
            put(this, value);
        },
    });
}

export class BigIntStats extends StatsBase<bigint> {
    [name: string]: unknown;

    constructor(facts: Facts) {
        const big = facts.map(BigInt) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
        super(big[0], big[1], big[2], big[3], big[4], big[5], big[6], big[7], big[8], big[9]);
        const times = [0, 1, 2, 3].map((at) => BigInt(facts[10 + at * 2] as number) * 1000000000n + BigInt(facts[11 + at * 2] as number));
        DATES.forEach((name, at) => (this[`${name}Ms`] = (times[at] as bigint) / 1000000n));
        DATES.forEach((name, at) => (this[`${name}Ns`] = times[at]));
        DATES.forEach((name, at) => (this[name] = new Date(Number((times[at] as bigint) / 1000000n))));
    }
}

export function toStats(facts: Facts, bigint = false): Stats {
    if (bigint) return new BigIntStats(facts) as unknown as Stats;
    const ms = (at: number): number => (facts[at] as number) * 1000 + (facts[at + 1] as number) / 1e6;
    const number = (at: number): number => facts[at] as number;
    return new Stats(number(0), number(1), number(2), number(3), number(4), number(5), number(6), number(7), number(8), number(9), ms(10), ms(12), ms(14), ms(16));
}

const kind = Symbol("type");

export class Dirent {
    name: string | Uint8Array;
    parentPath: string;
    path: string;
    [kind]: number;

    constructor(name: string | Uint8Array, path: string, type: number) {
        this.name = name;
        this.parentPath = path;
        this.path = path;
        this[kind] = type;
    }
    isFile(): boolean {
        return this[kind] === 1;
    }
    isDirectory(): boolean {
        return this[kind] === 2;
    }
    isSymbolicLink(): boolean {
        return this[kind] === 3;
    }
    isFIFO(): boolean {
        return this[kind] === 4;
    }
    isSocket(): boolean {
        return this[kind] === 5;
    }
    isCharacterDevice(): boolean {
        return this[kind] === 6;
    }
    isBlockDevice(): boolean {
        return this[kind] === 7;
    }
}

export type Listed = [(string | ArrayBuffer)[], number[]];

/** What `readdir` gives of what the native found. */
export function toEntries([names, kinds]: Listed, path: string, options: { withFileTypes?: boolean; encoding?: string | null | undefined }): unknown[] {
    const { encoding } = options;
    const named = (name: string | ArrayBuffer): string | Uint8Array => toName(name, encoding);
    if (options.withFileTypes !== true) return names.map(named);
    return names.map((name, at) => {
        const slash = typeof name === "string" ? name.lastIndexOf("/") : -1;
        if (typeof name !== "string" || slash < 0) return new Dirent(named(name), path, kinds[at] as number);
        const folder = `${path.replace(/\/+$/, "")}/${name.slice(0, slash)}`;
        return new Dirent(named(name.slice(slash + 1)), folder, kinds[at] as number);
    });
}

/** A name in the encoding that was asked for. */
export function toName(name: string | ArrayBuffer, encoding: string | null | undefined): string | Uint8Array {
    if (typeof name !== "string") return toBuffer(name);
    return encoding === undefined || encoding === null || isUtf8(encoding) ? name : (bufferClass ??= (require("node:buffer") as typeof import("node:buffer")).Buffer).from(name).toString(encoding as BufferEncoding);
}

export const abortError = (cause: unknown): Error => new AbortError(undefined, { cause });

export function checkCallback<T extends Function>(callback: unknown, name = "cb"): T {
    if (typeof callback !== "function") throw invalidType(name, "of type function", callback);
    return callback as T;
}

/** A view's bytes as a Uint8Array over the same memory. */
export function toBytes(view: unknown, name = "buffer"): Uint8Array {
    if (view instanceof Uint8Array) return view;
    if (ArrayBuffer.isView(view)) return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    throw invalidType(name, "an instance of Buffer, TypedArray, or DataView", view);
}

/** What a file is written from. */
export function toData(data: unknown, encoding: string | null | undefined): string | Uint8Array {
    if (typeof data === "string") return encodeText(data, encoding ?? undefined);
    if (ArrayBuffer.isView(data)) return toBytes(data);
    throw invalidType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
}

export function toLength(value: unknown, name: string): number {
    if (value === undefined || value === null) return 0;
    if (typeof value !== "number") throw invalidType(name, "of type number", value);
    if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
    return Math.max(0, value);
}

export { codedError, codedTypeError, invalidType, invalidValue, outOfRange };
