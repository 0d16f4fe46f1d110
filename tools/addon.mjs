// Where Cargo leaves the addon. `node tools/addon.mjs debug|release` puts it into the npm package, after packages/leat was built.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const STRIP_MS_MAX = 60_000;
const LIBRARY = { linux: "libleat_node.so", darwin: "libleat_node.dylib", win32: "leat_node.dll" }[process.platform];

/** The addon that Cargo builds in `profile`, which need not be there. */
export function built(profile) {
    return join(root, "target", profile, LIBRARY);
}

function fail(code, message) {
    console.error(message);
    process.exit(code);
}

function install(profile) {
    const from = built(profile);
    const flag = profile === "release" ? " --release" : "";
    if (!existsSync(from)) fail(1, `${relative(root, from)} is not there; run: cargo build${flag} --locked -p leat-node`);

    // The package itself knows what its file is called.
    const host = join(root, "packages", "leat", "dist", "native", "host.js");
    if (!existsSync(host)) fail(1, "packages/leat is not built; run: node tools/package.mjs");
    const { platformOf, thisHost } = createRequire(import.meta.url)(host);

    const folder = join(root, "packages", "leat", "native");
    const to = join(folder, `leat.${platformOf(thisHost())}.node`);
    mkdirSync(folder, { recursive: true });
    // A process that has loaded the old file keeps it: writing into it would crash that process.
    const fresh = `${to}.${process.pid}`;
    copyFileSync(from, fresh);
    if (profile === "release") strip(fresh);
    renameSync(fresh, to);
}

/**
 * Takes what only a debugger reads out of the file that users install: four fifths of it. The names of functions stay, so
 * that a panic's backtrace and a profile say something; Cargo's own file, which keeps all, can be named by LEAT_ADDON.
 */
function strip(file) {
    if (process.platform === "win32") return; // It is in a file of its own there.
    const { status, error, stderr } = spawnSync("strip", ["-S", file], { encoding: "utf8", timeout: STRIP_MS_MAX });
    if (status !== 0) console.error(`the addon keeps its debug information: strip ${error?.message ?? stderr.trim()}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const profile = process.argv[2];
    if (!["debug", "release"].includes(profile)) fail(2, "usage: node tools/addon.mjs debug|release");
    install(profile);
}
