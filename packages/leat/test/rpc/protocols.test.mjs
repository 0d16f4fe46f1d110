// The same implementations for every protocol, by clients that others wrote: what differs is the engine's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Note, Notes } from "./schema.mjs";
import { serve } from "./service.mjs";

const transports = {
    "Connect, HTTP/1.1": (baseUrl, more) => createConnectTransport({ baseUrl, httpVersion: "1.1", ...more }),
    "Connect, HTTP/2": (baseUrl, more) => createConnectTransport({ baseUrl, httpVersion: "2", ...more }),
    "Connect by GET": (baseUrl, more) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true, ...more }),
    "gRPC-Web, HTTP/1.1": (baseUrl, more) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", ...more }),
    "gRPC-Web, HTTP/2": (baseUrl, more) => createGrpcWebTransport({ baseUrl, httpVersion: "2", ...more }),
    "gRPC": (baseUrl, more) => createGrpcTransport({ baseUrl, ...more }),
};

async function all(iterable) {
    const found = [];
    for await (const each of iterable) found.push(each);
    return found;
}

for (const [name, transport] of Object.entries(transports)) {
    for (const useBinaryFormat of [true, false]) {
        const form = `${name}, ${useBinaryFormat ? "binary" : "JSON"}`;

        test(`${form}: messages, metadata, errors`, async (t) => {
            const notes = createClient(Notes, transport(await serve(t), { useBinaryFormat }));
            let header, trailer;
            const reply = await notes.say({ text: "hi", id: 7n, data: new Uint8Array([0, 255]), tags: ["a", "b"] }, {
                headers: { "x-ask": "1" }, onHeader: (headers) => { header = headers; }, onTrailer: (headers) => { trailer = headers; },
            });
            assert.deepEqual([reply.text, reply.id, [...reply.data], reply.tags], ["hi", 7n, [0, 255], ["a", "b"]]);
            assert.equal(header.get("x-head"), "1");
            assert.equal(trailer.get("x-trail"), "end");
            const error = await notes.say({ text: "refuse" }).then(assert.fail, ConnectError.from);
            assert.deepEqual([error.code, error.rawMessage, error.metadata.get("x-why")], [Code.PermissionDenied, "no, grüße 100 %", "rule"]);
            assert.deepEqual(error.findDetails(Note).map(({ text }) => text), ["detail"]);
            assert.match((await notes.say({ text: "protocol" })).text, name.includes("GET") ? /^connect GET / : new RegExp(`^${/^[\w-]+/.exec(name)[0].toLowerCase()} POST `));
        });

        test(`${form}: streams of replies`, async (t) => {
            const notes = createClient(Notes, transport(await serve(t), { useBinaryFormat }));
            let trailer;
            const replies = await all(notes.count({ id: 5n }, { onTrailer: (headers) => { trailer = headers; } }));
            assert.deepEqual(replies.map(({ id }) => id), [0n, 1n, 2n, 3n, 4n]);
            assert.equal(trailer.get("x-trail"), "counted");
            await assert.rejects(all(notes.count({ id: 5n, text: "break" })), (error) => error.code === Code.Aborted);
        });

        test(`${form}: compressed both ways`, async (t) => {
            const compression = { sendCompression: compressionGzip, acceptCompression: [compressionGzip, compressionBrotli], compressMinBytes: 0 };
            const notes = createClient(Notes, transport(await serve(t), { useBinaryFormat, ...compression }));
            const text = "x".repeat(100_000);
            assert.equal((await notes.say({ text })).text, text);
        });

        test(`${form}: a deadline`, async (t) => {
            const notes = createClient(Notes, transport(await serve(t), { useBinaryFormat }));
            await assert.rejects(notes.say({ text: "slow" }, { timeoutMs: 50 }), (error) => error.code === Code.DeadlineExceeded);
        });

        if (!name.includes("1.1") && !name.includes("GET")) {
            test(`${form}: streams of requests, and both`, async (t) => {
                const notes = createClient(Notes, transport(await serve(t), { useBinaryFormat }));
                const { text } = await notes.join((async function* () { yield { text: "a" }; yield { text: "b" }; })());
                assert.equal(text, "a b");
                assert.deepEqual((await all(notes.talk((async function* () { yield { text: "a" }; })()))).map((note) => note.text), ["re: a"]);
            });
        }
    }
}

test("a path that is no method's is each protocol's unimplemented", async (t) => {
    const baseUrl = await serve(t);
    const grpcError = await fetch(`${baseUrl}/leat.test.Notes/Nothing`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    assert.equal(grpcError.status, 404);
});

test("other requests are the fallback's", async (t) => {
    const baseUrl = await serve(t, { fallback: (request, response) => response.end(`page ${request.url}`) });
    assert.equal(await (await fetch(`${baseUrl}/about`)).text(), "page /about");
});
