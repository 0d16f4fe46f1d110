import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { ScriptedConnection, VirtualClock } from "../../../dist/transport/kit/index.js";

/** A connection with its clock, and `send` with what a transport would fill in. */
function scripted(script) {
    const clock = new VirtualClock();
    const connection = new ScriptedConnection({ clock, script });
    const controller = new AbortController();
    const send = (more = {}) => connection.send({ origin: "http://a", method: "GET", path: "/", headers: {}, body: undefined, signal: controller.signal, asStream: false, rawBytesMax: 1000, ...more });
    return { clock, connection, controller, send };
}
const text = (response) => Buffer.from(response.body).toString();

test("an answer without a delay is there at once, without a promise", () => {
    const { send } = scripted([{ status: 201, headers: { a: "b" }, body: "fine" }]);
    const response = send();
    assert.equal(response.status, 201);
    assert.deepEqual(response.headers, { a: "b" });
    assert.equal(text(response), "fine");
});

test("it remembers what it was sent, streams too", async () => {
    const { connection, send, clock } = scripted(() => ({}));
    send({ method: "POST", path: "/x?y", headers: { b: "c" }, body: "text" });
    await clock.advance(5);
    await send({ body: (async function* () {
        yield Buffer.from("in ");
        yield Buffer.from("pieces");
    })() });
    const told = connection.exchanges.map(({ number, method, path, body, atMs }) => ({ number, method, path, body: String(body), atMs }));
    assert.deepEqual(told, [{ number: 0, method: "POST", path: "/x?y", body: "text", atMs: 0 }, { number: 1, method: "GET", path: "/", body: "in pieces", atMs: 5 }]);
});

test("delays and dripping bodies take their time", async () => {
    const { clock, send } = scripted([{ body: "a", afterMs: 50 }, { body: ["a", "b", "c"], afterMs: 10, everyMs: 100 }]);
    await clock.settle(send());
    assert.equal(clock.nowMs(), 50);
    assert.equal(text(await clock.settle(send())), "abc");
    assert.equal(clock.nowMs(), 360);
});

test("a stream comes piece by piece", async () => {
    const { clock, send } = scripted([{ body: ["a", "b"], everyMs: 100 }]);
    const times = [];
    const { body } = send({ asStream: true });
    await clock.settle((async () => {
        for await (const piece of body) times.push(`${piece} ${clock.nowMs()}`);
    })());
    assert.deepEqual(times, ["a 100", "b 200"]);
});

for (const fails of ["connection.failed", "connection.not_processed", "connection.broken", "connection.timeout", "connection.protocol"]) {
    test(`it fails as ${fails}, at once and later`, async () => {
        const { clock, send } = scripted([{ fails }, { fails, afterMs: 30 }]);
        assert.throws(() => send(), { code: fails });
        await assert.rejects(clock.settle(send()), { code: fails });
        assert.equal(clock.nowMs(), 30);
    });
}

test("a body breaks where the script says", async () => {
    const { clock, send } = scripted([{ body: ["a", "b"], breaksAfter: 1 }, { body: ["a", "b"], breaksAfter: 1, everyMs: 1 }, { body: ["a", "b"], breaksAfter: 2 }, { body: ["a", "b"], breaksAfter: 1 }]);
    assert.throws(() => send(), { code: "connection.broken" });
    await assert.rejects(clock.settle(send()), { code: "connection.broken" });
    assert.throws(() => send(), { code: "connection.broken" });
    const pieces = [];
    await assert.rejects(clock.settle((async () => {
        for await (const piece of send({ asStream: true }).body) pieces.push(String(piece));
    })()), { code: "connection.broken" });
    assert.deepEqual(pieces, ["a"]);
});

test("a body over the limit is refused, also in pieces", async () => {
    const { clock, send } = scripted(() => ({ body: ["1234", "5678"] }));
    assert.throws(() => send({ rawBytesMax: 7 }), { code: "response.limit", limit: "rawBytesMax" });
    assert.equal(text(send({ rawBytesMax: 8 })), "12345678");
    const { body } = send({ rawBytesMax: 7, asStream: true });
    await assert.rejects(clock.settle(body.toArray()), { code: "response.limit" });
});

test("the signal ends a try wherever it is, and nothing of it is left", async () => {
    for (const step of ["silent", { afterMs: 10 }, { body: ["a", "b"], everyMs: 10 }, { fails: "connection.failed", afterMs: 10 }]) {
        const { clock, connection, controller, send } = scripted([step]);
        const reason = new Error("enough");
        const sent = send();
        assert.equal(connection.open, 1);
        controller.abort(reason);
        await assert.rejects(sent, (error) => error === reason);
        assert.equal(connection.open, 0);
        assert.equal(clock.pending, 0);
        assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    }
});

test("a try whose signal has aborted is not sent", () => {
    const { connection, controller, send } = scripted([{}]);
    controller.abort(new Error("early"));
    assert.throws(() => send(), { message: "early" });
    assert.equal(connection.exchanges.length, 0);
});

test("to close it breaks what is under way", async () => {
    const { connection, send } = scripted(["silent"]);
    const sent = send();
    await connection.close();
    await assert.rejects(sent, { code: "connection.broken" });
});

test("more tries than the script has are the test's mistake", () => {
    const { send } = scripted([{}]);
    send();
    assert.throws(() => send(), { message: "the script has 1 steps, and this is try 2" });
});
