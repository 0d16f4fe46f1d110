// Runs the Connect conformance suite against the shared RPC handler, with a native service and with the same service as rules of a
// mock (rules.yaml): its default cases, and all that config.yaml adds to them (client certificates, every compression, half-duplex
// streams over HTTP/1). No case is known to fail.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const MODULE = "connectrpc.com/conformance@v1.0.6";
const RUN_MS_MAX = 150_000;

const ALL = ["--conf", join(here, "config.yaml")];
const BY_RULES = [join(here, "rules.yaml")];
/** `cases` is what the suite has of them: one that runs fewer would prove less. */
const RUNS = [
    { name: "default cases", flags: [], service: [], cases: 3620 },
    { name: "all compressions and client certificates", flags: ALL, service: [], cases: 9022 },
    { name: "default cases, by rules", flags: [], service: BY_RULES, cases: 3620 },
    { name: "all compressions and client certificates, by rules", flags: ALL, service: BY_RULES, cases: 9022 },
];

/** Output and exit code of a program, which may be missing. */
function run(program, args, options = {}) {
    return spawnSync(program, args, { cwd: root, encoding: "utf8", timeout: RUN_MS_MAX, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024, ...options });
}

/** The folder of the suite's .proto files, which Go keeps where it has unpacked the suite. */
function protos() {
    const found = run("go", ["mod", "download", "-json", MODULE], { env: { ...process.env, GOFLAGS: "-mod=mod" } });
    if (found.status !== 0) return undefined;
    const folder = join(JSON.parse(found.stdout).Dir ?? "", "proto");
    return existsSync(folder) ? folder : undefined;
}

/** Builds the native service; says where it is. */
function server() {
    const built = run("cargo", ["build", "--quiet", "--locked", "-p", "leat-rpc", "--example", "conformance_server"], { stdio: ["ignore", "inherit", "inherit"], timeout: undefined });
    if (built.status !== 0) throw new Error("the server could not be built");
    return join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug", "examples", "conformance_server");
}

const total = { passed: 0, failed: 0, skipped: 0 };
const folder = run("connectconformance", ["--version"]).error === undefined ? protos() : undefined;
if (folder === undefined) {
    console.log("SKIP connect: connectconformance or its .proto files are not installed; run tools/install.sh test");
} else {
    const program = server();
    for (const { name, flags, service, cases } of RUNS) {
        const { stdout, stderr, status } = run("connectconformance", [...flags, "--trace", "--mode", "server", "--", program, folder, ...service]);
        const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [undefined, "0", String(cases)];
        total.passed += Number(passed);
        total.failed += Number(failed);
        if (status !== 0 || Number(passed) !== cases) {
            total.failed += Number(failed) === 0 ? 1 : 0;
            console.error(`${stdout}\n${stderr}`.trim());
        }
        console.log(`${name}: ${passed} of ${cases} passed`);
    }
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
