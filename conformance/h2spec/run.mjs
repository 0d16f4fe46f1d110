// Runs h2spec against a gateway, in clear text and over TLS; see skips.json for what is known to fail, and why.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { certificate } from "../certificate.mjs";
import { start, temporary } from "../gateway.mjs";
import { cases, compare } from "./report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const CASE_SECONDS_MAX = 5;
const RUN_MS_MAX = 120_000;

/** Runs h2spec once; resolves to the report's text, or rejects where there is none. */
function h2spec(args, report) {
    return new Promise((resolve, reject) => {
        const child = spawn("h2spec", [...args, "-o", String(CASE_SECONDS_MAX), "-j", report], { stdio: ["ignore", "ignore", "inherit"], timeout: RUN_MS_MAX, killSignal: "SIGKILL" });
        child.once("error", reject);
        // The exit code only says whether there was a failure; the report says which.
        child.once("close", (code) => (existsSync(report) ? resolve(readFileSync(report, "utf8")) : reject(new Error(`h2spec ended with ${code} and wrote no report`))));
    });
}

/** Starts a gateway for `mode`, runs all cases, and adds to `total`. */
async function suite(mode, flags, skips, total) {
    const folder = temporary();
    certificate(folder.path);
    const gateway = await start(readFileSync(join(here, `${mode}.yaml`), "utf8"), { folder });
    try {
        const report = await h2spec(["-p", String(gateway.ports[0]), ...flags], join(folder.path, "report.xml"));
        const result = compare(cases(report), skips);
        if (!gateway.alive()) result.failures.push(`the gateway did not survive:\n${gateway.log.join("\n")}`);
        console.log(`h2spec over ${mode}: ${result.passed} passed, ${result.failures.length} failed, ${result.known.length} known to fail`);
        for (const known of result.known) console.log(`  known: ${known}`);
        for (const failure of result.failures) console.error(`  FAILED ${failure}`);
        total.passed += result.passed;
        total.failed += result.failures.length;
        total.skipped += result.known.length;
    } finally {
        await gateway.stop();
    }
}

const skips = JSON.parse(readFileSync(join(here, "skips.json"), "utf8"));
const total = { passed: 0, failed: 0, skipped: 0 };
try {
    await suite("h2c", [], skips, total);
    await suite("tls", ["-t", "-k"], skips, total);
} catch (error) {
    if (error.code !== "ENOENT") throw error;
    console.log("SKIP h2spec: not installed; run tools/install.sh test");
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
// Not exitCode: the timeout of a program that could not be started would keep this one alive.
process.exit(total.failed === 0 ? 0 : 1);
