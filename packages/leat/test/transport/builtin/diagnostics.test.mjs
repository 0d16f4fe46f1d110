// The middleware `diagnostics`.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { test } from "node:test";
import { failure, load, setup } from "./setup.mjs";

const { diagnostics } = load("builtin/diagnostics");
const { redaction } = load("builtin/redaction");
const { retry } = load("builtin/retry");
const NAMES = ["call.start", "call.end", "attempt.start", "attempt.end"];

/** All that is published until the test is over. */
function listening(t, names = NAMES) {
    const heard = [];
    for (const name of names) {
        const hear = (message) => heard.push([name, message]);
        subscribe(`leat.transport.${name}`, hear);
        t.after(() => unsubscribe(`leat.transport.${name}`, hear));
    }
    return heard;
}

test("a call and each of its tries are told of, in order", async (t) => {
    const heard = listening(t);
    const { request } = setup([redaction(), ...diagnostics(), retry()], [{ status: 503, afterMs: 5 }, { fails: "connection.broken" }, { afterMs: 10 }]);
    await request({ path: "/a?token=hunter2", route: "/a" });
    const [{ id }] = heard.map(([, message]) => message);
    const path = "/a?token=[secret]";
    const node = "http://a.test";
    const attempt = (number) => ({ id, number, method: "GET", path });
    const attempts = [
        { number: 1, node, status: 503, code: undefined, reason: "503", tookMs: 5 },
        { number: 2, node, status: undefined, code: "connection.broken", reason: heard.at(-1)[1].attempts[1].reason, tookMs: 0 },
        { number: 3, node, status: 200, code: undefined, reason: "200", tookMs: 10 },
    ];
    assert.deepEqual(heard, [
        ["call.start", { id, method: "GET", path, route: "/a" }],
        ["attempt.start", attempt(1)],
        ["attempt.end", { ...attempt(1), node, status: 503, code: undefined }],
        ["attempt.start", attempt(2)],
        ["attempt.end", { ...attempt(2), node, status: undefined, code: "connection.broken" }],
        ["attempt.start", attempt(3)],
        ["attempt.end", { ...attempt(3), node, status: 200, code: undefined }],
        ["call.end", { id, method: "GET", path, route: "/a", status: 200, code: undefined, attempts, tookMs: 165 }],
    ]);
    assert.ok(!JSON.stringify(heard).includes("hunter2"));
});

test("a call that fails or is ended from outside is told of with its code, once", async (t) => {
    const heard = listening(t, ["call.end"]);
    for (const [script, options, code] of [
        [[{ fails: "connection.failed" }], {}, "connection.failed"],
        [["silent"], { timeoutMs: 50 }, "call.deadline"],
        [["silent"], { signal: AbortSignal.abort() }, "call.aborted"],
    ]) {
        heard.length = 0;
        const { request } = setup([...diagnostics()], script);
        await failure(request(options));
        assert.deepEqual(heard.map(([, message]) => message.code), options.signal ? [] : [code]);
    }
});

test("the end of a call with a stream is that of the stream", async (t) => {
    const heard = listening(t, ["call.end"]);
    const { request, clock } = setup([...diagnostics()], [{ body: ["a", "b"], everyMs: 10 }]);
    const { body } = await request({ as: "stream" });
    assert.equal(heard.length, 0);
    await clock.settle(body.toArray());
    await clock.advance(0);
    assert.deepEqual(heard.map(([, { status, tookMs }]) => [status, tookMs]), [[200, 20]]);
});

test("calls have ids of their own", async (t) => {
    const heard = listening(t, ["call.start"]);
    const { request } = setup([...diagnostics()], () => ({}));
    await request();
    await request();
    assert.notEqual(heard[0][1].id, heard[1][1].id);
});

test("a subscriber that comes during a call hears of the next one", async (t) => {
    const { transport, clock } = setup([...diagnostics()], () => ({ afterMs: 10 }));
    const first = transport.request({ path: "/" });
    await clock.waiting(1);
    const heard = listening(t);
    await clock.settle(first);
    assert.equal(heard.length, 0);
    await clock.settle(transport.request({ path: "/" }));
    assert.equal(heard.length, 4);
});
