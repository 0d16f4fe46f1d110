// Prints the bytes that a run of each subject takes from the heap: `node --expose-gc --max-semi-space-size=128
// --min-semi-space-size=128 allocated.mjs`. No collection happens while it counts, so nothing that was taken is missed.
import { getHeapStatistics } from "node:v8";
import { SYNC } from "./subjects.mjs";

const RUNS = 100_000;
const BATCHES = 5;

function bytes(run) {
    for (let at = 0; at < RUNS; at++) run();
    let least = Infinity;
    for (let batch = 0; batch < BATCHES; batch++) {
        globalThis.gc();
        const before = getHeapStatistics().used_heap_size;
        for (let at = 0; at < RUNS; at++) run();
        const taken = getHeapStatistics().used_heap_size - before;
        // Code that is compiled meanwhile takes of the heap too, so the least of some batches is the run's own.
        if (taken >= 0 && taken < least) least = taken;
    }
    return Math.round(least / RUNS * 10) / 10;
}

const found = {};
for (const [name, { make }] of Object.entries(SYNC)) found[name] = bytes(make());
console.log(JSON.stringify(found, undefined, 1));
