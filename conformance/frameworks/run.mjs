// Installs the frameworks where they are missing, puts packages/leat beside them, and runs the suites:
// `node conformance/frameworks/run.mjs [SUITE…]`, all of them without a name. LEAT_TARGETS=node:http runs the reference alone.
import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const INSTALL_MS_MAX = 120_000;
const folder = fileURLToPath(new URL(".", import.meta.url));
const modules = join(folder, "node_modules");
const suites = readdirSync(join(folder, "suites")).map((file) => file.replace(/\.mjs$/, ""));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !suites.includes(name));
if (unknown.length > 0) {
    console.error(`no suite ${unknown.join(", ")}; there are: ${suites.join(" ")}`);
    process.exit(2);
}

const wrong = install();
if (wrong) {
    console.log(`SKIP frameworks: npm ci failed: ${wrong}`);
} else {
    link();
    const files = (names.length > 0 ? names : suites).map((name) => join(folder, "suites", `${name}.mjs`));
    // The stage that runs this has a limit in time, and ends what this started.
    const { status } = spawnSync(process.execPath, ["--test", ...files], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
    process.exitCode = status ?? 1;
}

/** Again only when the lock file is newer than what was installed from it; the reason if it failed. */
function install() {
    const at = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (at(join(modules, ".package-lock.json")) > at(join(folder, "package-lock.json"))) return undefined;
    const { status, error, stderr } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: INSTALL_MS_MAX });
    return status === 0 ? undefined : (error?.message ?? stderr).trim().replaceAll("\n", " ").slice(0, 300);
}

/** Leat is found by its name, as in a user's project, yet is always the one of this tree. It is no entry of the lock file, which would hold leat's own development packages too. */
function link() {
    const path = join(modules, "leat");
    const target = join("..", "..", "..", "packages", "leat");
    if (lstatSync(path, { throwIfNoEntry: false })) {
        if (readlinkSync(path) === target) return;
        rmSync(path);
    }
    symlinkSync(target, path);
}
