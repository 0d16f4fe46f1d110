// Runs the Connect conformance suite against the gateway's `transcode` route, with the suite's own gRPC server behind it: clients
// of gRPC, gRPC-Web and Connect get of it what they would get of a server that speaks their protocol. What can't pass stands in known.json.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporary } from "../gateway.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const MODULE = "connectrpc.com/conformance@v1.0.6";
const RUN_MS_MAX = 150_000;
/** What the suite has for config.yaml: a run of fewer would prove less. */
const CASES = 1990;

const run = (program, args, options = {}) =>
    spawnSync(program, args, { encoding: "utf8", timeout: RUN_MS_MAX, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024, ...options });

/** The folder of the suite's .proto files, which Go keeps where it has unpacked the suite. */
function protos() {
    const found = run("go", ["mod", "download", "-json", MODULE], { env: { ...process.env, GOFLAGS: "-mod=mod" } });
    if (found.status !== 0) return undefined;
    const folder = join(JSON.parse(found.stdout).Dir ?? "", "proto");
    return existsSync(folder) ? folder : undefined;
}

const total = { passed: 0, failed: 0, skipped: 0 };
const isInstalled = ["connectconformance", "grpcserver"].every((program) => run(program, ["--version"]).error === undefined);
const folder = isInstalled ? protos() : undefined;
if (folder === undefined) {
    console.log("SKIP transcode: connectconformance, grpcserver or their .proto files are not installed; run tools/install.sh test");
    total.skipped += 1;
} else {
    const known = JSON.parse(readFileSync(join(here, "known.json"), "utf8"));
    const place = temporary();
    const list = join(place.path, "known.txt");
    writeFileSync(list, known.flatMap(({ cases }) => cases).join("\n"));
    const args = ["--conf", join(here, "config.yaml"), "--known-failing", `@${list}`, "--mode", "server", "--", process.execPath, join(here, "server.mjs"), folder];
    const { stdout, stderr, status } = run("connectconformance", args);
    place.remove();
    const [, cases] = /^Total cases: (\d+)$/m.exec(stdout) ?? [];
    const [, passed] = /^(\d+) passed/m.exec(stdout) ?? [];
    total.passed += Number(passed ?? 0);
    if (status !== 0 || Number(cases) !== CASES) {
        total.failed += 1;
        console.error(`${stdout}\n${stderr}`.trim());
    }
    console.log(`${passed ?? 0} of ${CASES} cases passed; those that fail are known`);
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
