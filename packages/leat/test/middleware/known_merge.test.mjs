// Merges that are kept: what comes of the same patch on the same frozen headers is one object, and of anything else it is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, middleware } from "leat/middleware";
import { GET, OK } from "./run.mjs";

/** The headers that were sent in each of some runs, by a plan whose middleware set what `patch` gives. */
function sent(patch, { runs = 4, request = () => GET, development = false } = {}) {
    const seen = [];
    let run = 0;
    const plan = compile([middleware({ name: "sets", scope: "call", onRequest: () => patch(run) })], { development });
    for (; run < runs; run++) plan.run(request(run), ({ headers }) => (seen.push(headers), OK));
    return seen;
}
const FROZEN = Object.freeze({ headers: Object.freeze({ a: "1", b: "2" }) });

for (const [name, patch] of [
    ["a patch that is made anew each time", () => ({ headers: { a: "1", b: "2" } })],
    ["a patch that is frozen", () => FROZEN],
    ["a header that is taken away", () => ({ headers: { host: null } })],
]) {
    test(`${name}: one object for all runs`, () => {
        const [first, ...others] = sent(patch);
        for (const each of others) assert.equal(each, first);
        assert.ok(Object.isFrozen(first));
    });
}

for (const [name, patch, options] of [
    ["another value each time", (run) => ({ headers: { a: String(run) } })],
    ["another value at last", (run) => ({ headers: { a: run === 3 ? "2" : "1" } })],
    ["one header more at last", (run) => ({ headers: { a: "1", ...(run === 3 && { b: "1" }) } })],
    ["one header less at last", (run) => ({ headers: { a: "1", b: run === 3 ? undefined : "1" } })],
    ["headers of each call's own", () => ({ headers: { a: "1" } }), { request: (run) => ({ ...GET, headers: { host: String(run) } }) }],
    ["headers that their owner may change", () => ({ headers: { a: "1" } }), { request: (() => { const headers = {}; return (run) => ({ ...GET, headers: Object.assign(headers, { host: String(run) }) }); })() }],
    ["a list that may change", (() => { const list = []; return () => ({ headers: { a: (list.push("1"), list) } }); })()],
]) {
    test(`${name}: what is sent is what the patch says`, () => {
        const { request = () => GET } = options ?? {};
        const shown = [];
        let run = 0;
        const plan = compile([middleware({ name: "sets", scope: "call", onRequest: () => patch(run) }), middleware({ name: "later", scope: "call", onRequest: () => ({ headers: { "x-later": "1" } }) })]);
        for (; run < 4; run++) {
            const given = request(run);
            plan.run(given, ({ headers }) => (shown.push([headers, { ...given.headers, ...Object.fromEntries(Object.entries(patch(run).headers).filter(([, value]) => value !== undefined)), "x-later": "1" }]), OK));
            const [headers, wanted] = shown.at(-1);
            if (!Array.isArray(wanted.a)) assert.deepEqual({ ...headers }, wanted);
        }
        assert.equal(new Set(shown.map(([headers]) => headers)).size >= 2, true);
    });
}

test("a patch that was refused is refused again", () => {
    const plan = compile([middleware({ name: "sets", scope: "call", onRequest: () => ({ headers: { A: "1" } }) })]);
    for (let run = 0; run < 4; run++) assert.throws(() => plan.run(GET, assert.fail), { code: "header.name" });
});
