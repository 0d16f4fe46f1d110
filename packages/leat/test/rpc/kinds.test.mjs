// Every kind of call, by connect's own clients: gRPC on HTTP/2.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:http2";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Note, Notes } from "./schema.mjs";
import { seen, serve } from "./service.mjs";

const client = (baseUrl, options) => createClient(Notes, createGrpcTransport({ baseUrl, ...options }));
const code = (expected) => (error) => ConnectError.from(error).code === expected;

async function all(iterable) {
    const found = [];
    for await (const each of iterable) found.push(each);
    return found;
}

test("unary: message, metadata both ways", async (t) => {
    const notes = client(await serve(t));
    let header, trailer;
    const { $typeName, ...reply } = await notes.say({ text: "hi", id: 7n, data: new Uint8Array([0, 255]), tags: ["a", "b"] }, {
        headers: { "x-ask": "1" }, onHeader: (headers) => { header = headers; }, onTrailer: (headers) => { trailer = headers; },
    });
    assert.equal($typeName, "leat.test.Note");
    assert.deepEqual({ ...reply, data: [...reply.data] }, { text: "hi", id: 7n, data: [0, 255], tags: ["a", "b"] });
    assert.equal(header.get("x-head"), "1");
    assert.equal(trailer.get("x-trail"), "end");
});

test("an error keeps code, message, metadata and details", async (t) => {
    const error = await client(await serve(t)).say({ text: "refuse" }).then(assert.fail, ConnectError.from);
    assert.equal(error.code, Code.PermissionDenied);
    assert.equal(error.rawMessage, "no, grüße 100 %");
    assert.equal(error.metadata.get("x-why"), "rule");
    assert.deepEqual(error.findDetails(Note).map(({ text }) => text), ["detail"]);
});

test("of another error than a ConnectError nothing is told", async (t) => {
    const error = await client(await serve(t)).say({ text: "bug" }).then(assert.fail, ConnectError.from);
    assert.equal(error.code, Code.Internal);
    assert.ok(!error.message.includes("secret"));
});

test("a method that is not implemented, and one that is not there", async (t) => {
    await assert.rejects(client(await serve(t)).missing({}), code(Code.Unimplemented));
});

test("a stream of replies, with its trailers", async (t) => {
    let trailer;
    const replies = await all(client(await serve(t)).count({ id: 5n }, { onTrailer: (headers) => { trailer = headers; } }));
    assert.deepEqual(replies.map(({ id }) => id), [0n, 1n, 2n, 3n, 4n]);
    assert.equal(trailer.get("x-trail"), "counted");
});

test("a stream that breaks off has what came before", async (t) => {
    const found = [];
    await assert.rejects(async () => {
        for await (const { id } of client(await serve(t)).count({ id: 5n, text: "break" })) found.push(id);
    }, code(Code.Aborted));
    assert.deepEqual(found, [0n, 1n]);
});

test("a stream of requests", async (t) => {
    const { text, id } = await client(await serve(t)).join((async function* () { yield { text: "a" }; yield { text: "b" }; })());
    assert.deepEqual([text, id], ["a b", 2n]);
});

test("both at once, one by one", async (t) => {
    const asked = [];
    let wake;
    const replies = client(await serve(t)).talk((async function* () {
        for (const text of ["a", "b", "c"]) {
            asked.push(text);
            yield { text };
            await new Promise((resolve) => { wake = resolve; });
        }
    })());
    const found = [];
    for await (const { text } of replies) {
        found.push([text, asked.length]);
        wake();
    }
    assert.deepEqual(found, [["re: a", 1], ["re: b", 2], ["re: c", 3]]);
});

test("replies wait for a client that does not read", async (t) => {
    // Replies are compressed where that helps, and what waits is counted as it is sent.
    const data = randomBytes(64 * 1024);
    const replies = client(await serve(t)).count({ id: 10_000n, data })[Symbol.asyncIterator]();
    await replies.next();
    let before = -1;
    while (seen.asked !== before) {
        before = seen.asked;
        await pause(100);
    }
    assert.ok(before < 100, `${before} of 10,000 replies were made ahead`);
    await replies.return?.();
});

test("a deadline ends the call at both ends", async (t) => {
    const notes = client(await serve(t));
    seen.aborted.length = 0;
    await assert.rejects(notes.say({ text: "slow" }, { timeoutMs: 50 }), code(Code.DeadlineExceeded));
    while (seen.aborted.length === 0) await pause(5);
    assert.ok([Code.DeadlineExceeded, Code.Canceled].includes(seen.aborted[0].code), String(seen.aborted[0]));
});

test("a client that leaves aborts the implementation", async (t) => {
    const notes = client(await serve(t));
    seen.aborted.length = 0;
    const controller = new AbortController();
    const call = notes.say({ text: "slow" }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(call, code(Code.Canceled));
    while (seen.aborted.length === 0) await pause(5);
    assert.equal(seen.aborted[0].code, Code.Canceled);
});

test("messages have limits in both directions", async (t) => {
    const notes = client(await serve(t, { readMaxBytes: 1000, writeMaxBytes: 500 }));
    await assert.rejects(notes.say({ data: new Uint8Array(2000) }), code(Code.ResourceExhausted));
    await assert.rejects(notes.say({ data: new Uint8Array(700) }), code(Code.ResourceExhausted));
    assert.equal((await notes.say({ data: new Uint8Array(400) })).data.length, 400);
});

test("interceptors stand around calls of every kind", async (t) => {
    const order = [];
    const named = (name) => (next) => async (request) => {
        order.push(`${name} ${request.method.name}`);
        const response = await next(request);
        response.header.set(`x-${name}`, "1");
        return response;
    };
    const notes = client(await serve(t, { interceptors: [named("a"), named("b")] }));
    let header;
    await notes.say({ text: "x" }, { onHeader: (headers) => { header = headers; } });
    assert.deepEqual([header.get("x-a"), header.get("x-b")], ["1", "1"]);
    assert.equal((await all(notes.count({ id: 2n }))).length, 2);
    assert.deepEqual(order, ["a Say", "b Say", "a Count", "b Count"]);
});

const leaving = {
    async join(notes) {
        for await (const note of notes) {
            if (note.text === "stop") return { text: "enough" };
            if (note.text === "bad") throw new ConnectError("no such note", Code.InvalidArgument);
        }
        return {};
    },
    async* talk(notes) {
        for await (const note of notes) {
            yield note;
            if (note.text === "stop") return;
        }
    },
};

for (const [name, transport] of [["gRPC", createGrpcTransport], ["Connect", createConnectTransport]]) {
    test(`an implementation that leaves a stream of requests early answers a client that has not ended (${name})`, { timeout: 20_000 }, async (t) => {
        const baseUrl = await serve(t, { routes: (router) => router.service(Notes, leaving) });
        const notes = createClient(Notes, transport({ baseUrl, httpVersion: "2" }));
        const open = (text) => (async function* () {
            yield { text };
            await new Promise(() => {});
        })();
        assert.equal((await notes.join(open("stop"))).text, "enough");
        await assert.rejects(notes.join(open("bad")), code(Code.InvalidArgument));
        assert.deepEqual((await all(notes.talk(open("stop")))).map(({ text }) => text), ["stop"]);
    });
}

test("requests that a deadline cuts off do not look like all of them", { timeout: 20_000 }, async (t) => {
    let ended;
    const why = new Promise((resolve) => { ended = resolve; });
    const counting = {
        async join(notes) {
            try {
                for await (const note of notes) assert.equal(note.text, "one");
                ended("all");
            } catch (error) {
                ended(error);
            }
            return {};
        },
    };
    // A client that keeps no deadline itself: those of connect end their side of the stream with the call.
    const session = connect(await serve(t, { routes: (router) => router.service(Notes, counting) }));
    t.after(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": "/leat.test.Notes/Join", "content-type": "application/grpc", te: "trailers", "grpc-timeout": "100m" });
    stream.resume().write(Buffer.from([0, 0, 0, 0, 5, 10, 3, ...Buffer.from("one")]));
    const [trailers] = await once(stream, "trailers");
    assert.equal(trailers["grpc-status"], String(Code.DeadlineExceeded));
    assert.ok(await why instanceof Error, "an iteration that ended as if the client had");
});

test("what a reply waits for need not be a promise of this realm", async (t) => {
    const query = { then: (done) => { setTimeout(done, 1, { text: "from a query" }); } };
    const notes = client(await serve(t, { routes: (router) => router.service(Notes, { say: () => query }) }));
    assert.equal((await notes.say({})).text, "from a query");
});

test("a service's own limit may be above the server's", async (t) => {
    const notes = client(await serve(t, { routes: (router) => router.service(Notes, { say: ({ data }) => ({ id: BigInt(data.length) }) }, { readMaxBytes: 16 * 1024 * 1024 }) }));
    assert.equal((await notes.say({ data: new Uint8Array(6 * 1024 * 1024) })).id, 6n * 1024n * 1024n);
});
