// The Node.js versions that Leat is tested and measured on: the running one for its own major version, npm's binaries for the others.
// `node tools/nodes.mjs` installs those that are missing below target/tools/nodes/<major> and lists all.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const data = JSON.parse(readFileSync(new URL("nodes.json", import.meta.url), "utf8"));
const INSTALL_MS_MAX = 180_000;

/** The major versions that count, oldest first, whether they are here or not. */
export const majors = Object.keys(data.versions).map(Number);

/** What can be run here: `[{ major, path }]`, oldest first. */
export function nodes() {
    return majors.map((major) => ({ major, path: pathOf(major) })).filter(({ path }) => existsSync(path));
}

/** The program of one major version, which need not be there. */
export function pathOf(major) {
    if (Number.parseInt(process.versions.node, 10) === major) return process.execPath;
    return join(folderOf(major), "node_modules", data.package, "bin", "node");
}

function folderOf(major) {
    return join(root, "target", "tools", "nodes", String(major));
}

/** A folder whose lock file pins exactly one version of the package; npm checks what it fetches against the hash. */
function install(major) {
    const { version, integrity } = data.versions[major];
    const folder = folderOf(major);
    const wanted = { name: `node-${major}`, private: true, dependencies: { [data.package]: version } };
    const lock = {
        name: wanted.name,
        lockfileVersion: 3,
        requires: true,
        packages: { "": wanted, [`node_modules/${data.package}`]: { version, integrity } },
    };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify(wanted));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
    const npm = ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status, stderr, error } = spawnSync("npm", npm, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: INSTALL_MS_MAX });
    return status === 0 ? undefined : (error?.message ?? stderr).trim().replaceAll("\n", " ").slice(0, 300);
}

/** Whether the binary of `major` is there and is the pinned one; the data file may name a newer one than was installed. */
function installed(major) {
    if (pathOf(major) === process.execPath) return true;
    try {
        const manifest = join(folderOf(major), "node_modules", data.package, "package.json");
        return JSON.parse(readFileSync(manifest, "utf8")).version === data.versions[major].version;
    } catch {
        return false;
    }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    for (const major of majors.filter((major) => !installed(major))) {
        const here = `${process.platform}-${process.arch}`;
        if (here !== data.platform) {
            console.log(`SKIP node ${major}: npm has binaries for ${data.platform}, and this is ${here}`);
            continue;
        }
        console.log(`installing Node.js ${data.versions[major].version}`);
        const wrong = install(major);
        if (wrong !== undefined) console.log(`SKIP node ${major}: ${wrong}`);
    }
    for (const { major, path } of nodes()) console.log(`node ${major}: ${path}`);
}
