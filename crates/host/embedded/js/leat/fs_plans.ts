// What each operation of `node:fs` hands to the native functions and makes of what they give: one plan serves its synchronous
// form, its form with a callback, and its promise.
import { abortError, isUtf8, toBuffer, toData, toDescriptor, toEntries, toFile, toFlags, toLength, toMode, toName, toPath, toOptions, toSeconds, toStats, type Facts, type Listed } from "./fs";
import { invalidType } from "./coded";

export interface Plan {
    name: string;
    given: unknown[];
    finish?: (value: never) => unknown;
}

type Planner = (...given: never[]) => Plan;
type Options = Record<string, unknown> | undefined | null;

const plan = (name: string, given: unknown[], finish?: (value: never) => unknown): Plan => (finish === undefined ? { name, given } : { name, given, finish });
const nameIn = (encoding: string | null | undefined) => (value: string | ArrayBuffer) => toName(value, encoding);

function stat(name: string) {
    return (path: unknown, options?: Options): Plan => plan(name, [toPath(path)], (facts: Facts) => toStats(facts, options?.["bigint"] === true));
}

function checkSignal(signal: unknown): void {
    if (signal === undefined || signal === null) return;
    const { aborted, reason } = signal as { aborted?: boolean; reason?: unknown };
    if (typeof signal !== "object" || aborted === undefined) throw invalidType("options.signal", "an instance of AbortSignal", signal);
    if (aborted) throw abortError(reason);
}

function writeFile(flag: string) {
    return (file: unknown, data: unknown, options?: unknown): Plan => {
        const given = toOptions<{ mode?: unknown; flag?: unknown; flush?: boolean; signal?: unknown }>(options, {});
        checkSignal(given.signal);
        const from = toData(data, given.encoding ?? "utf8");
        return plan("writeFile", [toFile(file), from, toFlags(given.flag, flag), toMode(given.mode, "mode", 0o666), given.flush === true]);
    };
}

function owner(value: unknown, name: string): number {
    if (typeof value !== "number") throw invalidType(name, "of type number", value);
    return value;
}

/** `rm`'s and `rmdir`'s options. */
function removal(path: unknown, options: Options): Plan {
    if (options !== undefined && options !== null && typeof options !== "object") throw invalidType("options", "of type object", options);
    for (const name of ["recursive", "force"]) {
        const value = options?.[name];
        if (value !== undefined && typeof value !== "boolean") throw invalidType(`options.${name}`, "of type boolean", value);
    }
    return plan("rm", [toPath(path), options?.["recursive"] === true, options?.["force"] === true]);
}

export const plans = {
    access: (path: unknown, mode?: unknown) => plan("access", [toPath(path), toMode(mode, "mode", 0)]),
    appendFile: writeFile("a"),
    chmod: (path: unknown, mode: unknown) => plan("chmod", [toPath(path), toMode(mode, "mode")]),
    chown: (path: unknown, uid: unknown, gid: unknown) => plan("chown", [toPath(path), owner(uid, "uid"), owner(gid, "gid")]),
    close: (fd: unknown) => plan("close", [toDescriptor(fd)]),
    copyFile: (from: unknown, to: unknown, mode?: unknown) => plan("copyFile", [toPath(from, "src"), toPath(to, "dest"), toMode(mode, "mode", 0)]),
    fchmod: (fd: unknown, mode: unknown) => plan("fchmod", [toDescriptor(fd), toMode(mode, "mode")]),
    fchown: (fd: unknown, uid: unknown, gid: unknown) => plan("fchown", [toDescriptor(fd), owner(uid, "uid"), owner(gid, "gid")]),
    fdatasync: (fd: unknown) => plan("fdatasync", [toDescriptor(fd)]),
    fstat: (fd: unknown, options?: Options) => plan("fstat", [toDescriptor(fd)], (facts: Facts) => toStats(facts, options?.["bigint"] === true)),
    fsync: (fd: unknown) => plan("fsync", [toDescriptor(fd)]),
    ftruncate: (fd: unknown, length?: unknown) => plan("ftruncate", [toDescriptor(fd), toLength(length, "len")]),
    futimes: (fd: unknown, atime: unknown, mtime: unknown) => plan("futimes", [toDescriptor(fd), toSeconds(atime, "atime"), toSeconds(mtime, "mtime")]),
    lchown: (path: unknown, uid: unknown, gid: unknown) => plan("lchown", [toPath(path), owner(uid, "uid"), owner(gid, "gid")]),
    link: (from: unknown, to: unknown) => plan("link", [toPath(from, "existingPath"), toPath(to, "newPath")]),
    lstat: stat("lstat"),
    lutimes: (path: unknown, atime: unknown, mtime: unknown) => plan("lutimes", [toPath(path), toSeconds(atime, "atime"), toSeconds(mtime, "mtime")]),
    mkdir: (path: unknown, options?: unknown) => {
        const given = typeof options === "object" && options !== null ? (options as { mode?: unknown; recursive?: unknown }) : { mode: options };
        if (given.recursive !== undefined && typeof given.recursive !== "boolean") throw invalidType("options.recursive", "of type boolean", given.recursive);
        return plan("mkdir", [toPath(path), toMode(given.mode, "mode", 0o777), given.recursive === true]);
    },
    mkdtemp: (prefix: unknown, options?: unknown) => {
        const { encoding } = toOptions(options, {});
        return plan("mkdtemp", [toPath(prefix, "prefix"), encoding === "buffer"], nameIn(encoding));
    },
    open: (path: unknown, flags?: unknown, mode?: unknown) => plan("open", [toPath(path), toFlags(flags, "r"), toMode(mode, "mode", 0o666)]),
    readFile: (file: unknown, options?: unknown) => {
        const given = toOptions<{ flag?: unknown; signal?: unknown }>(options, {});
        checkSignal(given.signal);
        const { encoding } = given;
        if (isUtf8(encoding)) return plan("readText", [toFile(file), toFlags(given.flag, "r")]);
        const bytes = encoding === undefined || encoding === null || encoding === "buffer";
        const finish = bytes ? toBuffer : (memory: ArrayBuffer) => toBuffer(memory).toString(encoding as BufferEncoding);
        return plan("readFile", [toFile(file), toFlags(given.flag, "r")], finish);
    },
    readdir: (path: unknown, options?: unknown) => {
        const given = toOptions<{ withFileTypes?: boolean; recursive?: boolean }>(options, {});
        if (given.recursive !== undefined && given.recursive !== null && typeof given.recursive !== "boolean") throw invalidType("options.recursive", "of type boolean", given.recursive);
        const from = toPath(path);
        const folder = typeof from === "string" ? from : Buffer.from(from).toString();
        return plan("readdir", [from, given.recursive === true, given.encoding === "buffer", false], (listed: Listed) => toEntries(listed, folder, given));
    },
    readlink: (path: unknown, options?: unknown) => {
        const { encoding } = toOptions(options, {});
        return plan("readlink", [toPath(path), encoding === "buffer"], nameIn(encoding));
    },
    realpath: (path: unknown, options?: unknown) => {
        const { encoding } = toOptions(options, {});
        return plan("realpath", [toPath(path), encoding === "buffer", false], nameIn(encoding));
    },
    realpathNative: (path: unknown, options?: unknown) => {
        const { encoding } = toOptions(options, {});
        return plan("realpath", [toPath(path), encoding === "buffer", true], nameIn(encoding));
    },
    rename: (from: unknown, to: unknown) => plan("rename", [toPath(from, "oldPath"), toPath(to, "newPath")]),
    rm: removal,
    rmdir: (path: unknown, options?: Options) => (options?.["recursive"] === true ? removal(path, options) : plan("rmdir", [toPath(path)])),
    stat: stat("stat"),
    symlink: (target: unknown, path: unknown, _type?: unknown) => plan("symlink", [toPath(target, "target"), toPath(path)]),
    truncate: (path: unknown, length?: unknown) => plan("truncate", [toPath(path), toLength(length, "len")]),
    unlink: (path: unknown) => plan("unlink", [toPath(path)]),
    utimes: (path: unknown, atime: unknown, mtime: unknown) => plan("utimes", [toPath(path), toSeconds(atime, "atime"), toSeconds(mtime, "mtime")]),
    writeFile: writeFile("w"),
} satisfies Record<string, Planner>;

export type Operation = keyof typeof plans;
export const operations = Object.keys(plans) as Operation[];

export const planOf = (name: Operation): ((...given: unknown[]) => Plan) => plans[name] as (...given: unknown[]) => Plan;
