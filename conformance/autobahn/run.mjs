// Runs the Autobahn test suite's fuzzing client through the gateway against an echo server; see README.md.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { start, temporary } from "../gateway.mjs";
import { compare } from "./report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const RUN_MS_MAX = 240_000;

/** Runs the fuzzing client with `spec`; resolves to its report. */
function fuzzingClient(spec, folder) {
    const path = join(folder, "spec.json");
    writeFileSync(path, JSON.stringify(spec));
    return new Promise((resolve, reject) => {
        const child = spawn("wstest", ["-m", "fuzzingclient", "-s", path], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: RUN_MS_MAX, killSignal: "SIGKILL" });
        let errors = "";
        child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-4000)));
        child.once("error", reject);
        child.once("close", (code, signal) => {
            if (code === 0) resolve(JSON.parse(readFileSync(join(spec.outdir, "index.json"), "utf8")));
            else reject(new Error(`wstest ended with ${signal ?? code}\n${errors}`));
        });
    });
}

const { cases, known } = JSON.parse(readFileSync(join(here, "cases.json"), "utf8"));
const echo = await import("../websocket/echo.mjs").catch(() => undefined);
if (echo === undefined) {
    console.log("SKIP autobahn: the npm package ws is not installed; run tools/install.sh test");
    process.exit(0);
}
const upstream = await echo.listen();
const folder = temporary();
const config = readFileSync(join(here, "..", "websocket", "leat.yaml"), "utf8").replaceAll("UPSTREAM_PORT", String(upstream.port));
const gateway = await start(config, { folder });
let failed = 0;
try {
    const spec = {
        outdir: join(folder.path, "reports"),
        servers: [{ agent: "leat", url: `ws://127.0.0.1:${gateway.ports[0]}` }],
        cases,
        "exclude-cases": [],
        "exclude-agent-cases": {},
    };
    const result = compare((await fuzzingClient(spec, folder.path)).leat ?? {}, known);
    for (const line of result.known) console.log(`  known: ${line}`);
    for (const line of result.failures) console.error(`  FAILED ${line}`);
    if (!gateway.alive()) result.failures.push(`the gateway did not survive:\n${gateway.log.join("\n")}`);
    failed = result.failures.length;
    console.log(`${result.passed} passed, ${failed} failed, ${result.known.length} skipped`);
} catch (error) {
    if (error.code !== "ENOENT") throw error;
    console.log("SKIP autobahn: wstest is not installed; run tools/install.sh test");
} finally {
    await upstream.close();
    await gateway.stop();
}
// Not exitCode: the timeout of a program that could not be started would keep this one alive.
process.exit(failed === 0 ? 0 : 1);
