// Finds the addon for this host and loads it, or says why there is none and what to do.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Addon } from "./addon";
import { AddonError } from "./error";
import { type Host, missing, platformOf, requireNode, thisHost } from "./host";

/** Where the addon is looked for and how it is loaded. Tests fake it. */
export interface Files {
    /** The package's folder. */
    root: string;
    /** `LEAT_ADDON`: a file to load in place of the package's own. */
    override: string | undefined;
    exists: (path: string) => boolean;
    /** Loads a native addon; what it throws is Node's. */
    open: (path: string) => unknown;
}

let loaded: Addon | undefined;

/** This thread's addon, loaded at the first call. Throws an `AddonError`; a failure is tried again at the next call. */
export function addon(): Addon {
    loaded ??= load(thisHost(), {
        root: join(__dirname, "..", ".."),
        override: process.env["LEAT_ADDON"] || undefined,
        exists: existsSync,
        open: dlopen,
    });
    return loaded;
}

/** Loads `files.override`, or else `native/leat.<platform>.node` below `files.root`. */
export function load(host: Host, files: Files): Addon {
    requireNode(host);
    const platform = platformOf(host);
    const path = files.override ?? join(files.root, "native", `leat.${platform}.node`);
    let opened: unknown;
    try {
        opened = files.open(path);
    } catch (error) {
        throw explained(error, platform, path, files);
    }
    // The boundary's types may be trusted once the versions agree.
    const found = opened as Addon;
    requireVersion(found.version(), path, files.root);
    return found;
}

/** As `require` does for a `.node` file, yet whatever the file is called: Cargo's libraries end in `.so`. */
function dlopen(path: string): unknown {
    const module = { exports: {} };
    process.dlopen(module, path);
    return module.exports;
}

/** The records of a batch have no version of their own: an addon of another version would be misread. */
function requireVersion(version: string, path: string, root: string): void {
    const { version: ours } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    if (version === ours) return;
    throw new AddonError(
        "LEAT_ADDON_MISMATCH",
        `Leat's addon has version ${version} and the package ${ours} (${path}): install the package again, or run \`make build\` in Leat's sources`,
    );
}

function explained(error: unknown, platform: string, path: string, files: Files): AddonError {
    if (error instanceof Error && "code" in error && error.code === "ERR_DLOPEN_DISABLED") {
        return new AddonError(
            "LEAT_ADDON_REFUSED",
            "Node.js was told to load no native addons, and Leat is one: start it without --no-addons, with --allow-addons if its permission model is on, or stay with node:http",
            { cause: error },
        );
    }
    if (!files.exists(path)) return missing(platform, path, files.override !== undefined);
    const why = error instanceof Error ? error.message : String(error);
    return new AddonError(
        "LEAT_ADDON_FAILED",
        `Leat's addon for ${platform} could not be loaded (${why}): build it on this machine with \`make build\` in Leat's sources, or stay with node:http`,
        { cause: error },
    );
}
