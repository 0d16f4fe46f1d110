// The npm packages of a suite, with the leat of this tree beside them.
import { spawnSync } from "node:child_process";
import { lstatSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const INSTALL_MS_MAX = 120_000;
const LEAT = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages", "leat");

/** Installs what `folder`'s lock file says, again only when it is newer than what is there. Gives the reason if that failed. */
export function installed(folder) {
    const modules = join(folder, "node_modules");
    const wrong = current(folder, modules) ? undefined : install(folder);
    if (wrong === undefined) link(modules);
    return wrong;
}

function current(folder, modules) {
    const at = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return at(join(modules, ".package-lock.json")) > at(join(folder, "package-lock.json"));
}

function install(folder) {
    const { status, error, stderr } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: INSTALL_MS_MAX });
    return status === 0 ? undefined : (error?.message ?? stderr).trim().replaceAll("\n", " ").slice(0, 300);
}

/** Leat is found by its name, as in a user's project. It is no entry of the lock file, which would hold leat's own development packages too. */
function link(modules) {
    const path = join(modules, "leat");
    const target = relative(modules, LEAT);
    if (lstatSync(path, { throwIfNoEntry: false })) {
        if (readlinkSync(path) === target) return;
        rmSync(path);
    }
    symlinkSync(target, path);
}
