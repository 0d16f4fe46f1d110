// Prints what a call of each subject takes: `node --expose-gc --min-semi-space-size=128 --max-semi-space-size=128 counted.mjs`. No
// collection happens while it counts, so nothing that was taken is missed.
import { createHook } from "node:async_hooks";
import { getHeapStatistics } from "node:v8";
import { CALLS } from "./subjects.mjs";

const CALLS_COUNTED = 5000;
const CALLS_WARM = 20_000;
const BATCHES = 5;

async function repeat(run, count) {
    for (let at = 0; at < count; at++) await run();
}

async function bytes(run) {
    await repeat(run, CALLS_WARM);
    let least = Infinity;
    for (let batch = 0; batch < BATCHES; batch++) {
        globalThis.gc();
        const before = getHeapStatistics().used_heap_size;
        await repeat(run, CALLS_COUNTED);
        const taken = getHeapStatistics().used_heap_size - before;
        // Code that is compiled meanwhile takes of the heap too, so the least of some batches is the calls' own.
        if (taken >= 0 && taken < least) least = taken;
    }
    return Math.round(least / CALLS_COUNTED);
}

/** Promises that a call makes, with the one of the `await` here. */
async function promises(run) {
    await run();
    let count = 0;
    const hook = createHook({ init: (_id, type) => void (count += type === "PROMISE" ? 1 : 0) }).enable();
    await run();
    hook.disable();
    return count;
}

const found = {};
for (const [name, { make }] of Object.entries(CALLS)) {
    const run = make();
    found[name] = { promises: await promises(run), bytes: await bytes(run) };
}
console.log(JSON.stringify(found, undefined, 1));
// Deadlines' timers of calls that were counted last.
process.exit(0);
