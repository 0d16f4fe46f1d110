// Checks the layout: dependencies point one way and have licences that we allow, and every source file keeps the rules of the house.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as dependencies from "./dependencies.mjs";
import * as licenses from "./licenses.mjs";
import * as sources from "./sources.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOT_OURS = new Set(["node_modules", "target", "out", "dist", "corpora", ".git"]);
/** Built: the addon in the npm package. */
const ADDON = /\.node$/;

function* files(folder) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
        if (NOT_OURS.has(entry.name)) continue;
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) yield* files(path);
        else if (entry.isFile() && !ADDON.test(path)) yield path;
    }
}

function cargo(...args) {
    return execFileSync("cargo", [...args, "--locked"], { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024, stdio: ["ignore", "pipe", "inherit"] });
}

const host = /^host: (.*)$/m.exec(execFileSync("rustc", ["-vV"], { encoding: "utf8" }))[1];
const metadata = JSON.parse(cargo("metadata", "--format-version", "1", "--filter-platform", host));
const built = new Set(cargo("tree", "--workspace", "--edges", "normal", "--prefix", "none", "--format", "{p}").split("\n").map((line) => line.split(" ")[0]));
const paths = [...files("")];
const allowed = licenses.allowedIn(readFileSync(join(root, "deny.toml"), "utf8"));
const found = [
    ...dependencies.problems(metadata, built),
    ...licenses.problems(metadata.packages, built, allowed),
    ...paths.flatMap((path) => sources.problems(path, readFileSync(join(root, path), "utf8"))),
];
for (const problem of found) console.error(problem);
console.log(`${paths.length} files and ${metadata.workspace_members.length} crates looked at, ${found.length} problems`);
process.exitCode = found.length === 0 ? 0 : 1;
