// Builds the JavaScript of packages/leat: its development packages if the lock file is newer than they are, then TypeScript, and
// of what that makes the package's `dist`.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(repository, "packages", "leat");
/** Where tsc writes to, by packages/leat/tsconfig.json. */
const compiled = join(repository, "target", "package");
const INSTALL_MS_MAX = 300_000;
const BUILD_MS_MAX = 300_000;

function run(program, args, timeout) {
    const { status, error } = spawnSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], timeout });
    if (status === 0) return;
    const why = error?.code === "ENOENT" ? "is not installed; it comes with Node.js, and on Debian with: apt-get install npm" : (error?.message ?? `ended with ${status}`);
    console.error(`packages/leat: ${program} ${args.join(" ")}: ${why}`);
    process.exit(1);
}

/** npm writes its own copy of the lock file when an install is done. */
function stale() {
    const done = join(root, "node_modules", ".package-lock.json");
    return !existsSync(done) || statSync(done).mtimeMs < statSync(join(root, "package-lock.json")).mtimeMs;
}

/** tsc leaves what it made of sources that are gone, and the package would ship it. */
function prune() {
    if (!existsSync(compiled)) return;
    for (const path of readdirSync(compiled, { recursive: true })) {
        const source = path.replace(/(\.d)?\.(js|ts)$/, ".ts");
        if (source !== path && !existsSync(join(root, "src", source))) rmSync(join(compiled, path));
    }
}

if (stale()) run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], INSTALL_MS_MAX);
run(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "--build"], BUILD_MS_MAX);
prune();
// It asks for TypeScript, which may have come with the installation above only.
const { bundle } = await import("./bundle.mjs");
bundle(compiled, join(root, "dist"));
