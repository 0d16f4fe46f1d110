// Compares plans with the style of koa-compose, one after the other in turns and in one process: `node compare.mjs`. Times are
// told, and nothing is asserted of them.
import { PAIRS } from "./subjects.mjs";

const ROUNDS = Number(process.argv[2] ?? 21);
const RUNS = Number(process.argv[3] ?? 20_000);

const time = async (run) => {
    const before = process.cpuUsage();
    for (let at = 0; at < RUNS; at++) {
        const result = run();
        // As its callers do it; a plan that waited for nothing has returned already.
        if (typeof result.then === "function") await result;
    }
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / RUNS;
};
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

for (const [name, ours, theirs] of PAIRS) {
    const [a, control, b] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
        a.push(await time(ours));
        b.push(await time(theirs));
        // The same thing twice: how far apart these are is what the others may be apart by chance.
        control.push(await time(ours));
    }
    const rows = { plan: median(a), "plan again": median(control), "koa style": median(b) };
    console.log(`${name.padEnd(26)}${Object.entries(rows).map(([what, ns]) => `${what} ${ns.toFixed(0).padStart(5)} ns`).join("   ")}`);
}
