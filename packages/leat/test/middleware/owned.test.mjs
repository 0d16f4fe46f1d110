// A plan writes to headers that it has copied itself and that nobody has seen since. Nobody may notice: whatever was kept stays what
// it was, and what is sent is what copies would have come to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, middleware, patchRequest } from "leat/middleware";
import { GET, OK } from "./run.mjs";

const PATCHES = [
    { headers: { a: "1" } },
    { headers: { b: "2", c: "3" } },
    { headers: { a: "4" } },
    { headers: { host: null } },
    { headers: { b: null, d: "5" } },
    { headers: { c: undefined, e: ["6", "7"] } },
    { path: "/other" },
    { body: "body" },
    { method: "PUT", headers: { a: "8" } },
    Object.freeze({ headers: Object.freeze({ a: "9", host: "b" }) }),
    Object.freeze({ headers: Object.freeze({ f: Object.freeze(["1", "2"]) }) }),
    { headers: {} },
    {},
    undefined,
];
const AGENT = Object.freeze({ headers: Object.freeze({ agent: "me" }) });
const LISTS = 2000;
/** Runs of one plan, which remembers merges from one to the next. */
const RUNS = 4;
const LAYERS_MAX = 8;
const plain = (request) => JSON.stringify(request);

/** As chance would have it, and twice the same. */
function draws(seed) {
    let state = seed;
    return (below) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
}

/** Layers that patch, of which some look before; in an `around` or a hook, at once or later; most the same in each run. */
function layers(draw, now) {
    return Array.from({ length: 1 + draw(LAYERS_MAX) }, (_, at) => {
        const [first, isSame, looks, later, wraps] = [draw(PATCHES.length), draw(3) > 0, draw(3) === 0, draw(6) === 0, draw(5) === 0];
        const look = (context) => {
            if (looks) now.kept.push([context.request, plain(context.request)]);
        };
        const patched = () => {
            const patch = PATCHES[(first + (isSame ? 0 : now.run)) % PATCHES.length];
            now.patches.push(patch);
            return patch;
        };
        const onRequest = (context) => (look(context), later ? Promise.resolve(patched()) : patched());
        const around = (context, next) => (look(context), next(patched()));
        return middleware({ name: `m${at}`, scope: "call", ...(wraps ? { around } : { onRequest }) });
    });
}

for (const development of [false, true]) {
    test(`whatever was kept stays, and what is sent is right${development ? ", in development mode" : ""}`, async () => {
        let looked = 0;
        for (let seed = 0; seed < LISTS; seed++) {
            const draw = draws(seed);
            const now = { run: 0, kept: [], patches: [] };
            const list = layers(draw, now);
            const tries = 1 + draw(2);
            const again = draw(2) === 0
                ? middleware({ name: "again", scope: "call", repeats: true, around: async (_context, next) => (tries === 2 && (await next()), next()) })
                : middleware({ name: "again", scope: "call", again: (context) => (context.tries < tries ? true : undefined) });
            const signing = middleware({ name: "signing", scope: "attempt", onRequest: ({ attempt }) => ({ headers: { "x-try": String(attempt) } }) });
            const plan = compile([...list, again, signing, middleware({ name: "agent", scope: "attempt", onRequest: () => AGENT })], { development });
            const all = [];
            for (; now.run < RUNS; now.run++) {
                now.patches = [];
                const sent = [];
                const given = now.run === 1 ? { ...GET, headers: { ...GET.headers, z: "1" } } : GET;
                const before = plain(given);
                await plan.run(given, (request) => (sent.push([request, plain(request)]), OK));
                const whole = now.patches.reduce((request, patch) => (patch === undefined ? request : patchRequest(request, patch)), given);
                sent.forEach(([request], at) => assert.deepEqual(request, patchRequest(whole, { headers: { "x-try": String(at + 1), agent: "me" } }), `seed ${seed}, run ${now.run}`));
                assert.equal(sent.length, tries);
                assert.equal(plain(given), before);
                all.push(...sent);
            }
            for (const [request, shown] of [...now.kept, ...all]) assert.equal(plain(request), shown, `seed ${seed}: a request that was kept is another one`);
            looked += now.kept.length;
        }
        assert.ok(looked > LISTS, `${looked} requests were kept in ${LISTS} runs`);
    });
}

test("a patch with a name that is refused changes nothing before it throws", () => {
    const seen = [];
    const list = [
        middleware({ name: "sees", scope: "call", onError: ({ request }) => void seen.push(request) }),
        middleware({ name: "right", scope: "call", onRequest: () => ({ headers: { a: "1" } }) }),
        middleware({ name: "wrong", scope: "call", onRequest: () => ({ headers: { b: "2", C: "3" } }) }),
    ];
    assert.throws(() => compile(list).run(GET, assert.fail), { code: "header.name" });
    assert.deepEqual(seen.map(({ headers }) => headers), [{ host: "a", a: "1" }]);
});

test("what is sent is not written to by the next run", () => {
    const sent = [];
    const plan = compile(["a", "b"].map((name) => middleware({ name, scope: "call", onRequest: () => ({ headers: { [name]: String(sent.length) } }) })));
    for (let run = 0; run < 3; run++) plan.run(GET, (request) => (sent.push(request), OK));
    assert.deepEqual(sent.map(({ headers }) => headers), ["0", "1", "2"].map((value) => ({ host: "a", a: value, b: value })));
});
