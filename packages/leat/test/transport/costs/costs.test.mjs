// What a call takes of the heap, and how many promises it makes, counted in a process of its own. A change that makes either grow fails
// here; one that makes them shrink should write the smaller figure into `subjects.mjs`. Times stand in the bench.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CALLS } from "./subjects.mjs";

const CHILD_MS_MAX = 120_000;
/** Generations so large that nothing is collected while it is counted. */
const HEAP = ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"];
/**
 * Even without collections, what the compiler takes is never twice the same, and each Node.js takes another sum: between 20 and 26, on a
 * machine that has other things to do too, the least and the most of one subject are up to a third apart.
 */
const LEAST_OF_CEILING = 0.6;

const { status, stdout, stderr, error } = spawnSync(process.execPath, [...HEAP, fileURLToPath(new URL("counted.mjs", import.meta.url))], { encoding: "utf8", timeout: CHILD_MS_MAX });
assert.equal(error, undefined);
assert.equal(status, 0, stderr);
const counted = JSON.parse(stdout);

for (const [name, { bytesMax, promisesMax }] of Object.entries(CALLS)) {
    test(`${name}: at most ${promisesMax} promises a call`, () => assert.equal(counted[name].promises, promisesMax));
    test(`${name}: at most ${bytesMax} bytes a call`, () => {
        const { bytes } = counted[name];
        assert.ok(bytes <= bytesMax, `${bytes} bytes`);
        assert.ok(bytes >= LEAST_OF_CEILING * bytesMax, `${bytes} bytes are so many fewer that the ceiling says nothing any more; lower it`);
    });
}
