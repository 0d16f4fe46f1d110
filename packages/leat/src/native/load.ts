// Finds the addon for this host and loads it, or says why there is none and what to do.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Addon } from "./addon";
import { AddonError } from "./error";
import { type Host, missing, platformOf, requireNode, thisHost } from "./host";

/** How a file is looked for and loaded. Tests fake it. */
export interface Files {
    /** The package's folder. */
    root: string;
    exists: (path: string) => boolean;
    /** Loads a native addon; what it throws is Node's. */
    open: (path: string) => unknown;
}

let loaded: Addon | undefined;

/** This thread's addon, loaded at the first call. Throws an `AddonError`; a failure is tried again at the next call. */
export function addon(): Addon {
    loaded ??= load(thisHost(), { root: join(__dirname, "..", ".."), exists: existsSync, open: (path) => require(path) as unknown });
    return loaded;
}

/** Loads `native/leat.<platform>.node` below `files.root`. */
export function load(host: Host, files: Files): Addon {
    requireNode(host);
    const platform = platformOf(host);
    const path = join(files.root, "native", `leat.${platform}.node`);
    let opened: unknown;
    try {
        opened = files.open(path);
    } catch (error) {
        throw explained(error, platform, path, files);
    }
    // Reached only when the module loaded, so the boundary's types may be trusted once the versions agree.
    const found = opened as Addon;
    requireVersion(found.version(), files.root);
    return found;
}

/** The records of a batch have no version of their own: an addon of another version would be misread. */
function requireVersion(version: string, root: string): void {
    const { version: ours } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    if (version === ours) return;
    throw new AddonError(
        "LEAT_ADDON_MISMATCH",
        `Leat's addon has version ${version} and the package ${ours}: install the package again, or run \`make build\` in Leat's sources`,
    );
}

function explained(error: unknown, platform: string, path: string, files: Files): AddonError {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_DLOPEN_DISABLED") {
        return new AddonError(
            "LEAT_ADDON_REFUSED",
            "Node.js was told to load no native addons, and Leat is one: start it without --no-addons, with --allow-addons if it has --permission, or stay with node:http",
            { cause: error },
        );
    }
    if (code === "ERR_ACCESS_DENIED") {
        return new AddonError(
            "LEAT_ADDON_REFUSED",
            `Node.js' permission model hides ${path}: start it with --allow-fs-read=${join(files.root, "*")} and --allow-addons, or stay with node:http`,
            { cause: error },
        );
    }
    if (!files.exists(path)) return missing(platform, path);
    const why = error instanceof Error ? error.message : String(error);
    return new AddonError(
        "LEAT_ADDON_FAILED",
        `Leat's addon for ${platform} could not be loaded (${why}): build it on this machine with \`make build\` in Leat's sources, or stay with node:http`,
        { cause: error },
    );
}
