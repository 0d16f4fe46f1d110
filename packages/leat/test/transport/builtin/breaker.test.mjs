// The middleware `breaker`. What its state machine decides is in corpus/policy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { failure, load, setup, thrown, times } from "./setup.mjs";

const { breaker } = load("builtin/breaker");
const { retry } = load("builtin/retry");
const ILL = { status: 503 };

/** A breaker that trips at the second failure in a row, and what it is told to tell. */
function tripping(script, more = {}, others = []) {
    const steps = [];
    const own = breaker({ consecutiveFailures: 2, probes: 1, openMs: 1000, onChange: (state, before) => steps.push(`${before} ${state}`), ...more });
    return { ...setup([...others, own], script), steps };
}

test("it refuses without sending, tells for how long, and lets a probe through then", async () => {
    const { request, exchanges, steps, clock } = tripping([ILL, ILL, {}, {}]);
    await request();
    assert.equal((await request()).status, 503);
    await clock.advance(250);
    const error = await failure(request());
    assert.equal(error.code, "breaker.open");
    assert.match(error.message, /for 750 ms more/);
    assert.deepEqual(error.attempts, []);
    await clock.advance(750);
    assert.equal((await request()).status, 200);
    assert.equal((await request()).status, 200);
    assert.equal(exchanges.length, 4);
    assert.deepEqual(steps, ["admit refuse", "refuse probe", "probe admit"]);
});

test("while a probe is under way others are refused, and one that fails closes it for twice as long", async () => {
    const { request, transport, clock, steps } = tripping([ILL, ILL, { ...ILL, afterMs: 100 }]);
    await request();
    await request();
    await clock.advance(1000);
    const probe = transport.request({ path: "/" });
    await clock.waiting(1);
    assert.match((await failure(transport.request({ path: "/" }))).message, /until its probes are answered/);
    assert.equal((await clock.settle(probe)).status, 503);
    assert.match((await failure(request())).message, /for 2000 ms more/);
    assert.deepEqual(steps, ["admit refuse", "refuse probe", "probe refuse"]);
});

const FAILURES = {
    "a status": [ILL, {}, true],
    "a status that is none": [{ status: 501 }, {}, false],
    "a connection that fails": [{ fails: "connection.failed" }, {}, true],
    "a connection that breaks": [{ fails: "connection.broken" }, {}, true],
    "a try that takes too long": ["silent", { tryTimeoutMs: 50 }, true],
    "a call that takes too long": ["silent", { timeoutMs: 50 }, true],
    "a call that is given up": ["silent", { signal: "later" }, false],
};
for (const [name, [step, call, counts]] of Object.entries(FAILURES)) {
    test(`${name} is ${counts ? "a" : "no"} failure of the service`, async () => {
        const { transport, clock, steps } = tripping(() => step);
        for (let round = 0; round < 4; round++) {
            const controller = new AbortController();
            const sent = transport.request({ path: "/", ...call, ...(call.signal && { signal: controller.signal }) }).catch((error) => error);
            await clock.advance(100);
            controller.abort();
            await sent;
        }
        assert.equal(steps.length > 0, counts);
    });
}

test("what a middleware further in throws says nothing, and gives its probe back", async () => {
    let isBroken = false;
    const broken = middleware({ name: "broken", scope: "attempt", onRequest: () => { if (isBroken) throw new Error("mine"); } });
    const steps = [];
    const { request, clock } = setup([breaker({ consecutiveFailures: 1, probes: 1, onChange: (state) => steps.push(state) }), broken], [ILL, {}]);
    await request();
    await clock.advance(1000);
    isBroken = true;
    assert.equal((await failure(request())).code, "middleware.failed");
    assert.equal((await failure(request())).code, "middleware.failed");
    isBroken = false;
    assert.equal((await request()).status, 200);
    assert.deepEqual(steps, ["refuse", "probe", "admit"]);
});

test("retry does not wait for it, and a refused try reports nothing to it", async () => {
    const { request, exchanges, steps } = tripping(() => ILL, {}, [retry()]);
    const error = await failure(request());
    assert.equal(error.code, "breaker.open");
    assert.deepEqual(times(exchanges), [0, 50]);
    assert.deepEqual(error.attempts.map(({ status }) => status), [503, 503]);
    assert.deepEqual(steps, ["admit refuse"]);
});

test("rates need so many tries", async () => {
    const { request, steps } = tripping((({ number }) => (number % 2 === 0 ? {} : ILL)), { consecutiveFailures: false, callsMin: 6 });
    for (let round = 0; round < 5; round++) await request();
    assert.deepEqual(steps, []);
    await request();
    assert.deepEqual(steps, ["admit refuse"]);
});

test("slow tries trip it where that is asked for", async () => {
    for (const [slowRate, expected] of [[1, ["admit refuse"]], [false, []]]) {
        const { request, steps } = tripping(() => ({ afterMs: 1000 }), { slowRate, callsMin: 2 });
        await request();
        await request();
        assert.deepEqual(steps, expected);
    }
});

test("wrong options are refused by their names", () => {
    for (const [options, message] of [
        [{ windowMs: 0 }, "breaker.windowMs is 0"],
        [{ callsMin: 0 }, "breaker.callsMin is 0"],
        [{ failureRate: 0 }, "breaker.failureRate is 0; it takes a number above 0 to 1, or false"],
        [{ slowRate: 2 }, "breaker.slowRate is 2"],
        [{ consecutiveFailures: true }, "breaker.consecutiveFailures is true"],
        [{ probes: 1.5 }, "breaker.probes is 1.5"],
        [{ openMs: 10, openMsMax: 5 }, "breaker.openMs is 10; it takes at most breaker.openMsMax, which is 5"],
        [{ statuses: [5] }, "breaker.statuses[0] is 5"],
        [{ onChange: "log" }, "breaker.onChange is a string"],
        [{ rate: 1 }, 'no "rate"'],
    ]) {
        const error = thrown(() => breaker(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
