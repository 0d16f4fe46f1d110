// `make test`: runs the stages in order, goes on after a failure, and ends with a table and one closing line.
// Arguments pick stages by name. With LEAT_CI=1 a printed SKIP is a failure.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { built } from "./addon.mjs";
import { failuresOf } from "./counts.mjs";
import { run } from "./stage.mjs";
import { stages } from "./stages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "target");
const env = {
    ...process.env,
    CARGO_TARGET_DIR: target,
    CARGO_TERM_COLOR: "never",
    NO_COLOR: "1",
    // What `install` puts there comes first, so that pinned versions win.
    PATH: `${join(target, "tools", "bin")}:${process.env.PATH}`,
    // What the `build` stage leaves, so that no second build in another profile is needed. Set them to test another build.
    LEAT_BIN: process.env.LEAT_BIN ?? join(target, "debug", "leat"),
    LEAT_ADDON: process.env.LEAT_ADDON ?? built("debug"),
};

const all = stages(root);
const wanted = process.argv.slice(2).flatMap((word) => word.split(/[\s,]+/)).filter(Boolean);
const unknown = wanted.filter((name) => !all.some((stage) => stage.name === name));
if (unknown.length > 0) {
    console.error(`no stage ${unknown.join(", ")}; there are: ${all.map((stage) => stage.name).join(" ")}`);
    process.exit(2);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const results = [];
for (const stage of all) {
    if (wanted.length === 0 ? !stage.asked : wanted.includes(stage.name)) results.push(await run(stage, { cwd: root, env }));
}
process.exitCode = report(results);

/** Prints every failure and skip again, the table, and last of all the closing line; returns the exit code. */
function report(results) {
    const skips = results.flatMap((result) => result.skips);
    const strict = process.env.LEAT_CI === "1";
    const sum = (key) => results.reduce((total, result) => total + result[key], 0);
    const failed = sum("failed") + (strict ? skips.length : 0);
    const skipped = sum("skipped") - (strict ? skips.length : 0);

    for (const result of results.filter((each) => each.failed > 0)) {
        console.log(`\nfailed in ${result.name}:`);
        for (const line of failuresOf(result)) console.log(`  ${line}`);
    }
    console.log("\nstage        seconds   passed   failed  skipped");
    for (const result of results) {
        const numbers = [result.passed, result.failed, result.skipped].map((n) => String(n).padStart(8)).join(" ");
        console.log(`${result.name.padEnd(12)} ${result.seconds.toFixed(1).padStart(7)} ${numbers}`);
    }
    if (skips.length > 0) console.log(strict ? "\nnot run, which is a failure here:" : "\nnot run:");
    for (const skip of skips) console.log(`  ${skip.slice("SKIP ".length)}`);

    const closing = `${sum("passed")} passed, ${failed} failed, ${skipped} skipped`;
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "test-summary.txt"), `${closing}\n`);
    console.log(`\n${closing}`);
    return failed === 0 ? 0 : 1;
}
