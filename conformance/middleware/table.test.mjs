import assert from "node:assert/strict";
import { test } from "node:test";
import { problems, table } from "./table.mjs";

const versions = { express5: { one: "1.0.0" }, express4: { one: "0.9.0" } };
const exercised = { express5: new Set(["one"]), express4: new Set(["one"]) };
const RIGHT = { version: "1.0.0", verdict: "drop-in" };

const CASES = [
    ["nothing", { one: { express5: RIGHT } }, []],
    ["a version that was not run", { one: { express5: { ...RIGHT, version: "2.0.0" } } }, ["one, express5: says version 2.0.0, but 1.0.0 was run"]],
    ["a verdict of its own", { one: { express5: { ...RIGHT, verdict: "perhaps" } } }, ["one, express5: no verdict perhaps", 'one, express5: "perhaps" needs a why']],
    ["no reason", { one: { express5: { ...RIGHT, verdict: "register" } } }, ['one, express5: "register" needs a why']],
    ["no way out", { one: { express5: { ...RIGHT, verdict: "unsupported", why: "it may not" } } }, ['one, express5: "unsupported" needs what to use instead']],
    ["a package that nobody runs", { two: { express4: { version: "1.0.0", verdict: "drop-in" } } }, ["two, express4: says version 1.0.0, but undefined was run", "two, express4: no suite exercised it"]],
    ["no row", { one: {} }, ["one: no row"]],
    ["a field that nobody reads", { one: { express5: { ...RIGHT, note: "x" } } }, ["one, express5: no field note"]],
    ["another order", { one: { express5: RIGHT }, a: { express5: RIGHT } }, ["its packages are not in order", "a, express5: says version 1.0.0, but undefined was run", "a, express5: no suite exercised it"]],
];

for (const [what, rows, expected] of CASES) {
    test(`${what} is told`, () => assert.deepEqual(problems(versions, exercised, rows), expected));
}

test("the table itself has a verdict in each row", () => {
    for (const [name, { express5, express4 }] of Object.entries(table)) assert.ok(express5 ?? express4, name);
});
