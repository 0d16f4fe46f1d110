// Installs the middleware where it is missing, puts packages/leat beside it, and runs the suites: with Express 5 and 4, each plainly
// and with `--import leat/register`. `node conformance/middleware/run.mjs [SUITE…]`, all of them without a name.
// UPDATE=1 writes the table's versions anew.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "../installed.mjs";
import { problems, update } from "./table.mjs";

const PROJECTS = { express5: "five", express4: "four" };
const folder = fileURLToPath(new URL(".", import.meta.url));
const suites = readdirSync(join(folder, "suites")).filter((file) => file.endsWith(".mjs")).map((file) => file.replace(/\.mjs$/, ""));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !suites.includes(name));
if (unknown.length > 0) {
    console.error(`no suite ${unknown.join(", ")}; there are: ${suites.join(" ")}`);
    process.exit(2);
}

const wrong = Object.values(PROJECTS).map((project) => installed(join(folder, project))).find((reason) => reason !== undefined);
if (wrong) console.log(`SKIP middleware: npm ci failed: ${wrong}`);
else process.exitCode = run();

function run() {
    const replies = mkdtempSync(join(tmpdir(), "leat-middleware-"));
    const files = (names.length > 0 ? names : suites).map((name) => join(folder, "suites", `${name}.mjs`));
    let failed = 0;
    try {
        for (const project of Object.values(PROJECTS)) {
            // The second compares with what the first saw.
            for (const preload of [[], ["--import", "leat/register"]]) failed += start(project, preload, files, replies) === 0 ? 0 : 1;
        }
        if (names.length === 0) failed += tableProblems(replies);
    } finally {
        rmSync(replies, { recursive: true, force: true });
    }
    return failed === 0 ? 0 : 1;
}

function start(project, preload, files, replies) {
    console.log(`middleware: ${project} ${preload.join(" ")}`);
    const args = [...preload, "--test", `--test-reporter=${join(folder, "reporter.mjs")}`, `--test-concurrency=${availableParallelism()}`, ...files];
    const env = { ...process.env, LEAT_PROJECT: project, LEAT_REPLIES: replies };
    // The stage that runs this has a limit in time, and ends what this started.
    return spawnSync(process.execPath, args, { cwd: join(folder, project), env, stdio: ["ignore", "inherit", "inherit"] }).status;
}

function tableProblems(replies) {
    const versions = {};
    const exercised = {};
    for (const [row, project] of Object.entries(PROJECTS)) {
        versions[row] = JSON.parse(readFileSync(join(folder, project, "package.json"), "utf8")).dependencies;
        const seen = readdirSync(replies).filter((file) => file.endsWith(`-${row.at(-1)}-import.json`));
        exercised[row] = new Set(seen.flatMap((file) => JSON.parse(readFileSync(join(replies, file), "utf8")).exercised));
    }
    if (process.env.UPDATE) {
        update(versions, exercised);
        return 0;
    }
    const found = problems(versions, exercised);
    for (const problem of found) console.error(`packages/leat/src/doctor/middleware.json: ${problem}`);
    return found.length;
}
