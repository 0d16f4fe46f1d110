// The table, on real Express (5 and 4) on node:http and on Leat: everything that a client or a program can see must be the same.
//
// LEAT_CASE=text picks cases by a part of their names; LEAT_EXPRESS=leat,leat-node,http says which subjects (subjects.mjs).
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import test from "node:test";
import { differences } from "../../differential/compare.mjs";

if (!existsSync(new URL("node_modules", import.meta.url))) {
    console.log("SKIP express differential: its npm packages are not installed; run npm ci in packages/leat/test/express/differential");
    process.exit(0);
}
const { exception, names: excepted } = await import("./exceptions.mjs");
const { open } = await import("./embedded.mjs");
const { fixtures } = await import("./fixtures.mjs");
const { mistakes } = await import("./mistakes.mjs");
const { run } = await import("./run.mjs");
const { table } = await import("./table.mjs");

const CASES_MIN = 4000;
// Odd, since the versions of a case stand side by side.
const SHARE = 5;
const subjects = (process.env.LEAT_EXPRESS ?? "leat,leat-node,http").split(",");
const picked = process.env.LEAT_CASE ?? "";
const names = [...table.keys()].filter((name) => name.includes(picked));

/** The subjects behind the first, and `leat run`, get each fifth case only, if none were picked: what they add to it is little, and takes as long. */
const namesOf = (subject) => (picked !== "" || (subject === subjects[0] && subject !== "embedded") ? names : names.filter((_, at) => at % SHARE === subjects.indexOf(subject) % SHARE));

const folder = fixtures();
const [reference, ...others] = await Promise.all([run(names, "reference", folder), ...subjects.map((subject) => run(namesOf(subject), subject, folder))]);
rmSync(folder, { recursive: true });

test("the table is as large as promised", { skip: picked !== "" && "only some cases were picked" }, () => {
    assert.ok(table.size >= CASES_MIN, `${table.size} cases`);
});

test("every exception names a case", () => {
    for (const name of excepted) assert.ok(table.has(name) || table.has(`5 ${name}`) || table.has(`4 ${name}`), `no case is called ${name}`);
});

for (const name of names) {
    test(name, () => {
        assert.deepEqual(mistakes(reference.get(name), table.get(name)), [], `${name}: the case itself is wrong`);
        for (const [index, subject] of subjects.entries()) {
            if (!others[index].has(name)) continue;
            const [mine, theirs] = [reference.get(name), others[index].get(name)].map((result) => (reference.size === others[index].size ? result : withoutDeprecations(result)));
            const found = differences(mine, theirs);
            const why = exception(name, subject);
            const left = subject === "embedded" ? open.get(name) : undefined;
            if (left !== undefined && process.env.LEAT_CASE_OPEN === undefined) {
                assert.notEqual(found.length, 0, `${name} differs no more on leat run; take it off embedded.mjs (${left})`);
            } else if (why !== undefined) {
                assert.notEqual(found.length, 0, `${name} differs no more on ${subject}; take it off exceptions.mjs (${why})`);
            } else if (found.length > 0) {
                fail(`${name}: - Express on node:http, + ${subject}\n${found.join("\n")}\n\nagain: LEAT_EXPRESS=${subject} LEAT_CASE=${JSON.stringify(name)} node --test ${process.argv[1]}`);
            }
        }
    });
}

/** They are told once for each place that calls, so by whichever case comes first: another one if only some are played. */
function withoutDeprecations(result) {
    return { ...result, log: result.log.filter((line) => !/^stderr: \S+ deprecated /.test(line)) };
}

/** Without a stack, which says nothing here. */
function fail(message) {
    const error = new assert.AssertionError({ message, operator: "fail" });
    error.stack = message;
    throw error;
}
