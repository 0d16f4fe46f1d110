// What only undici's connection has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { Transport, undici } from "leat/transport";
import { MockAgent } from "undici";
import { bodyOf, served } from "./made.mjs";

const TRAILERS = ["X-Sum", "1", "x-two", "a", "x-two", "b", "__proto__", "c"];

/** A server's listener whose responses have trailers. */
function withTrailers(request, response) {
    response.writeHead(200, { trailer: "x-sum" });
    response.write("a");
    const pairs = Array.from({ length: TRAILERS.length / 2 }, (_, at) => TRAILERS.slice(at * 2, at * 2 + 2));
    response.addTrailers(pairs);
    response.end();
}

test("trailers are handed out with the body, of a stream at its end, and through patches", async (t) => {
    const patching = middleware({ name: "patching", scope: "call", onResponse: () => ({ headers: { "x-patched": "1" } }) });
    const { transport } = await served(t, withTrailers, { middleware: [patching] });
    const { body, headers, trailers } = await transport.request({ path: "/", as: "text" });
    assert.deepEqual([body, headers["x-patched"], trailers["x-sum"], trailers["x-two"]], ["a", "1", "1", ["a", "b"]]);
    assert.equal(Object.getPrototypeOf(trailers), Object.prototype);
    const streamed = await transport.request({ path: "/", as: "stream" });
    assert.equal(String(await bodyOf(streamed.body)), "a");
    assert.equal(streamed.trailers["x-sum"], "1");
});

test("most responses have no trailers", async (t) => {
    const { transport } = await served(t, (request, response) => response.end("a"));
    assert.deepEqual((await transport.request({ path: "/" })).trailers, {});
});

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
