// What a dispatch may cost: heap bytes, which are counted, and how the number of routes shows, by two orders of magnitude.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";

const COST = fileURLToPath(new URL("cost.mjs", import.meta.url));
const FLAGS = ["--expose-gc", "--max-semi-space-size=64", "--min-semi-space-size=64"];

/** Bytes a dispatch, of Express 5 and 4; npm's routers take two to four times as much. */
const BYTES_MAX = {
    "1 route": [1000, 900],
    "1,000 routes, the last": [1000, 900],
    "1,000 routes with a parameter, the last": [1000, 950],
    "3 middlewares and a route": [1250, 1100],
    "a route of a mounted router": [1900, 1650],
};

/** With a thousand routes a dispatch costs less than twice what it costs with one; npm's routers take hundreds of times as long. */
const TIMES_MAX = 10;

function cost(version, name) {
    const env = { ...process.env, LEAT_COST: JSON.stringify(["leat", version, name]) };
    return JSON.parse(execFileSync(process.execPath, [...FLAGS, COST], { env, encoding: "utf8", timeout: 60_000 }));
}

for (const [at, version] of [5, 4].entries()) {
    for (const [name, max] of Object.entries(BYTES_MAX)) {
        test(`Express ${version}: ${name}: at most ${max[at]} bytes`, () => {
            const { bytes } = cost(version, name);
            assert.ok(bytes > 100 && bytes <= max[at], `${bytes} bytes`);
        });
    }

    test(`Express ${version}: 1,000 routes cost what one costs`, () => {
        const [one, thousand] = [cost(version, "1 route"), cost(version, "1,000 routes, the last")];
        assert.ok(thousand.ns < one.ns * TIMES_MAX, `${thousand.ns} ns with 1,000 routes, ${one.ns} with one`);
    });
}
