// A plug-in of the gateway is middleware: the same file, as it stands, in a transport. Its test in the gateway is `plugins.rs`.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { Transport } from "leat/transport";
import { body, counter, upstream } from "leat/gateway";
import { compile, middleware } from "leat/middleware";
import tenant from "./tenant.mjs";
import orders, { checked } from "./orders.mjs";

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
        for (const [as, read] of [["auto", String], ["text", String], ["bytes", (bytes) => Buffer.from(bytes).toString()]]) {
            const { status, body } = await transport.request({ path: "/a", as });
            assert.deepEqual([status, read(body)], [400, "no tenant"], as);
        }
        assert.equal(asked, 2, "it answered itself");
    } finally {
        await transport.close();
        server.close();
    }
});

test("a body in a patch is a text, bytes or nothing, as in the gateway", async () => {
    const server = createServer((request, response) => response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const nodes = `http://127.0.0.1:${server.address().port}`;
    try {
        for (const [patch, as, wanted] of [
            ['{"a":1}', "auto", { a: 1 }],
            ['{"a":1}', "text", '{"a":1}'],
            [Buffer.from("bytes"), "bytes", "bytes"],
            ["stream", "stream", "stream"],
            [null, "auto", undefined],
            [null, "text", ""],
        ]) {
            const transport = new Transport({ nodes, middleware: [middleware({ name: "put", scope: "call", onResponse: () => ({ body: patch }) })] });
            const { body } = await transport.request({ path: "/", as });
            const parts = [];
            if (as === "stream") for await (const part of body) parts.push(part);
            const read = as === "stream" ? Buffer.concat(parts).toString() : as === "bytes" ? Buffer.from(body).toString() : body;
            assert.deepEqual(read, wanted, `${String(patch)} as ${as}`);
            await transport.close();
        }
    } finally {
        server.close();
    }
});

test("the slot of the upstream has its name", () => {
    assert.equal(upstream.name, "upstream");
});

test("a plug-in that reads bodies and counts runs in a transport", async () => {
    const server = createServer(async (request, response) => {
        const parts = [];
        for await (const part of request) parts.push(part);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ got: JSON.parse(Buffer.concat(parts).toString()) }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, middleware: [orders] });
    try {
        const answer = await transport.request({ method: "POST", path: "/", body: { amount: 5 } });
        assert.deepEqual(answer.body, { got: { amount: 5, checked: true }, seen: true });
        assert.equal(checked.name, "checked");
    } finally {
        await transport.close();
        server.close();
    }
});

test("a body is read in every form that a message has it in", () => {
    const bytes = new TextEncoder().encode('{"ä":1}');
    for (const [given, text] of [[undefined, ""], [null, ""], ['{"ä":1}', '{"ä":1}'], [bytes, '{"ä":1}'], [Buffer.from(bytes), '{"ä":1}']]) {
        const found = body({ status: 200, headers: {}, body: given });
        assert.equal(found.text(), text);
        assert.deepEqual([...found.bytes()], text === "" ? [] : [...bytes]);
        if (text !== "") assert.deepEqual(found.json(), { ä: 1 });
        else assert.throws(() => found.json(), SyntaxError);
    }
    assert.equal(body({ status: 200, headers: {}, body: { kind: "once" } }), undefined, "a stream");
});

test("counters are looked at as in the gateway", () => {
    const by = counter("by_who", { labels: ["who"] });
    by.add(1, { who: "me" });
    for (const wrong of [() => by.add(), () => by.add(-1, { who: "me" }), () => by.add(1.5, { who: "me" }), () => by.add(1, { who: 1 }), () => counter("Big"), () => counter("a_total"), () => counter("a", { labels: ["b", "b"] }), () => counter("a", { labels: ["a", "b", "c", "d", "e"] })]) {
        assert.throws(wrong, TypeError);
    }
});

test("bodies are declared by their sides", () => {
    const hooks = { name: "it", scope: "call", onRequest() {} };
    assert.deepEqual(middleware({ ...hooks, bodies: "request" }).bodies, ["request"]);
    assert.deepEqual(middleware(hooks).bodies, []);
    assert.throws(() => middleware({ ...hooks, bodies: ["both"] }), { code: "plan.definition" });
});

test("a signal is made when it is first asked for", () => {
    let made = 0;
    const controller = new AbortController();
    const signals = (request) => (made++, assert.equal(request.path, "/"), controller.signal);
    const send = () => ({ status: 200, headers: {} });
    compile([middleware({ name: "it", scope: "call", onRequest() {} })], { signals }).run({ method: "GET", path: "/", headers: {} }, send);
    assert.equal(made, 0);
    const asking = compile([middleware({ name: "asks", scope: "call", onRequest: ({ signal }) => void [signal, controller.abort(new Error("over"))] }), middleware({ name: "inner", scope: "call", onRequest: ({ signal }) => void signal })], { signals });
    assert.throws(() => asking.run({ method: "GET", path: "/", headers: {} }, send), /over/);
    assert.equal(made, 1, "nothing further is entered");
});
