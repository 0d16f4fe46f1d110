// Checks the form of the policies' vectors. Run: node --test corpus/policy/form.test.mjs
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const here = new URL(".", import.meta.url);
const CASE_KEYS = ["name", "policy", "source", "settings", "steps"];
const FILES = readdirSync(here).filter((file) => file.endsWith(".json"));
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Every number below `value`, with the key that leads to it. */
function* numbers(value, key) {
    if (typeof value === "number") yield [key, value];
    else if (value !== null && typeof value === "object") {
        for (const [below, one] of Object.entries(value)) yield* numbers(one, Array.isArray(value) ? key : below);
    }
}

function checkStep(step, where) {
    assert.ok(isObject(step) && Number.isSafeInteger(step.at_us) && step.at_us >= 0, `${where}: at_us`);
    assert.ok(step.expect === undefined || isObject(step.expect), `${where}: expect`);
    for (const draw of step.draws ?? []) assert.ok(Number.isInteger(draw) && draw >= 0 && draw < 2 ** 32, `${where}: draw ${draw}`);
}

for (const file of FILES) {
    test(`${file} is well-formed`, () => {
        for (const one of JSON.parse(readFileSync(new URL(file, here), "utf8"))) {
            const where = `${file}: ${one.name}`;
            assert.deepEqual(Object.keys(one), CASE_KEYS, where);
            assert.match(one.name, /^[a-z0-9_]+(\.[a-z0-9_]+)+$/, where);
            assert.ok(one.source.length > 5, `${where}: no source`);
            assert.ok(isObject(one.settings), `${where}: settings`);
            assert.ok(Array.isArray(one.steps) && one.steps.some((step) => step.expect !== undefined), `${where}: expects nothing`);
            for (const step of one.steps) checkStep(step, where);
            for (const [key, number] of numbers(one, "")) {
                if (key.endsWith("_us")) assert.ok(Number.isSafeInteger(number) && number >= 0, `${where}: ${key} is ${number}`);
            }
        }
    });
}

test("there are files, and no two cases share a name", () => {
    assert.ok(FILES.length > 0);
    const names = FILES.flatMap((file) => JSON.parse(readFileSync(new URL(file, here), "utf8")).map((one) => one.name));
    assert.equal(new Set(names).size, names.length, names.filter((name, at) => names.indexOf(name) !== at).join());
});
