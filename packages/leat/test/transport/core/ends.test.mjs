// How a call ends before its response: by its caller, by its time, by `close`. At once, wherever it is, and with nothing left behind.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { call, sleep } from "leat/transport";
import { scripted, served } from "./made.mjs";

const outcome = (promise) => promise.then(() => "done", (error) => error.code);

/** A middleware that waits as a retry does, by the rules. */
const waiting = (ms) => middleware({
    name: "waiting", scope: "call", reads: [call],
    async onRequest(context) {
        const { clock, signal } = context.get(call);
        await sleep(clock, ms, signal);
    },
});
/** One that knows of no signal. */
const deaf = middleware({ name: "deaf", scope: "call", onRequest: () => new Promise(() => undefined) });

const PLACES = [
    ["while a middleware waits", [{}], { middleware: [waiting(3000)] }],
    ["while a middleware waits that knows of no signal", [{}], { middleware: [deaf] }],
    ["while the connection is silent", ["silent"], {}],
    ["while the body drips", [{ body: Array(64).fill("x"), everyMs: 50 }], {}],
    ["while a response is handled", [{}], { middleware: [middleware({ name: "slow", scope: "attempt", onResponse: () => new Promise(() => undefined) })] }],
];

for (const [place, script, options] of PLACES) {
    test(`a call ends at its time ${place}`, async () => {
        const { transport, clock } = scripted(script, options);
        const result = transport.request({ path: "/", timeoutMs: 500 });
        assert.equal(await clock.settle(outcome(result)), "call.deadline");
        assert.equal(clock.nowMs(), 500);
        assert.equal(clock.pending, 0, "no timer is left");
        await assert.rejects(result, /500 ms/);
    });

    test(`a call ends at its caller's abort ${place}`, async () => {
        const { transport, clock, connection } = scripted(script, options);
        const abort = new AbortController();
        const why = new Error("gone");
        clock.after(200, () => abort.abort(why));
        const result = transport.request({ path: "/", signal: abort.signal });
        assert.equal(await clock.settle(outcome(result)), "call.aborted");
        assert.equal(clock.nowMs(), 200);
        assert.equal(clock.pending, 0, "no timer is left");
        assert.equal(connection.open, 0);
        await assert.rejects(result, (error) => error.cause === why);
    });

    test(`a call ends at close ${place}`, async () => {
        const { transport, clock } = scripted(script, options);
        const result = outcome(transport.request({ path: "/" }));
        await clock.advance(100);
        await transport.close();
        assert.equal(await result, "transport.closed");
        assert.equal(clock.pending, 0);
        assert.equal(await outcome(transport.request({ path: "/" })), "transport.closed");
    });
}

test("the caller's signal keeps no listener, however the call ends", async () => {
    const abort = new AbortController();
    const listeners = () => getEventListeners(abort.signal, "abort").length;
    for (const [script, options] of [[[{}], {}], [[{ fails: "connection.broken" }], {}], [["silent"], { timeoutMs: 10 }], [[{ status: 500 }], { throwStatus: true }]]) {
        const { transport, clock } = scripted(script, options);
        await clock.settle(outcome(transport.request({ path: "/", signal: abort.signal })));
        assert.equal(listeners(), 0, JSON.stringify(script));
    }
    const { transport } = scripted([]);
    await outcome(transport.request({ path: "no path", signal: abort.signal }));
    assert.equal(listeners(), 0);
    assert.equal(abort.signal.aborted, false, "and is never aborted");
});

test("one signal for two calls: the time of one is nothing to the other", async () => {
    const { transport, clock } = scripted(["silent", { afterMs: 1000 }]);
    const { signal } = new AbortController();
    const late = outcome(transport.request({ path: "/late", signal, timeoutMs: 100 }));
    const innocent = outcome(transport.request({ path: "/innocent", signal }));
    assert.equal(await clock.settle(late), "call.deadline");
    assert.equal(await clock.settle(innocent), "done");
});

test("a signal that is aborted already sends nothing", async () => {
    const { transport, sent, clock } = scripted([]);
    await assert.rejects(transport.request({ path: "/", signal: AbortSignal.abort() }), { code: "call.aborted" });
    assert.deepEqual(sent, []);
    assert.equal(clock.pending, 0);
});

test("a try has a time of its own, which is the connection's failure and not the call's", async () => {
    const again = middleware({
        name: "again", scope: "call", repeats: true,
        around: async (_context, next) => {
            try {
                return await next();
            } catch (error) {
                assert.equal(error.code, "connection.timeout");
                assert.equal(error.kind, "timed_out");
                return next();
            }
        },
    });
    const { transport, clock } = scripted(["silent", { afterMs: 50 }], { middleware: [again], tryTimeoutMs: 100 });
    const { status, attempts } = await clock.settle(transport.request({ path: "/" }));
    assert.equal(status, 200);
    assert.deepEqual(attempts.map(({ number, code, tookMs }) => [number, code, tookMs]), [[1, "connection.timeout", 100], [2, undefined, 50]]);
    assert.equal(clock.pending, 0);
});

test("a middleware may bring the end nearer, and never put it off", async () => {
    const ends = (ms) => middleware({ name: "ends", scope: "call", reads: [call], onRequest: (context) => context.get(call).endWithin(ms) });
    for (const [ms, expected] of [[100, 100], [9000, 500]]) {
        const { transport, clock } = scripted(["silent"], { middleware: [ends(ms)], timeoutMs: 500 });
        assert.equal(await clock.settle(outcome(transport.request({ path: "/" }))), "call.deadline");
        assert.equal(clock.nowMs(), expected);
        assert.equal(clock.pending, 0);
    }
});

test("without a deadline no timer is made", async () => {
    const { transport, clock } = scripted(["silent"], { timeoutMs: Infinity });
    const result = outcome(transport.request({ path: "/" }));
    await clock.advance(1);
    assert.equal(clock.pending, 0);
    await transport.close();
    assert.equal(await result, "transport.closed");
});

test("a stream that was handed out is under the call's time, signal and close", async () => {
    const drip = { body: Array(100).fill("x"), everyMs: 50 };
    for (const [code, end, options] of [
        ["call.deadline", () => undefined, { timeoutMs: 500 }],
        ["call.aborted", ({ abort, clock }) => clock.after(500, () => abort.abort()), {}],
        ["transport.closed", ({ transport, clock }) => clock.after(500, () => transport.close()), {}],
    ]) {
        const abort = new AbortController();
        const { transport, clock } = scripted([drip], options);
        end({ abort, clock, transport });
        const { body } = await clock.settle(transport.request({ path: "/", as: "stream", signal: abort.signal }));
        let bytes = 0;
        const read = (async () => {
            for await (const chunk of body) bytes += chunk.length;
        })();
        assert.equal(await clock.settle(outcome(read)), code);
        assert.equal(clock.nowMs(), 500);
        assert.ok(bytes > 0 && bytes < 20, `${bytes}`);
        assert.equal(clock.pending, 0);
        assert.equal(getEventListeners(abort.signal, "abort").length, 0);
    }
});

test("a stream that nobody reads ends with its call, and no error goes astray", async () => {
    const { transport, clock } = scripted([{ body: Array(100).fill("x"), everyMs: 50 }], { timeoutMs: 500 });
    const { body } = await clock.settle(transport.request({ path: "/", as: "stream" }));
    await clock.advance(1000);
    assert.equal(body.destroyed, true);
    assert.equal(clock.pending, 0);
});

test("a stream that is given up ends its call", async () => {
    const { transport, clock } = scripted([{ body: Array(100).fill("x"), everyMs: 50 }]);
    const ended = [];
    const { body } = await clock.settle(transport.request({ path: "/", as: "stream" }));
    body.on("close", () => ended.push("close")).destroy();
    await clock.advance(100);
    assert.deepEqual(ended, ["close"]);
    assert.equal(clock.pending, 0);
});

test("close waits for what is under way, as long as it is told to", async () => {
    const { transport, clock } = scripted([{ afterMs: 100 }, "silent"]);
    const first = outcome(transport.request({ path: "/" }));
    const second = outcome(transport.request({ path: "/" }));
    const closed = transport.close({ graceMs: 1000 });
    assert.equal(await clock.settle(first), "done");
    assert.equal(await outcome(transport.request({ path: "/" })), "transport.closed");
    await clock.settle(closed);
    assert.equal(clock.nowMs(), 1000);
    assert.equal(await second, "transport.closed");

    const idle = scripted([{ afterMs: 100 }]);
    const only = outcome(idle.transport.request({ path: "/" }));
    await idle.clock.settle(idle.transport.close({ graceMs: 1000 }));
    assert.equal(idle.clock.nowMs(), 100, "no longer than that takes");
    assert.equal(await only, "done");
});

test("what a call began is told of its end, once", async () => {
    const ended = [];
    const watch = middleware({ name: "watch", scope: "call", reads: [call], onRequest: (context) => context.get(call).onEnd(() => ended.push("end")) });
    const { transport, clock } = scripted([{}, { fails: "connection.broken" }, { body: ["a", "b"], everyMs: 10 }], { middleware: [watch] });
    await transport.request({ path: "/" });
    assert.equal(ended.length, 1);
    await outcome(transport.request({ path: "/" }));
    assert.equal(ended.length, 2);
    const { body } = await clock.settle(transport.request({ path: "/", as: "stream" }));
    assert.equal(ended.length, 2, "a stream's call goes on");
    await clock.settle(Readable.prototype.toArray.call(body));
    await clock.advance(0);
    assert.equal(ended.length, 3);
});

test("on loopback, a body that drips is not delivered after its time, and its connection is closed", async (t) => {
    let isClosed;
    const closed = new Promise((resolve) => (isClosed = resolve));
    const { transport } = await served(t, (request, response) => {
        response.write("x");
        request.socket.on("close", isClosed);
    });
    await assert.rejects(transport.request({ path: "/", timeoutMs: 50 }), { code: "call.deadline" });
    await closed;
});

test("a listener that throws keeps nobody else from hearing of the end, and is not swallowed", async (t) => {
    const thrown = new Error("listener");
    const heard = [];
    const listen = middleware({
        name: "listen", scope: "call", reads: [call],
        onRequest(context) {
            const { signal } = context.get(call);
            signal.addEventListener("abort", () => { throw thrown; });
            signal.addEventListener("abort", () => heard.push("second"));
        },
    });
    const uncaught = new Promise((resolve) => process.once("uncaughtException", resolve));
    // The runner would take it for the test's own failure.
    const others = process.listeners("uncaughtException").slice(0, -1);
    for (const other of others) process.off("uncaughtException", other);
    t.after(() => others.forEach((other) => process.on("uncaughtException", other)));
    const { transport, clock } = scripted(["silent"], { middleware: [listen], timeoutMs: 10 });
    assert.equal(await clock.settle(outcome(transport.request({ path: "/" }))), "call.deadline");
    assert.deepEqual(heard, ["second"]);
    assert.equal(await uncaught, thrown);
});
