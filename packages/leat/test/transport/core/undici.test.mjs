// What only undici's connection has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Transport, undici } from "leat/transport";
import { MockAgent } from "undici";

test("a dispatcher of one's own is used, and left open", async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    agent.get("http://mock.test").intercept({ path: "/a" }).reply(200, { mocked: true }, { headers: { "content-type": "application/json" } });
    const transport = new Transport({ nodes: "http://mock.test", connection: undici({ dispatcher: agent }) });
    assert.deepEqual((await transport.request({ path: "/a" })).body, { mocked: true });
    await transport.close();
    agent.get("http://mock.test").intercept({ path: "/b" }).reply(204);
    assert.equal((await agent.request({ origin: "http://mock.test", path: "/b", method: "GET" })).statusCode, 204);
    await agent.close();
});
