// Runs what the documentation shows: configurations must be right, commands marked `test` must succeed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { certificate } from "../conformance/certificate.mjs";
import { binary, temporary } from "../conformance/gateway.mjs";
import { blocks } from "./blocks.mjs";
import * as links from "./links.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BLOCK_MS_MAX = 30_000;
const total = { passed: 0, failed: 0, skipped: 0 };
/** Where the stage `frameworks` has installed packages from npm, for the pages that show how they are used. */
const installed = join(root, "conformance", "frameworks", "node_modules");

/** Runs a program in `folder`, with `leat` on its path and `LEAT` naming these sources. */
function run(folder, program, ...args) {
    const env = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}`, LEAT: root };
    const result = spawnSync(program, args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: BLOCK_MS_MAX, killSignal: "SIGKILL" });
    const output = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error?.message ?? ""}`;
    return { code: result.status ?? 1, output };
}

function record(what, wrong) {
    if (wrong === undefined) {
        total.passed += 1;
        console.log(`ok ${what}`);
    } else {
        total.failed += 1;
        console.error(`FAILED ${what}\n    ${wrong.trim().replaceAll("\n", "\n    ")}`);
    }
}

/** Runs commands; what they left in the background ends with them, so that the next ones find their ports free. */
function commands(folder, body) {
    const script = `set -euo pipefail\ntrap '{ jobs -p | xargs -r kill; wait; } 2>/dev/null || true' EXIT\n${body}\n`;
    const { code, output } = run(folder, "bash", "-c", script);
    return code === 0 ? undefined : `ended with ${code}\n${output}`;
}

function config(folder, { body, file }, number) {
    const name = file ?? `block-${number}.yaml`;
    writeFileSync(join(folder, name), `${body}\n`);
    const { code, output } = run(folder, binary, "gateway", name, "--check");
    return code === 0 ? undefined : `leat gateway ${name} --check ended with ${code}\n${output}`;
}

/** Puts packages from npm where the programs in `folder` find them. What is not there is returned. */
function provide(folder, names) {
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    const missing = names.filter((name) => !existsSync(join(installed, name)));
    for (const name of names) {
        const to = join(folder, "node_modules", name);
        if (!missing.includes(name) && !existsSync(to)) symlinkSync(join(installed, name), to);
    }
    return missing;
}

/** One block of a page: what is wrong with it. */
function check(folder, block, number) {
    if (block.kind === "config") return config(folder, block, number);
    if (block.kind === "commands") return commands(folder, block.body);
    writeFileSync(join(folder, block.file), `${block.body}\n`);
    return undefined;
}

function page(path) {
    const found = blocks(readFileSync(join(root, path), "utf8"));
    if (found.length === 0) return;
    const folder = temporary();
    try {
        // What the examples name.
        certificate(folder.path);
        mkdirSync(join(folder.path, "public"));
        writeFileSync(join(folder.path, "public", "index.html"), "<!doctype html>\n<title>Leat</title>\n");
        found.forEach((block, number) => {
            const missing = block.needs?.length > 0 ? provide(folder.path, block.needs) : [];
            if (missing.length > 0) {
                total.skipped += 1;
                console.log(`SKIP ${path}:${block.line}: ${missing.join(", ")} not installed; run: make test ONLY=frameworks`);
                return;
            }
            record(`${path}:${block.line} ${block.kind}`, check(folder.path, block, number));
        });
    } finally {
        folder.remove();
    }
}

/** Whose blocks are run. */
const isShown = (path) => path === "README.md" || path.startsWith("docs/guide/") || /^examples\/[^/]+\/README\.md$/.test(path);

/** Every page of ours: those at the root, and below the folders that have some. */
function markdown() {
    const below = ["docs", "examples", "packages", "conformance", "corpus", "bench", "fuzz"].filter((folder) => existsSync(join(root, folder)));
    const pages = below.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`));
    return [...readdirSync(root), ...pages].filter((path) => path.endsWith(".md") && !path.includes("node_modules/")).sort();
}

/** A check that accepts everything would prove nothing: this configuration is wrong, and must be refused as such. */
function wrongIsRefused() {
    const folder = temporary();
    try {
        writeFileSync(join(folder.path, "wrong.yaml"), "listeners: [127.0.0.1:0]\nrouts: []\n");
        const { code, output } = run(folder.path, binary, "gateway", "wrong.yaml", "--check");
        const right = code === 2 && output.includes("wrong.yaml:2:1");
        record("a wrong configuration is refused", right ? undefined : `expected code 2 and wrong.yaml:2:1, got ${code}\n${output}`);
    } finally {
        folder.remove();
    }
}

if (basename(binary) !== "leat") throw new Error(`LEAT_BIN must be a file called leat: the examples say so (${binary})`);
wrongIsRefused();
/** Pages to run, all without a name. */
const wanted = process.argv.slice(2);
for (const path of markdown()) {
    const dead = links.problems(root, path, readFileSync(join(root, path), "utf8"));
    record(`${path} links`, dead.length === 0 ? undefined : dead.join("\n"));
    if (isShown(path) && (wanted.length === 0 || wanted.includes(path))) page(path);
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
