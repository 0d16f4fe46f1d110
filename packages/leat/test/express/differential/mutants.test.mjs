// The table can fail: each mutant of Express shows a difference in the case that is about its fault, and Express itself shows none.
process.env.LEAT_CASE_WAIT_MS ??= "2000";
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import test from "node:test";
import { differences } from "../../differential/compare.mjs";

if (!existsSync(new URL("node_modules", import.meta.url))) {
    console.log("SKIP express mutants: npm packages are not installed; run npm ci in packages/leat/test/express/differential");
    process.exit(0);
}
const { fixtures } = await import("./fixtures.mjs");
const { mutants } = await import("./mutants.mjs");
const { run } = await import("./run.mjs");

const folder = fixtures();
const names = [...new Set(Object.values(mutants).map(({ told }) => told))];
const reference = await run(names, "reference", folder);

test("Express is like itself", async () => {
    const again = await run(names, "reference", folder);
    for (const name of names) assert.deepEqual(differences(reference.get(name), again.get(name)), [], name);
});

for (const [mutant, { told }] of Object.entries(mutants)) {
    test(`an Express with the fault "${mutant}" is told from Express`, async () => {
        const other = await run([told], mutant, folder);
        const log = other.get(told).log.join("\n");
        assert.doesNotMatch(log, /^the process ended/, "the mutant does not run at all");
        assert.notEqual(differences(reference.get(told), other.get(told)).length, 0, told);
    });
}

test.after(() => rmSync(folder, { recursive: true }));
