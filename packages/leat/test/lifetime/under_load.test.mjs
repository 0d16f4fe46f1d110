// A process that ends in the middle of a load ends as it was told to: no crash, no abort, no hang, whatever was in flight.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../child.mjs";
import { load } from "../load/generate.mjs";

const CONNECTIONS = 50;
const LIMITS = [1, 60, 500, 2000];
const ROUNDS = 1;
const EXIT_MS_MAX = 4000;

const endings = {
    "exits after": { code: 4, signal: null, stderr: /^$/ },
    "throws after": { code: 1, signal: null, stderr: /Error: in a handler\n {4}at / },
    "kills itself after": { code: null, signal: "SIGTERM", stderr: /^$/ },
    "closes after": { code: 0, signal: null, stderr: /^$/ },
};

for (const [name, { code, signal, stderr }] of Object.entries(endings)) {
    for (const limit of LIMITS) {
        test(`${name} ${limit} requests`, async (t) => {
            for (let round = 0; round < ROUNDS; round += 1) {
                const child = start(new URL("programs.mjs", import.meta.url), [name, limit], { lifeMs: 20_000 });
                t.after(() => child.kill());
                const port = Number(await child.line("port"));
                const patterns = ["/{id}", "/{id}", "POST /{id}"];
                const result = await load({ port, connections: CONNECTIONS, requests: 100_000, patterns, untilGone: true });
                const gone = performance.now();
                const ended = await child.exit;
                const late = performance.now() - gone;
                assert.match(ended.stderr, stderr);
                assert.deepEqual({ code: ended.code, signal: ended.signal }, { code, signal });
                // Every connection saw the end, and none before it.
                assert.equal(result.wrong.filter((what) => !what.includes("the connection ended")).length, 0, result.wrong.join("\n"));
                assert.ok(result.answered < 100_000, "the load was over before the process was");
                assert.ok(late < EXIT_MS_MAX, `it took ${Math.round(late)} ms to end`);
            }
        });
    }
}
