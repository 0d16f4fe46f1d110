// Puts the built addon into the npm package: `node tools/addon.mjs debug|release`, after packages/leat was built.
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LIBRARY = { linux: "libleat_node.so", darwin: "libleat_node.dylib", win32: "leat_node.dll" }[process.platform];

function fail(code, message) {
    console.error(message);
    process.exit(code);
}

const profile = process.argv[2];
if (!["debug", "release"].includes(profile)) fail(2, "usage: node tools/addon.mjs debug|release");

// The package itself knows what its file is called.
const host = join(root, "packages", "leat", "dist", "native", "host.js");
if (!existsSync(host)) fail(1, "packages/leat is not built; run: node tools/package.mjs");
const { platformOf, thisHost } = createRequire(import.meta.url)(host);

const built = join(root, "target", profile, LIBRARY);
const flag = profile === "release" ? " --release" : "";
if (!existsSync(built)) fail(1, `${relative(root, built)} is not there; run: cargo build${flag} --locked -p leat-node`);

const folder = join(root, "packages", "leat", "native");
const to = join(folder, `leat.${platformOf(thisHost())}.node`);
mkdirSync(folder, { recursive: true });
// A process that has loaded the old file keeps it: writing into it would crash that process.
const fresh = `${to}.${process.pid}`;
copyFileSync(built, fresh);
renameSync(fresh, to);
console.log(`${relative(root, built)} → ${relative(root, to)}`);
