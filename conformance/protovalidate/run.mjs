// Runs protovalidate's conformance suite against Leat's validators, twice: as they are, with native checks before the
// expressions, and with the expressions alone. Texts and kinds of errors must be right too. No case is known to fail.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const RUN_MS_MAX = 120_000;
/** What the suite has: a run of fewer would prove less. */
const CASES = 2872;

/** Output and exit code of a program, which may be missing. */
function run(program, args, options = {}) {
    return spawnSync(program, args, { cwd: root, encoding: "utf8", timeout: RUN_MS_MAX, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024, ...options });
}

/** Builds the executor; says where it is. */
function executor() {
    const built = run("cargo", ["build", "--quiet", "--locked", "-p", "leat-rpc", "--example", "protovalidate"], { stdio: ["ignore", "inherit", "inherit"], timeout: undefined });
    if (built.status !== 0) throw new Error("the executor could not be built");
    return join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug", "examples", "protovalidate");
}

const total = { passed: 0, failed: 0, skipped: 0 };
if (run("protovalidate-conformance", ["--help"]).error !== undefined) {
    console.log("SKIP protovalidate: protovalidate-conformance is not installed; run tools/install.sh test");
} else {
    const program = executor();
    for (const [name, flags] of [["native checks and expressions", []], ["expressions alone", ["--plain"]]]) {
        const { stdout, stderr, status } = run("protovalidate-conformance", ["--strict_message", "--strict_error", "--timeout", "60s", "--", program, ...flags]);
        const [, failed, passed] = /failed: (\d+), skipped: \d+, passed: (\d+)/.exec(stdout + stderr) ?? [undefined, String(CASES), "0"];
        total.passed += Number(passed);
        total.failed += Number(failed);
        if (status !== 0 || Number(passed) !== CASES) {
            total.failed += Number(failed) === 0 ? 1 : 0;
            console.error(`${stdout}\n${stderr}`.trim());
        }
        console.log(`${name}: ${passed} of ${CASES} passed`);
    }
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
