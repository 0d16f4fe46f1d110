// The rules of POSIX paths, from path-browserify, with Node's checks of arguments.
import { validateObject, validateString } from "./validate";

interface Parsed {
    root?: string;
    dir?: string;
    base?: string;
    name?: string;
    ext?: string;
}

const original = require("path-browserify") as typeof import("node:path").posix;

function join(...parts: string[]): string {
    for (const part of parts) if (typeof part !== "string") validateString(part, "path");
    return original.join(...parts);
}

function resolve(...parts: string[]): string {
    for (let at = parts.length - 1; at >= 0; at--) {
        if (typeof parts[at] !== "string") validateString(parts[at], `paths[${at}]`);
        if ((parts[at] as string).startsWith("/")) break;
    }
    return original.resolve(...parts);
}

/** A function of one path. */
function one<R>(run: (path: string) => R): (path: string) => R {
    const { name } = run;
    const checked = (path: string): R => {
        if (typeof path !== "string") validateString(path, "path");
        return run(path);
    };
    return Object.defineProperty(checked, "name", { value: name });
}

export const posix = {
    resolve,
    normalize: one(original.normalize),
    isAbsolute: one(original.isAbsolute),
    join,
    relative(from: string, to: string): string {
        validateString(from, "from");
        validateString(to, "to");
        return original.relative(from, to);
    },
    toNamespacedPath: (path: string): string => path,
    dirname: one(original.dirname),
    basename(path: string, suffix?: string): string {
        if (suffix !== undefined) validateString(suffix, "suffix");
        validateString(path, "path");
        return suffix === undefined ? original.basename(path) : original.basename(path, suffix);
    },
    extname: one(original.extname),
    format(parsed: Parsed): string {
        validateObject(parsed, "pathObject");
        const { root = "", ext = "", name = "" } = parsed;
        const dir = parsed.dir || root;
        const base = parsed.base || `${name}${ext === "" || ext.startsWith(".") ? ext : `.${ext}`}`;
        if (dir === "") return base;
        return dir === root ? `${dir}${base}` : `${dir}/${base}`;
    },
    parse: one(original.parse),
    sep: "/",
    delimiter: ":",
    _makeLong: (path: string): string => path,
};
