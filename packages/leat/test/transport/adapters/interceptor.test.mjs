// Middleware as an interceptor of undici's: `request`, `stream` and `fetch` of undici's on a composed dispatcher.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { auth, compression, interceptor, retry } from "leat/transport";
import { Agent, fetch, request, stream } from "undici";
import { json, origin } from "../faults/origin.mjs";

function composed(t, middleware, options) {
    const agent = new Agent();
    t.after(() => agent.destroy());
    return agent.compose(interceptor(middleware, options));
}
const echo = ({ method, path, headers, body, reply }) => json(reply, 200, { method, path, own: headers["x-own"], type: headers["content-type"], authorization: headers.authorization, body });

test("requests go through the middleware, in whatever form their headers come", async (t) => {
    const { url } = await origin(t, echo);
    const dispatcher = composed(t, [auth({ bearer: "token-1" })]);
    const forms = [{ "X-Own": "1" }, ["X-Own", "1"], [["x-own", "1"]], new Map([["x-own", "1"]]), { "x-own": "1", connection: "keep-alive" }];
    for (const headers of forms) {
        const { statusCode, body } = await request(`${url}/a`, { dispatcher, headers, query: { b: "c" } });
        assert.equal(statusCode, 200);
        assert.deepEqual(await body.json(), { method: "GET", path: "/a?b=c", own: "1", authorization: "Bearer token-1", body: "" });
    }
});

test("bodies are sent as they are", async (t) => {
    const { url } = await origin(t, echo);
    const dispatcher = composed(t, []);
    for (const body of ["text", Buffer.from("text"), new Uint8Array(Buffer.from("text")), Readable.from([Buffer.from("te"), Buffer.from("xt")])]) {
        const answer = await (await request(url, { dispatcher, method: "PUT", body })).body.json();
        assert.deepEqual(answer, { method: "PUT", path: "/", body: "text" });
    }
});

test("fetch takes it as its dispatcher", async (t) => {
    const { url } = await origin(t, ({ path, reply, ...more }) => (path === "/gzip" ? reply.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked")) : echo({ path, reply, ...more })));
    const dispatcher = composed(t, [retry(), compression()]);
    assert.equal((await (await fetch(`${url}/f`, { dispatcher, method: "POST", body: "text" })).json()).body, "text");
    assert.equal(await (await fetch(`${url}/gzip`, { dispatcher })).text(), "unpacked");
});

test("tries are the dispatcher's, and the last is the answer", async (t) => {
    const { url, seen } = await origin(t, ({ number, reply }) => reply.writeHead(number < 2 ? 503 : 200).end(String(number)));
    const { statusCode, body } = await request(url, { dispatcher: composed(t, [retry({ baseMs: 1, maxMs: 1 })]) });
    assert.deepEqual([statusCode, await body.text(), seen.length], [200, "2", 3]);
});

test("a compressed body comes decoded, and within the limits", async (t) => {
    const { url } = await origin(t, ({ reply }) => reply.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(1_000_000, "a"))));
    const small = await request(url, { dispatcher: composed(t, [compression()], { limits: { ratioMax: 10_000 } }) });
    assert.equal((await small.body.arrayBuffer()).byteLength, 1_000_000);
    const limited = await request(url, { dispatcher: composed(t, [compression()], { limits: { decodedBytesMax: 1000 } }) });
    await assert.rejects(limited.body.arrayBuffer(), { code: "response.limit" });
});

test("a reader that is slow slows the peer", async (t) => {
    const BYTES = 20 * 1024 * 1024;
    const { url } = await origin(t, ({ reply }) => reply.end(Buffer.alloc(BYTES)));
    const { body } = await request(url, { dispatcher: composed(t, []) });
    await once(body, "readable");
    // Nobody reads: what is held is what streams hold, and not all of it.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(body.readableLength < BYTES / 10, `${body.readableLength} bytes are held`);
    assert.equal((await body.arrayBuffer()).byteLength, BYTES);
});

test("stream() writes into its writable", async (t) => {
    const { url } = await origin(t, echo);
    const { Writable } = await import("node:stream");
    const pieces = [];
    await stream(url, { dispatcher: composed(t, []), method: "GET" }, () => new Writable({ write: (chunk, _encoding, done) => (pieces.push(chunk), done()) }));
    assert.equal(JSON.parse(Buffer.concat(pieces)).path, "/");
});

test("an abort is told by its reason, before the answer and in its body", async (t) => {
    const { url, asked } = await origin(t, ({ path, reply }) => path === "/half" && reply.writeHead(200, { "content-length": "100" }).write("half"));
    const dispatcher = composed(t, [retry()]);
    const controller = new AbortController();
    const calling = request(url, { dispatcher, signal: controller.signal });
    await asked(1);
    controller.abort(new Error("enough"));
    await assert.rejects(calling, { message: "enough" });
    const second = new AbortController();
    const { body } = await request(`${url}/half`, { dispatcher, signal: second.signal });
    second.abort(new Error("enough"));
    await assert.rejects(body.text(), { message: "enough" });
});

test("failures are the transport's", async (t) => {
    const { url } = await origin(t, ({ reply }) => reply.destroy());
    const dispatcher = composed(t, []);
    await assert.rejects(request(url, { dispatcher }), { name: "TransportError", code: "connection.broken" });
    await assert.rejects(request("http://127.0.0.1:1", { dispatcher }), { code: "connection.failed" });
    for (const name of ["headersTimeout", "bodyTimeout"]) await assert.rejects(request(url, { dispatcher, [name]: 100 }), { code: "request.invalid", message: /deadline/ });
    await assert.rejects(request(url, { dispatcher: composed(t, [], { timeoutMs: 20 }), path: "/" }), { name: "TransportError" });
});

test("what is wrong is refused when the interceptor is made", () => {
    assert.throws(() => interceptor([{}]), { code: "plan.definition" });
    assert.throws(() => interceptor([], { timeoutMs: -1 }), { code: "options.invalid" });
});

test("upgrades go past the middleware", async (t) => {
    const server = createServer();
    server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\nhello"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const { upgrade } = await import("undici");
    const { socket } = await upgrade(`http://127.0.0.1:${server.address().port}`, { dispatcher: composed(t, [retry()]), protocol: "own" });
    const [hello] = await once(socket, "data");
    assert.equal(String(hello), "hello");
    socket.destroy();
});
