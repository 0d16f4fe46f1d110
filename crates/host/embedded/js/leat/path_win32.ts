// The rules of Windows's paths, for programs that name them (`path.win32`). Here they are never the system's.
import { posix } from "./path_posix";
import { validateObject, validateString } from "./validate";

/** A path in parts: `C:` or `\\server\share`, whether it begins at the root, and the rest with either slash. */
interface Split {
    readonly device: string;
    readonly rooted: boolean;
    readonly rest: string;
}

function split(path: string): Split {
    const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
    if (share !== null) return { device: `\\\\${share[1]}\\${share[2]}`, rooted: true, rest: path.slice(share[0].length) };
    const drive = /^[A-Za-z]:/.exec(path);
    const device = drive === null ? "" : drive[0];
    const rest = path.slice(device.length);
    return { device, rooted: /^[\\/]/.test(rest), rest };
}

/** `.` and `..` taken out of `rest`; what goes above a root is dropped. */
function plain(rest: string, rooted: boolean): string {
    const out: string[] = [];
    for (const part of rest.split(/[\\/]+/)) {
        if (part === "" || part === ".") continue;
        if (part !== "..") out.push(part);
        else if (out.length > 0 && out.at(-1) !== "..") out.pop();
        else if (!rooted) out.push(part);
    }
    return out.join("\\");
}

function normalize(path: string): string {
    validateString(path, "path");
    if (path === "") return ".";
    const { device, rooted, rest } = split(path);
    let tail = plain(rest, rooted);
    if (tail === "" && !rooted) tail = ".";
    if (tail !== "" && /[\\/]$/.test(rest)) tail += "\\";
    return `${device}${rooted ? "\\" : ""}${tail}`;
}

function isAbsolute(path: string): boolean {
    validateString(path, "path");
    return /^(?:[A-Za-z]:)?[\\/]/.test(path);
}

function join(...parts: string[]): string {
    for (const part of parts) validateString(part, "path");
    const given = parts.filter((part) => part !== "");
    if (given.length === 0) return ".";
    let joined = given.join("\\");
    // Only a first part that is a share itself makes a share.
    if (!/^[\\/]{2}[^\\/]/.test(given[0] as string)) joined = joined.replace(/^[\\/]{2,}/, "\\");
    return normalize(joined);
}

function resolve(...parts: string[]): string {
    let device = "";
    let rooted = false;
    let tail = "";
    for (let at = parts.length - 1; at >= -1 && !(rooted && device !== ""); at--) {
        const part = at < 0 ? process.cwd() : (parts[at] as string);
        validateString(part, `paths[${at}]`);
        if (part === "") continue;
        const one = split(part);
        if (one.device !== "" && device !== "" && one.device.toLowerCase() !== device.toLowerCase()) continue;
        device ||= one.device;
        if (rooted) continue;
        tail = `${one.rest}\\${tail}`;
        rooted = one.rooted;
    }
    return `${device}${rooted ? "\\" : ""}${plain(tail, rooted)}` || ".";
}

function relative(from: string, to: string): string {
    validateString(from, "from");
    validateString(to, "to");
    const [one, other] = [split(resolve(from)), split(resolve(to))];
    if (one.device.toLowerCase() !== other.device.toLowerCase()) return resolve(to);
    const before = one.rest.split("\\").filter(Boolean);
    const after = other.rest.split("\\").filter(Boolean);
    let same = 0;
    while (same < before.length && before[same]?.toLowerCase() === after[same]?.toLowerCase()) same++;
    return [...before.slice(same).map(() => ".."), ...after.slice(same)].join("\\");
}

/** The device and the root of a path, and what is behind them with POSIX's slashes. */
function rootOf(path: string): [root: string, rest: string] {
    const { device, rooted, rest } = split(path);
    const slash = rooted ? (/^[\\/]/.exec(rest)?.[0] ?? "") : "";
    return [device === "" ? slash : path.slice(0, path.length - rest.length) + slash, rest.slice(slash.length)];
}

function dirname(path: string): string {
    validateString(path, "path");
    const [root, rest] = rootOf(path);
    const trimmed = rest.replace(/[\\/]+$/, "");
    const end = Math.max(trimmed.lastIndexOf("\\"), trimmed.lastIndexOf("/"));
    if (end < 0) return root || ".";
    return root + trimmed.slice(0, end).replace(/[\\/]+$/, "");
}

function basename(path: string, suffix?: string): string {
    validateString(path, "path");
    return posix.basename(rootOf(path)[1].replaceAll("\\", "/"), suffix);
}

function extname(path: string): string {
    validateString(path, "path");
    return posix.extname(basename(path));
}

export const win32 = {
    resolve,
    normalize,
    isAbsolute,
    join,
    relative,
    toNamespacedPath: (path: string): string => path,
    dirname,
    basename,
    extname,
    format(parsed: { root?: string; dir?: string; base?: string; name?: string; ext?: string }): string {
        validateObject(parsed, "pathObject");
        const { root = "", ext = "", name = "" } = parsed;
        const dir = parsed.dir || root;
        const base = parsed.base || `${name}${ext === "" || ext.startsWith(".") ? ext : `.${ext}`}`;
        if (dir === "") return base;
        return dir === root ? `${dir}${base}` : `${dir}\\${base}`;
    },
    parse(path: string) {
        validateString(path, "path");
        const [root] = rootOf(path);
        const base = basename(path);
        const ext = extname(path);
        const dir = dirname(path);
        return { root, dir: dir === "." && root === "" && !/^\.[\\/]/.test(path) ? "" : dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
    },
    sep: "\\",
    delimiter: ";",
    _makeLong: (path: string): string => path,
    posix,
    get win32() {
        return win32 as unknown;
    },
};
