// Where Cargo leaves the addon. `node tools/addon.mjs debug|release` puts it into the npm package, after packages/leat was built.
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
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
    renameSync(fresh, to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const profile = process.argv[2];
    if (!["debug", "release"].includes(profile)) fail(2, "usage: node tools/addon.mjs debug|release");
    install(profile);
}
