// The middleware `retry`.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import { failure, load, setup, thrown, times } from "./setup.mjs";

const { retry } = load("builtin/retry");
const OK = { status: 200 };
const busy = (headers) => ({ status: 503, headers });
const after = (value) => ({ "retry-after": value });

/** By a draw of 0 equal jitter waits for half of 100, 200, 400 ms. */
const SENT = [
    ["a GET answered 503", { script: [busy(), busy(), OK], sent: [0, 50, 150], status: 200 }],
    ["a POST answered 503 and Retry-After", { method: "POST", script: [busy(after("2"))], sent: [0], status: 503 }],
    ["a POST answered 429 and Retry-After", { method: "POST", script: [{ status: 429, headers: after("2") }, OK], sent: [0, 2000], status: 200 }],
    ["a GET answered 429 and a date", { script: [{ status: 429, headers: after("Thu, 01 Jan 2026 00:00:03 GMT") }, OK], sent: [0, 3000], status: 200 }],
    ["a Retry-After that is neither counts as absent", { script: [busy(after("soon")), OK], sent: [0, 50], status: 200 }],
    ["a Retry-After beyond the limit", { script: [busy(after("31"))], sent: [0], status: 503 }],
    ["statuses that are not named", { script: [{ status: 500 }], sent: [0], status: 500 }],
    ["at most three retries", { script: [busy(), busy(), busy(), busy()], sent: [0, 50, 150, 350], status: 503 }],
    ["none by the call", { call: { retriesMax: 0 }, script: [busy()], sent: [0], status: 503 }],
    ["more by the call", { call: { retriesMax: 4 }, script: [busy(), busy(), busy(), busy(), OK], sent: [0, 50, 150, 350, 750], status: 200 }],
    ["a POST that did not reach the peer", { method: "POST", script: [{ fails: "connection.failed" }, OK], sent: [0, 50], status: 200 }],
    ["a POST that the peer did not process", { method: "POST", script: [{ fails: "connection.not_processed" }, OK], sent: [0, 50], status: 200 }],
    ["a GET whose connection broke", { script: [{ fails: "connection.broken" }, OK], sent: [0, 50], status: 200 }],
    ["a POST whose connection broke", { method: "POST", script: [{ fails: "connection.broken" }], sent: [0], code: "connection.broken" }],
    ["a POST that the caller says does no harm", { method: "POST", call: { idempotent: true }, script: [{ fails: "connection.broken" }, OK], sent: [0, 50], status: 200 }],
    ["a GET that the caller says does harm", { call: { idempotent: false }, script: [busy()], sent: [0], status: 503 }],
    ["a try that took too long", { script: [{ fails: "connection.timeout" }], sent: [0], code: "connection.timeout" }],
    ["a try that took too long, where the call says so", { call: { retryOnTimeout: true }, script: [{ fails: "connection.timeout" }, OK], sent: [0, 50], status: 200 }],
    ["a wait that would end behind the deadline", { call: { timeoutMs: 60 }, script: [busy(), busy()], sent: [0, 50], status: 503 }],
    ["errors of all tries are the last one's", { script: Array(4).fill({ fails: "connection.failed" }), sent: [0, 50, 150, 350], code: "connection.failed" }],
    ["full jitter may come back at once", { options: { jitter: "full" }, script: [busy(), OK], sent: [0, 0], status: 200 }],
    ["other times", { options: { baseMs: 1000, maxMs: 1500 }, script: [busy(), busy(), OK], sent: [0, 500, 1250], status: 200 }],
    ["other statuses", { method: "POST", options: { statuses: [500], statusesAnyMethod: [418] }, script: [{ status: 418 }, { status: 500 }], sent: [0, 50], status: 500 }],
];

for (const [name, { method = "GET", call, options, script, sent, status, code }] of SENT) {
    test(name, async () => {
        const { request, exchanges, clock, transport } = setup([retry(options)], script);
        const body = method === "POST" ? "text" : undefined;
        const outcome = code === undefined ? await request({ method, body, ...call }) : await failure(request({ method, body, ...call }));
        assert.deepEqual(times(exchanges), sent);
        assert.equal(outcome.status, status);
        assert.equal(outcome.code, code);
        assert.equal(outcome.attempts.length, sent.length);
        assert.equal(clock.pending, 0);
        await transport.close();
    });
}

test("an abort ends the wait at once, and leaves no listener and no timer", async () => {
    const { clock, transport, exchanges } = setup([retry()], [busy(after("3")), OK]);
    const controller = new AbortController();
    const failed = failure(transport.request({ path: "/", signal: controller.signal }));
    await clock.waiting(1);
    await clock.advance(200);
    const why = new Error("changed my mind");
    controller.abort(why);
    const error = await failed;
    assert.equal(error.code, "call.aborted");
    assert.equal(error.cause, why);
    assert.equal(clock.nowMs(), 200);
    assert.equal(clock.pending, 0);
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    assert.deepEqual(error.attempts.map(({ reason }) => reason), ["503"]);
    assert.equal(exchanges.length, 1);
});

test("a body that was read is not sent again, and one that is made anew is", async () => {
    for (const [body, sent] of [
        [Readable.from(["once"]), 1],
        [() => Readable.from(["anew"]), 2],
    ]) {
        const { request, exchanges } = setup([retry()], [busy(), OK]);
        await request({ method: "PUT", body });
        assert.equal(exchanges.length, sent);
    }
});

test("retries are a part of the calls, whatever node they go to", async () => {
    const nodes = ["http://a.test", "http://b.test"];
    const { request, exchanges, clock } = setup([retry({ budget: { ratio: 0.5, perSecond: 0, burst: 1 } })], () => busy(), { nodes });
    const tries = [];
    for (let round = 0; round < 6; round++) {
        const before = exchanges.length;
        await request();
        tries.push(exchanges.length - before);
    }
    // Full at first; each call brings half a retry, and no more than one is kept.
    assert.deepEqual(tries, [2, 1, 2, 1, 2, 1]);
    assert.equal(clock.pending, 0);
});

test("without a budget each call is tried as often as it may", async () => {
    const { request, exchanges } = setup([retry({ budget: false, retriesMax: 1 })], () => busy());
    for (let round = 0; round < 200; round++) await request();
    assert.equal(exchanges.length, 400);
});

test("a streamed response that is tried again is let go of", async () => {
    const { request, clock } = setup([retry()], [{ status: 503, body: ["a", "b"], everyMs: 5 }, { status: 200, body: ["c", "d"] }]);
    const { body } = await request({ as: "stream" });
    assert.equal(Buffer.concat(await clock.settle(body.toArray())).toString(), "cd");
    assert.equal(clock.pending, 0);
});

test("what a middleware throws is not tried again", async () => {
    const { middleware } = await import("leat/middleware");
    const broken = middleware({ name: "broken", scope: "attempt", onRequest: () => { throw new RangeError("mine"); } });
    const { request, exchanges } = setup([retry(), broken], []);
    const error = await failure(request());
    assert.equal(error.code, "middleware.failed");
    assert.equal(exchanges.length, 0);
});

const WRONG = [
    [null, "retry is null; it takes an object"],
    [{ retries: 3 }, 'no "retries"'],
    [{ retriesMax: 101 }, "retry.retriesMax is 101; it takes a whole number from 0 to 100"],
    [{ retriesMax: -1 }, "retry.retriesMax is -1"],
    [{ baseMs: 0 }, "retry.baseMs is 0; it takes milliseconds from 0.001 to a day"],
    [{ baseMs: 10, maxMs: 5 }, "retry.baseMs is 10; it takes at most retry.maxMs, which is 5"],
    [{ maxMs: Infinity }, "retry.maxMs is Infinity"],
    [{ jitter: "none" }, 'retry.jitter is a string; it takes "equal" or "full"'],
    [{ retryAfterMsMax: "1s" }, "retry.retryAfterMsMax is a string"],
    [{ statuses: 503 }, "retry.statuses is 503; it takes an array of statuses"],
    [{ statuses: [503, 99] }, "retry.statuses[1] is 99; it takes a status from 100 to 599"],
    [{ statusesAnyMethod: ["429"] }, "retry.statusesAnyMethod[0] is a string"],
    [{ retryOnTimeout: 1 }, "retry.retryOnTimeout is 1; it takes true or false"],
    [{ budget: true }, "retry.budget is true; it takes an object"],
    [{ budget: { ratio: 2 } }, "retry.budget.ratio is 2; it takes a number from 0 to 1"],
    [{ budget: { burst: 0 } }, "retry.budget.burst is 0; it takes a whole number from 1 on"],
    [{ budget: { burst: 16_778 } }, "retry.budget.burst is 16778; it takes a whole number from 1 to 16777"],
    [{ budget: { perSecond: 0.5 } }, "retry.budget.perSecond is 0.5; it takes a whole number from 0 on"],
];

test("wrong options are refused by their names", () => {
    for (const [options, message] of WRONG) {
        const error = thrown(() => retry(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});

test("outside of a transport it says where it belongs", async () => {
    const { compile } = await import("leat/middleware");
    const { call } = load("call");
    const plan = compile([retry()], { provides: [call] });
    assert.match(thrown(() => plan.run({ method: "GET", path: "/", headers: {} }, () => OK)).message, /run in a transport/);
});
