// Programs that print the same on Node.js and on `leat run`. Every file of twins/ is run on both; what it writes to stdout and its
// exit code must be equal, and stderr too where a line `// twin: stderr` asks for it, but for frames and versions. TWIN=text picks
// files by their names.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { leat } from "./binary.mjs";

const folder = fileURLToPath(new URL("twins", import.meta.url));
const RUN_MS_MAX = 30_000;
const picked = process.env.TWIN ?? "";
/** Files below folders are what programs load. */
const names = readdirSync(folder).filter((name) => /\.(mjs|cjs|js|ts)$/.test(name) && name.includes(picked)).sort();

function run(program, args) {
    return new Promise((resolve) => {
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined, NODE_NO_WARNINGS: "1", NO_COLOR: "1", FORCE_COLOR: undefined };
        const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], timeout: RUN_MS_MAX });
        let stdout = "";
        let stderr = "";
        child.stdout.on("data", (bytes) => void (stdout += bytes));
        child.stderr.on("data", (bytes) => void (stderr += bytes));
        child.on("error", (error) => resolve({ stdout, stderr: String(error), code: null }));
        child.on("close", (code, signal) => resolve({ stdout, stderr, code: signal ?? code }));
    });
}

/** What is the same on both: frames are each engine's own. */
function comparable(stderr) {
    return stderr.replace(/^ {4}at .*?( \{)?\n/gm, (_, brace) => brace ?? "").replace(/^(Node\.js v|Leat \().*$/m, "VERSION");
}

for (const name of names) {
    test(name, async () => {
        const source = readFileSync(`${folder}/${name}`, "utf8");
        const [node, ours] = await Promise.all([run(process.execPath, [name]), run(leat, ["run", name])]);
        assert.equal(ours.stdout, node.stdout, `stdout differs; stderr of leat run: ${ours.stderr.slice(0, 4000)}`);
        assert.equal(ours.code, node.code, `exit code differs; stderr of leat run: ${ours.stderr.slice(0, 4000)}`);
        if (/^\/\/ twin: stderr$/m.test(source)) assert.equal(comparable(ours.stderr), comparable(node.stderr));
    });
}
