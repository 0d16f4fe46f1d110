// Runs Fastify's own tests, those that open a port, with `--import leat/register`; see README.md and known.json.
// `node conformance/fastify/run.mjs [FILE…]`; LEAT_TARGETS=node:http runs them on node:http.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "../installed.mjs";
import { compare, failures, passes } from "./results.mjs";

const FILE_MS_MAX = 30_000;

const here = dirname(fileURLToPath(import.meta.url));
const fastify = join(here, "node_modules", "fastify");
const reference = process.env.LEAT_TARGETS === "node:http";

const missing = installed(here);
if (missing) {
    console.log(`SKIP fastify: npm ci failed: ${missing}`);
    process.exit(0);
}

const files = process.argv.length > 2 ? process.argv.slice(2) : listening();
const known = JSON.parse(readFileSync(join(here, "known.json"), "utf8"));
const total = { passed: 0, failed: [] };
const queue = [...files];
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await run(file);
}));

const result = compare(total.failed, reference ? {} : known, files);
for (const id of result.known) console.log(`  known: ${id}: ${known[id]}`);
for (const id of result.wrong) console.error(`  FAILED ${id}`);
console.log(`${total.passed} passed, ${result.wrong.length} failed, ${result.known.length} skipped`);
process.exitCode = result.wrong.length === 0 ? 0 : 1;

/** The tests that listen on a port; the others would see nothing of Leat. */
function listening() {
    const tests = join(fastify, "test");
    const all = readdirSync(tests, { recursive: true }).filter((file) => file.endsWith(".test.js"));
    return all.filter((file) => readFileSync(join(tests, file), "utf8").includes("listen(")).sort();
}

/** Runs one file, and adds its results to `total`. */
async function run(file) {
    const flags = reference ? [] : ["--import", "leat/register"];
    const path = relative(fastify, join(fastify, "test", file));
    const child = spawn(process.execPath, [...flags, "--test-reporter=tap", path], { cwd: fastify, stdio: ["ignore", "pipe", "ignore"], timeout: FILE_MS_MAX, killSignal: "SIGKILL" });
    let tap = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (tap += text));
    const [code, signal] = await new Promise((resolve) => child.once("close", (...end) => resolve(end)));
    total.passed += passes(tap);
    const failed = failures(tap);
    total.failed.push(...failed.map((name) => `${file}: ${name}`));
    if (code !== 0 && failed.length === 0) total.failed.push(`${file}: ended with ${signal === "SIGKILL" ? `nothing after ${FILE_MS_MAX} ms` : (signal ?? code)}`);
}
