// The table can fail: each mutant of node:http shows a difference in at least one case of the file that is about it.
process.env.LEAT_CASE_WAIT_MS ??= "500";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { certificate } from "../../../../conformance/certificate.mjs";
import { differences } from "./compare.mjs";
import { mutants, toldBy } from "./mutants.mjs";
import { run } from "./run.mjs";
import { table } from "./table.mjs";

const folder = mkdtempSync(join(tmpdir(), "leat-differential-"));
const paths = certificate(folder);
const together = (name) => !table.get(name).serial && !table.get(name).dies && !table.get(name).program;
const names = [...table.keys()].filter((name) => together(name) && Object.values(toldBy).some((file) => name.startsWith(`${file}: `)));
const reference = await run(table, names, "node", paths);

for (const [mutant, file] of Object.entries(toldBy)) {
    test(`a node:http with ${mutant} is told from node:http`, async (t) => {
        const picked = names.filter((name) => name.startsWith(`${file}: `));
        const other = await run(table, picked, mutant, paths);
        const told = picked.filter((name) => differences(reference.get(name), other.get(name)).length > 0);
        t.diagnostic(`${told.length} of ${picked.length} cases`);
        assert.notEqual(told.length, 0);
    });
}

test("every mutant has its test", () => assert.deepEqual(Object.keys(toldBy).sort(), Object.keys(mutants).sort()));

test.after(() => rmSync(folder, { recursive: true }));
