// No promise is made before something waits, and few after that.
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { test } from "node:test";
import { compile, middleware } from "leat/middleware";
import { GET, logging, loggingAround, OK, ok } from "./run.mjs";

/** How many promises `run` makes, by whatever means the language has. */
function promises(run) {
    let count = 0;
    const hook = createHook({ init: (_id, type) => void (count += type === "PROMISE" ? 1 : 0) }).enable();
    try {
        run();
    } finally {
        hook.disable();
    }
    return count;
}

const list = (make) => Array.from({ length: 4 }, (_, at) => make(`m${at}`, [], { onRequest: () => ({ headers: { [`x-${at}`]: "1" } }), onResponse: () => ({ status: 201 }) }));
const failing = () => {
    throw new Error("no");
};

test("the count counts", () => assert.equal(promises(() => void (async () => {})()), 1));

for (const [what, make] of [["hooks", logging], ["around", loggingAround]]) {
    for (const development of [false, true]) {
        test(`a run that waits for nothing makes no promise: ${what}${development ? ", in development mode" : ""}`, () => {
            const plan = compile(list(make), { development });
            let response;
            assert.equal(promises(() => (response = plan.run(GET, ok))), 0);
            assert.equal(response.status, 201);
            assert.equal(promises(() => assert.throws(() => plan.run(GET, failing), { message: "no" })), 0);
            const early = compile([...list(make), make("early", [], { onRequest: () => ({ respond: OK }) })], { development });
            assert.equal(promises(() => early.run(GET, assert.fail)), 0);
        });
    }
}

test("a retry that waits for nothing makes none either", () => {
    const retry = middleware({ name: "retry", scope: "call", repeats: true, around: (_context, next) => (next().status < 500 ? undefined : next()) });
    const plan = compile([retry]);
    assert.equal(promises(() => assert.equal(plan.run(GET, (_request, { attempt }) => ({ status: attempt === 1 ? 503 : 200, headers: {} })).status, 200)), 0);
});

test("up to where it waits, and after, hooks run at once", async () => {
    const log = [];
    const plan = compile([logging("a", log), logging("b", log)]);
    let settle;
    const sent = new Promise((resolve) => (settle = resolve));
    const run = plan.run(GET, () => sent);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest"]);
    settle(OK);
    await sent;
    assert.deepEqual(log.slice(2), ["b.onResponse", "b.onComplete", "a.onResponse", "a.onComplete"]);
    assert.equal(await run, OK);
});

test("a sender that waits costs one promise, and Node's own of one await, whatever the number of hooks", () => {
    for (const count of [0, 1, 8]) {
        const sent = Promise.resolve(OK);
        const plan = compile(Array.from({ length: count }, (_, at) => logging(`m${at}`, [])));
        // The async function's own promise, and the throwaway one that V8 tells hooks of for an `await`.
        assert.equal(promises(() => plan.run(GET, () => sent)), 2);
    }
});

test("arounds that return the promise of their next cost what one waits for, however many they are", () => {
    for (const count of [1, 2, 8]) {
        const sent = Promise.resolve(OK);
        const plan = compile(Array.from({ length: count }, (_, at) => middleware({ name: `m${at}`, scope: "call", around: (_context, next) => next() })));
        assert.equal(promises(() => plan.run(GET, () => sent)), 2 + 2);
    }
});

test("an around that a run is not for makes no promise, and nothing else of the run's", async () => {
    const seen = [];
    const passedOver = middleware({ name: "passed over", scope: "call", when: ({ request }) => request.method !== "GET", around: (_context, next) => (seen.push("around"), next()) });
    const plan = compile([passedOver]);
    const sent = Promise.resolve(OK);
    assert.equal(promises(() => plan.run(GET, () => sent)), 2);
    assert.equal(plan.run(GET, ok), OK);
    assert.deepEqual(seen, []);
    assert.equal(await plan.run({ ...GET, method: "POST" }, () => sent), OK);
    assert.deepEqual(seen, ["around"]);
});

test("the nexts of arounds inside of one another are over in one moment, and each may go on from there", async () => {
    const passing = (name) => middleware({ name, scope: "attempt", around: (_context, next) => next() });
    for (const tries of [1, 2, 3]) {
        const again = middleware({
            name: "again",
            scope: "call",
            repeats: true,
            async around(_context, next) {
                for (let left = tries; ; left--) {
                    const pending = next();
                    assert.throws(() => next(), { code: "next.twice" });
                    const response = await pending;
                    if (left === 1) return response;
                }
            },
        });
        let sent = 0;
        const plan = compile([again, passing("a"), passing("b")]);
        assert.equal(await plan.run(GET, async () => (sent++, OK)), OK);
        assert.equal(sent, tries);
    }
});

test("the next of an around that returned its promise is as strict as before", async () => {
    for (const [send, outcome] of [[async () => OK, OK], [async () => failing(), "no"]]) {
        let kept;
        const passing = middleware({ name: "passing", scope: "call", around: (_context, next) => (kept = next)() });
        const run = compile([passing]).run(GET, send);
        assert.throws(() => kept(), { code: "next.twice" });
        assert.equal(await Promise.resolve(run).catch(({ message }) => message), outcome);
        assert.throws(() => kept(), { code: "next.late" });
    }
});
