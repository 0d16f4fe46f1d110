// Which file of which package a path is.
import { readFileSync } from "node:fs";

/** A file of a package that Leat stands in for. */
export interface PackageFile {
    readonly name: string;
    readonly major: number;
    /** Its path inside the package, without `.js`. */
    readonly path: string;
}

/** Nothing but these can be mapped, and most modules of a program are told by this alone. */
const MAPPABLE = /^(.*[\\/]node_modules[\\/](express|router))[\\/](index|lib[\\/][\w\\/]+)\.js$/s;

/** Versions by package folder: several files of each are loaded. */
const majors = new Map<string, number>();

/** What file of `express` or `router` this is, if it is one. */
export function packageFile(filename: string): PackageFile | undefined {
    const found = MAPPABLE.exec(filename);
    if (found === null) return undefined;
    const [, folder, name, path] = found as unknown as [string, string, string, string];
    let major = majors.get(folder);
    if (major === undefined) majors.set(folder, (major = majorOf(folder, name)));
    return { name, major, path: path.replaceAll("\\", "/") };
}

/** The major version of what lies in `folder`, or 0 if that is another package, installed under this name. */
function majorOf(folder: string, name: string): number {
    let manifest: { name?: unknown; version?: unknown };
    try {
        manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as typeof manifest;
    } catch {
        return 0;
    }
    return manifest.name === name ? Number.parseInt(String(manifest.version), 10) || 0 : 0;
}
