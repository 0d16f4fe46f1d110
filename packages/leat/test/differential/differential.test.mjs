// The table, on node:http and on leat/http of the same Node: everything that a client or a program can see must be the same.
//
// LEAT_CASE=text picks cases by a part of their names; LEAT_CASE_TARGET is `node` (the reference against itself), `led` (the
// same with the programs in another process) or `embedded` (`leat run`) in place of `leat`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { certificate } from "../../../../conformance/certificate.mjs";
import { differences, mistakes } from "./compare.mjs";
import { mayDiffer, open } from "./embedded.mjs";
import { exceptionsOf } from "./exceptions.mjs";
import { run } from "./run.mjs";
import { table } from "./table.mjs";

const CASES_MIN = 300;
const target = process.env.LEAT_CASE_TARGET ?? "leat";
const picked = process.env.LEAT_CASE ?? "";
const exceptions = exceptionsOf(target);
const names = [...table.keys()].filter((name) => name.includes(picked));

const folder = mkdtempSync(join(tmpdir(), "leat-differential-"));
const paths = certificate(folder);
const reference = await run(table, names, "node", paths);
const other = await run(table, names, target, paths);
if (target === "embedded") {
    // One process has all cases there, so a case that the ones before it have slowed down is played again among few.
    const again = names.filter((name) => !open.has(name) && exceptions[name] === undefined && differences(reference.get(name), other.get(name)).length > 0);
    if (again.length > 0) for (const [name, result] of await run(table, again, target, paths)) other.set(name, result);
}
rmSync(folder, { recursive: true });

test("the table is as large as promised", { skip: picked !== "" && "only some cases were picked" }, () => {
    assert.ok(table.size >= CASES_MIN, `${table.size} cases`);
});

test("every exception names a case", () => {
    for (const name of [...Object.keys(exceptions), ...open.keys(), ...mayDiffer]) assert.ok(table.has(name), `no case is called ${name}`);
});

for (const name of names) {
    test(name, () => {
        const wrong = mistakes(reference.get(name), table.get(name));
        assert.deepEqual(wrong, [], `${name}: the case itself is wrong`);
        const found = differences(reference.get(name), other.get(name));
        const left = target === "embedded" && process.env.LEAT_CASE_OPEN === undefined ? open.get(name) : undefined;
        if (target === "embedded" && mayDiffer.has(name)) return;
        if (left !== undefined) {
            assert.notEqual(found.length, 0, `${name} differs no more on leat run; take it off embedded.mjs (${left})`);
        } else if (exceptions[name] !== undefined) {
            assert.notEqual(found.length, 0, `${name} differs no more; take it off exceptions.mjs (${exceptions[name]})`);
        } else if (found.length > 0) {
            assert.fail(`${name}: - node:http, + ${target}\n${found.join("\n")}\n\nagain: LEAT_CASE=${JSON.stringify(name)} node --test ${process.argv[1]}`);
        }
    });
}
