// A plug-in of the gateway is middleware: the same file, as it stands, in a transport. Its test in the gateway is `plugins.rs`.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { Transport } from "leat/transport";
import { upstream } from "leat/gateway";
import tenant from "./tenant.mjs";

test("a plug-in's file runs in a transport", async () => {
    let asked = 0;
    const server = createServer((request, response) => {
        asked++;
        response.writeHead(200, { server: "up", "content-type": "text/plain" });
        response.end(`${request.headers["x-tenant"]} ${request.headers["x-path"]}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, middleware: tenant({ header: "x-who", canary: "Carol" }) });
    try {
        for (const [who, text] of [["Ada", "ada /a?b=1"], ["Carol", "carol /a?b=1"]]) {
            const { status, headers, body } = await transport.request({ path: "/a", querystring: { b: "1" }, headers: { "x-who": who } });
            assert.deepEqual([status, String(body), headers["x-answered"], headers["server"]], [200, text, "200", undefined]);
        }
        assert.equal(asked, 2);
        await assert.rejects(transport.request({ path: "/a" }), (error) => error.status === 400 || error.response?.status === 400 || /400/.test(String(error.message)));
        assert.equal(asked, 2, "it answered itself");
    } finally {
        await transport.close();
        server.close();
    }
});

test("the slot of the upstream has its name", () => {
    assert.equal(upstream.name, "upstream");
});
