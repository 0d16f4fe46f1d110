// Runs what the documentation shows: configurations must be right, commands marked `test` must succeed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { certificate } from "../conformance/certificate.mjs";
import { binary, temporary } from "../conformance/gateway.mjs";
import { blocks } from "./blocks.mjs";
import * as links from "./links.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BLOCK_MS_MAX = 30_000;
const total = { passed: 0, failed: 0 };

/** Runs a program in `folder`, with `leat` on its path. */
function run(folder, program, ...args) {
    const env = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}` };
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

/** Runs commands; what they left in the background ends with them. */
function commands(folder, body) {
    const script = `set -euo pipefail\ntrap 'jobs -p | xargs -r kill 2>/dev/null || true' EXIT\n${body}\n`;
    const { code, output } = run(folder, "bash", "-c", script);
    return code === 0 ? undefined : `ended with ${code}\n${output}`;
}

function config(folder, { body, file }, number) {
    const name = file ?? `block-${number}.yaml`;
    writeFileSync(join(folder, name), `${body}\n`);
    const { code, output } = run(folder, binary, "gateway", name, "--check");
    return code === 0 ? undefined : `leat gateway ${name} --check ended with ${code}\n${output}`;
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
            record(`${path}:${block.line} ${block.kind}`, block.kind === "config" ? config(folder.path, block, number) : commands(folder.path, block.body));
        });
    } finally {
        folder.remove();
    }
}

/** Every page of ours: those at the root, and below the folders that have some. */
function markdown() {
    const below = ["docs", "conformance", "corpus", "bench", "fuzz"].filter((folder) => existsSync(join(root, folder)));
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
for (const path of markdown()) {
    const dead = links.problems(root, path, readFileSync(join(root, path), "utf8"));
    record(`${path} links`, dead.length === 0 ? undefined : dead.join("\n"));
    if (path === "README.md" || path.startsWith("docs/guide/")) page(path);
}
console.log(`${total.passed} passed, ${total.failed} failed, 0 skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
