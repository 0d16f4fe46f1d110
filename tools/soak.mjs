// `make soak`: long runs, each bounded by SOAK_SECONDS (60) or by a count. Arguments pick runs by name; a run that the
// machine lacks something for prints a SKIP line.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const seconds = Number(process.env.SOAK_SECONDS ?? 60);
if (!Number.isInteger(seconds) || seconds < 1) {
    console.error(`SOAK_SECONDS is a whole number of seconds, not "${process.env.SOAK_SECONDS}"`);
    process.exit(2);
}

/** Every fuzz target as a run. Building one takes minutes the first time and does not count. */
function fuzzTargets() {
    const folder = join(root, "fuzz", "fuzz_targets");
    if (!existsSync(folder)) return [];
    const names = readdirSync(folder).filter((name) => name.endsWith(".rs")).map((name) => name.slice(0, -3));
    return names.sort().map((name) => ({
        name: `fuzz-${name}`,
        needs: ["cargo", ["+nightly", "fuzz", "--version"], "cargo-fuzz on nightly Rust is missing: rustup toolchain install nightly; cargo install cargo-fuzz --locked"],
        prepare: [
            ["cargo", ["run", "--quiet", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--example", "seeds"]],
            ["cargo", ["+nightly", "fuzz", "build", name]],
        ],
        command: ["cargo", ["+nightly", "fuzz", "run", name, "--", `-max_total_time=${seconds}`, "-timeout=5", "-rss_limit_mb=2048", "-max_len=4096"]],
        graceSeconds: 60,
    }));
}

const LEAT_HTTP_REQUESTS = 1_000_000;
const LEAT_HTTP_SECONDS_MAX = 1200;

/** leat/http under all that clients do, until it has answered so many; the package's own tests run a short one. */
const leatHttp = {
    name: "leat-http",
    needs: [process.execPath, ["-e", "require('./packages/leat/dist/native/load.js').addon()"], "packages/leat is not built: make build"],
    prepare: [],
    command: [process.execPath, ["packages/leat/test/soak/soak.mjs", "--requests", String(LEAT_HTTP_REQUESTS)]],
    graceSeconds: LEAT_HTTP_SECONDS_MAX,
};

/** Random calls on replies of the embedded host, whose native code reads them as QuickJS keeps them; valgrind looks at its memory. */
const replies = {
    name: "replies",
    needs: ["target/release/leat", ["version"], "target/release/leat is not built: make build"],
    prepare: [],
    command: [process.execPath, ["crates/host/embedded/test/random/replies.mjs", "--seconds", String(seconds), "--memcheck"]],
    graceSeconds: 180,
};

const quiet = ([program, args]) => spawnSync(program, args, { cwd: root, stdio: "ignore" }).status === 0;

/** One run: "passed", "failed" or "skipped". */
function soak(run) {
    const [program, args, missing] = run.needs;
    if (!quiet([program, args])) {
        console.log(`SKIP ${run.name}: ${missing}`);
        return "skipped";
    }
    const steps = [...run.prepare.map((step) => [step, undefined]), [run.command, (seconds + run.graceSeconds) * 1000]];
    for (const [step, timeout] of steps) {
        console.log(`\n== ${run.name}: ${step[0]} ${step[1].join(" ")}`);
        const { status } = spawnSync(...step, { cwd: root, stdio: ["ignore", "inherit", "inherit"], timeout, killSignal: "SIGKILL" });
        if (status !== 0) return "failed";
    }
    return "passed";
}

const runs = [...fuzzTargets(), leatHttp, replies];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !runs.some((run) => run.name === name));
if (unknown.length > 0) {
    console.error(`no run ${unknown.join(", ")}; there are: ${runs.map((run) => run.name).join(" ") || "none"}`);
    process.exit(2);
}
const total = { passed: 0, failed: 0, skipped: 0 };
for (const run of runs) if (wanted.length === 0 || wanted.includes(run.name)) total[soak(run)] += 1;
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
