// The example does what its README says, in every protocol.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { started } from "../../node-http/test/started.mjs";

const options = { timeout: 60_000 };
const folder = fileURLToPath(new URL("..", import.meta.url));
const installed = fileURLToPath(new URL("../../../packages/leat/node_modules", import.meta.url));
const require = createRequire(new URL("../../../packages/leat/package.json", import.meta.url));

const post = async (url, body) => {
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    return [response.status, await response.json()];
};

test("rooms: REST, Connect, and a listener by gRPC", options, async (t) => {
    const { base, said } = await started(t, folder, [installed]);
    const { createClient } = require("@connectrpc/connect");
    const { createGrpcTransport } = require("@connectrpc/connect-node");
    const { createFileRegistry, fromBinary } = require("@bufbuild/protobuf");
    const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");
    const { descriptors } = require(fileURLToPath(new URL("../../../packages/leat/dist/native/descriptors.js", import.meta.url)));

    assert.deepEqual(await post(`${base}/chat.v1.Rooms/Last`, { room: "hall" }), [404, { code: "not_found", message: "nobody has said anything in hall" }]);
    assert.deepEqual(await post(`${base}/rooms/hall`, { who: "Ada", text: "good morning" }), [200, {}]);
    assert.deepEqual(await (await fetch(`${base}/rooms/hall/last`)).json(), { room: "hall", who: "Ada", text: "good morning" });

    const Rooms = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors([`${folder}/chat.proto`], []))).getService("chat.v1.Rooms");
    const rooms = createClient(Rooms, createGrpcTransport({ baseUrl: base }));
    const heard = rooms.listen({ room: "hall" })[Symbol.asyncIterator]();
    const first = heard.next();
    // Nobody knows when a listener is in but the room.
    while ((await post(`${base}/rooms/hall`, { who: "Bo", text: "is anybody there?" }))[1].listeners !== 1);
    assert.equal((await first).value.who, "Bo");
    await heard.return?.();
    assert.deepEqual(said, []);
});
