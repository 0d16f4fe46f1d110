// A second node for calls whose first is slow, and nodes that are put aside for their answers.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { scripted } from "./made.mjs";

const A = "http://a.test:1";
const B = "http://b.test:2";
const nameOf = (origin) => /\w/.exec(origin.slice(7))[0];
const outcome = (promise) => promise.then(({ status }) => status, (error) => error.code);

/** Two nodes in turns; each try by the letter of its node. */
function hedged(script, options = {}, hedge = { afterMs: 100, ratioMax: 1 }) {
    return scripted(({ origin, number }) => script[nameOf(origin)] ?? script[number], { nodes: [A, B], balance: { hedge }, ...options });
}

const sentTo = ({ sent }) => sent.map(({ origin, atMs }) => `${nameOf(origin)}${atMs}`).join(" ");

test("the first answer is taken, and the other try is given up at once", async () => {
    const made = hedged({ a: "silent", b: { status: 201, afterMs: 20 } });
    const { status, attempts } = await made.clock.settle(made.transport.request({ path: "/" }));
    assert.equal(status, 201);
    assert.equal(sentTo(made), "a0 b100");
    assert.equal(made.clock.nowMs(), 120);
    assert.equal(made.connection.open, 0);
    assert.equal(made.clock.pending, 0);
    await made.clock.advance(0);
    assert.deepEqual(attempts.map(({ node, code }) => [nameOf(node), code]), [["b", undefined], ["a", "hedge.lost"]]);
    assert.deepEqual(made.transport.nodes().map(({ state, inFlight, failures }) => [state, inFlight, failures]), [["alive", 0, 0], ["alive", 0, 0]], "which is nobody's failure");
});

const ALONE = [
    ["the first answers in time", { a: { afterMs: 99 }, b: {} }, { path: "/" }, 200],
    ["the first fails in time", { a: { fails: "connection.broken", afterMs: 50 }, b: {} }, { path: "/" }, "connection.broken"],
    ["a method that is not idempotent", { a: { afterMs: 500 }, b: {} }, { method: "POST", path: "/", body: {} }, 200],
    ["a call that says so", { a: { afterMs: 500 }, b: {} }, { path: "/", idempotent: false }, 200],
    ["a body that can be sent once", { a: { afterMs: 500 }, b: {} }, { method: "PUT", path: "/", body: Readable.from(["a"]) }, 200],
];

for (const [name, script, request, expected] of ALONE) {
    test(`one try alone: ${name}`, async () => {
        const made = hedged(script);
        assert.equal(await made.clock.settle(outcome(made.transport.request(request))), expected);
        assert.equal(made.sent.length, 1);
        assert.equal(made.clock.pending, 0);
    });
}

test("a POST that says that a second time does no harm is sent to a second node", async () => {
    const made = hedged({ a: "silent", b: {} });
    await made.clock.settle(made.transport.request({ method: "POST", path: "/", body: { a: 1 }, idempotent: true }));
    assert.deepEqual(made.sent.map(({ body }) => String(body)), ['{"a":1}', '{"a":1}']);
});

test("where one of two fails, the other is waited for; where both do, the first failure is told", async () => {
    const one = hedged({ a: { fails: "connection.broken", afterMs: 150 }, b: { afterMs: 200 } });
    assert.equal(await one.clock.settle(outcome(one.transport.request({ path: "/" }))), 200);
    const both = hedged({ a: { fails: "connection.broken", afterMs: 150 }, b: { fails: "connection.timeout", afterMs: 200 } });
    assert.equal(await both.clock.settle(outcome(both.transport.request({ path: "/" }))), "connection.broken");
    assert.equal(both.clock.pending, 0);
});

test("a call that ends takes both tries with it", async () => {
    const made = hedged({ a: "silent", b: "silent" }, { timeoutMs: 300 });
    assert.equal(await made.clock.settle(outcome(made.transport.request({ path: "/" }))), "call.deadline");
    assert.equal(sentTo(made), "a0 b100");
    assert.equal(made.connection.open, 0);
    assert.equal(made.clock.pending, 0);
});

test("a stream is the first one's whose head comes", async () => {
    const made = hedged({ a: { afterMs: 1000, body: "a" }, b: { body: ["b", "b"], everyMs: 10 } });
    const { body } = await made.clock.settle(made.transport.request({ path: "/", as: "stream" }));
    assert.equal(String(Buffer.concat(await made.clock.settle(body.toArray()))), "bb");
    await made.clock.advance(0);
    assert.equal(made.clock.pending, 0);
});

test("with one node, or while the other is dead, nothing is sent twice", async () => {
    const alone = scripted([{ afterMs: 500 }], { nodes: [A], balance: { hedge: { afterMs: 100 } } });
    await alone.clock.settle(alone.transport.request({ path: "/" }));
    assert.equal(alone.sent.length, 1);
    const made = hedged({ a: { fails: "connection.failed" }, b: { afterMs: 500 } });
    await made.clock.settle(outcome(made.transport.request({ path: "/" })));
    await made.clock.settle(made.transport.request({ path: "/" }));
    assert.equal(sentTo(made), "a0 b0");
});

test("second tries are a part of the calls, whatever is slow", async () => {
    const made = hedged({ a: { afterMs: 300 }, b: { afterMs: 300 } }, {}, { afterMs: 100, ratioMax: 0.1 });
    for (let at = 0; at < 100; at++) await made.clock.settle(made.transport.request({ path: "/" }));
    // Ten are saved up, and a tenth of a hundred come in.
    assert.ok(made.sent.length >= 118 && made.sent.length <= 120, `${made.sent.length}`);
});

test("a node that answers with errors in a row is put aside for its time, others are not", async () => {
    const script = ({ origin }) => ({ status: nameOf(origin) === "a" ? 503 : 200 });
    const made = scripted(script, { nodes: [A, B], balance: { ejection: { failuresMax: 3, ejectionMs: 1000 } } });
    const walk = async (count) => {
        const from = made.sent.length;
        for (let at = 0; at < count; at++) await made.clock.settle(made.transport.request({ path: "/" }));
        return made.sent.slice(from).map(({ origin }) => nameOf(origin)).join("");
    };
    assert.equal(await walk(9), "ababa" + "bbbb");
    assert.deepEqual(made.transport.nodes().map(({ state }) => state), ["ejected", "alive"]);
    await made.clock.advance(1000);
    assert.equal(made.transport.nodes()[0].state, "alive");
    assert.match(await walk(8), /^b?ababab*$/, "three more answers put it aside again");
    await made.clock.advance(1000);
    assert.equal(made.transport.nodes()[0].state, "ejected", "for twice as long");
});

test("no more nodes are put aside than a part of all", async () => {
    const made = scripted(() => ({ status: 500 }), { nodes: [A, B], balance: { ejection: { failuresMax: 1 } } });
    for (let at = 0; at < 6; at++) await made.clock.settle(made.transport.request({ path: "/" }));
    assert.deepEqual(made.transport.nodes().map(({ state }) => state), ["ejected", "alive"]);
});

test("other nodes are compared anew, the same ones are not", async () => {
    const made = scripted(() => ({ status: 500 }), { nodes: [A, B], balance: { ejection: { failuresMax: 1 } } });
    await made.clock.settle(made.transport.request({ path: "/" }));
    made.transport.setNodes([B, A]);
    assert.deepEqual(made.transport.nodes().map(({ state }) => state), ["alive", "ejected"]);
    made.transport.setNodes([A, B, "http://c.test:3"]);
    assert.deepEqual(made.transport.nodes().map(({ state }) => state), ["alive", "alive", "alive"]);
});

test("retry goes on where hedging gave up", async () => {
    const again = middleware({
        name: "again", scope: "call", repeats: true,
        around: async (_context, next) => {
            try {
                return await next();
            } catch {
                return next();
            }
        },
    });
    const made = scripted([{ fails: "connection.broken", afterMs: 150 }, { fails: "connection.broken", afterMs: 100 }, { status: 202 }], { nodes: [A, B], balance: { hedge: { afterMs: 100 } }, middleware: [again] });
    const { status, attempts } = await made.clock.settle(made.transport.request({ path: "/" }));
    assert.deepEqual([status, attempts.length], [202, 3]);
    assert.equal(made.clock.pending, 0);
});
