// A router of @connectrpc/connect runs on leat/http by connect's own adapter, its protocols in JavaScript.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createServer } from "leat/http";
import { Notes } from "./schema.mjs";
import { implementation } from "./service.mjs";

for (const [name, transport] of [["Connect", createConnectTransport], ["gRPC-Web", createGrpcWebTransport]]) {
    test(`connect's adapter on leat/http: ${name}`, async (t) => {
        const server = createServer(connectNodeAdapter({ routes: (router) => router.service(Notes, implementation) })).listen(0, "127.0.0.1");
        await once(server, "listening");
        t.after(() => { server.close(); server.closeAllConnections(); });
        const notes = createClient(Notes, transport({ baseUrl: `http://127.0.0.1:${server.address().port}`, httpVersion: "1.1" }));
        assert.equal((await notes.say({ text: "hi" })).text, "hi");
        const found = [];
        for await (const { id } of notes.count({ id: 3n })) found.push(id);
        assert.deepEqual(found, [0n, 1n, 2n]);
    });
}
