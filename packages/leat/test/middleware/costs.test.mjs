// What a run takes of the heap, counted in a process of its own. Times are not asserted: `node compare.mjs` tells them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SYNC } from "./subjects.mjs";

const CHILD_MS_MAX = 60_000;
/** Of what the compiler and Node take beside the runs, divided by their number; less than the smallest object, which takes 16. */
const NOISE_BYTES = 8;

function program(name, args, execArgv = []) {
    const { status, stdout, stderr, error } = spawnSync(process.execPath, [...execArgv, fileURLToPath(new URL(name, import.meta.url)), ...args], { encoding: "utf8", timeout: CHILD_MS_MAX });
    assert.equal(error, undefined);
    assert.equal(status, 0, stderr);
    return stdout;
}

// Generations so large that nothing is collected while it is counted.
const bytes = JSON.parse(program("allocated.mjs", [], ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"]));

for (const [name, { bytesMax }] of Object.entries(SYNC)) {
    if (bytesMax === undefined) continue;
    test(`${name}: at most ${bytesMax} bytes a run`, () => assert.ok(bytes[name] >= 0 && bytes[name] <= bytesMax + NOISE_BYTES, `${bytes[name]} bytes`));
}

test("patches that nobody looks at between them take less than a copy each", () => {
    assert.ok(bytes["4 headers by hand"] > 100, "it counts");
    assert.ok(bytes["4 headers, on headers of the call's own"] <= bytes["4 headers by hand"] / 2, JSON.stringify(bytes));
});

test("the comparison with the style of koa-compose runs", () => {
    assert.equal(program("compare.mjs", ["1", "10"]).trim().split("\n").length, 5);
});
