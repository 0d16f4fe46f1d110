// Installs the frameworks where they are missing, puts packages/leat beside them, and runs the suites:
// `node conformance/frameworks/run.mjs [SUITE…]`, all of them without a name. LEAT_TARGETS=node:http runs the reference alone.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "../installed.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const suites = readdirSync(join(folder, "suites")).map((file) => file.replace(/\.mjs$/, ""));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !suites.includes(name));
if (unknown.length > 0) {
    console.error(`no suite ${unknown.join(", ")}; there are: ${suites.join(" ")}`);
    process.exit(2);
}

const wrong = installed(folder);
if (wrong) {
    console.log(`SKIP frameworks: npm ci failed: ${wrong}`);
} else {
    const files = (names.length > 0 ? names : suites).map((name) => join(folder, "suites", `${name}.mjs`));
    // The stage that runs this has a limit in time, and ends what this started.
    const { status } = spawnSync(process.execPath, ["--test", ...files], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
    process.exitCode = status ?? 1;
}
