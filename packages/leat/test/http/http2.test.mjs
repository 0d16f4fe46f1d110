// HTTP/2: the same handlers, with streams in the place of connections.
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { test } from "node:test";
import { listening } from "./ask.mjs";

const require = createRequire(import.meta.url);
const http = require("leat/http");

const STREAMS = 50;

/** A server with `handler`, and a client of it that sends `{ path, method, body }` and gives back what came. */
async function talking(t, handler) {
    const server = await listening(t, http.createServer({ http2: true }, handler));
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`);
    t.after(() => client.close());
    const ask = async ({ path = "/", method = "GET", body, ...fields } = {}) => {
        const stream = client.request({ ":path": path, ":method": method, ...fields });
        stream.setEncoding("utf8");
        stream.end(body);
        const out = { body: "" };
        stream.on("response", (headers) => (out.headers = headers));
        stream.on("trailers", (trailers) => (out.trailers = Object.fromEntries(Object.entries(trailers))));
        stream.on("data", (part) => (out.body += part));
        await once(stream, "close");
        return out;
    };
    return { server, client, ask };
}

test("a request looks like one of HTTP/1, with its own version", async (t) => {
    const { ask } = await talking(t, (req, res) => {
        let text = "";
        req.on("data", (part) => (text += part));
        req.on("end", () => res.end(JSON.stringify([req.method, req.url, req.httpVersion, req.headers["x-a"], text, req.complete])));
    });
    assert.deepEqual(JSON.parse((await ask({ path: "/p?q", method: "POST", body: "hello", "x-a": "1" })).body), ["POST", "/p?q", "2.0", "1", "hello", true]);
});

test("a reply has no fields of a connection, and no chunks", async (t) => {
    const { ask } = await talking(t, (req, res) => {
        res.write("one ");
        setImmediate(() => res.end("two"));
    });
    const { headers, body } = await ask();
    assert.equal(headers[":status"], 200);
    for (const name of ["connection", "keep-alive", "transfer-encoding"]) assert.equal(name in headers, false, name);
    assert.equal(body, "one two");
});

test("trailers, after a whole reply and after a streamed one", async (t) => {
    const { ask } = await talking(t, (req, res) => {
        if (req.url === "/streamed") res.write("a");
        res.addTrailers({ "X-T": "1" });
        res.end("b");
    });
    assert.deepEqual((await ask({ path: "/whole" })).trailers, { "x-t": "1" });
    assert.deepEqual((await ask({ path: "/streamed" })).trailers, { "x-t": "1" });
});

test("many streams at once", async (t) => {
    const { ask } = await talking(t, (req, res) => setImmediate(() => res.end(req.url)));
    const bodies = await Promise.all(Array.from({ length: STREAMS }, async (_, at) => (await ask({ path: `/${at}` })).body));
    assert.deepEqual(bodies, Array.from({ length: STREAMS }, (_, at) => `/${at}`));
});

test("a stream that the client resets ends its exchange, and no other", async (t) => {
    const { server, client, ask } = await talking(t, (req, res) => {
        if (req.url !== "/reset") return res.end("still here");
        return res.on("close", () => server.emit("gone", res.writableFinished));
    });
    const stream = client.request({ ":path": "/reset" });
    stream.on("error", () => {});
    await once(server, "request");
    stream.close(http2.constants.NGHTTP2_CANCEL);
    assert.deepEqual(await once(server, "gone"), [false]);
    assert.equal((await ask()).body, "still here");
});

test("a connection between two streams is idle, one with a stream is not, and one before its first is as this Node has it", async (t) => {
    const { server, client: idle, ask } = await talking(t, (req, res) => {
        if (req.url === "/slow") server.once("go", () => res.end("slow"));
        else res.end();
    });
    const signal = AbortSignal.timeout(10_000);
    server.keepAliveTimeout = 60_000;
    const [busy, silent] = [0, 1].map(() => http2.connect(`http://127.0.0.1:${server.address().port}`));
    t.after(() => [busy, silent].forEach((client) => client.close()));
    await Promise.all([once(busy, "connect"), once(silent, "connect"), ask()]);
    const slow = busy.request({ ":path": "/slow" }).setEncoding("utf8");
    await once(server, "request", { signal });
    // From Node 26 on a connection without a request is idle as well.
    const takesSilent = Number(process.versions.node.split(".")[0]) >= 26;
    let told = 0;
    for (const client of takesSilent ? [busy] : [busy, silent]) client.on("goaway", () => told++);
    const ended = [once(idle, "goaway", { signal }), once(idle, "close", { signal })];
    if (takesSilent) ended.push(once(silent, "close", { signal }));
    server.closeIdleConnections();
    assert.equal((await Promise.all(ended))[0][0], http2.constants.NGHTTP2_NO_ERROR);
    assert.equal(told, 0);
    server.emit("go");
    assert.deepEqual(await once(slow, "data", { signal }), ["slow"]);
    await once(slow, "close", { signal });
    // What node:http's close() does with connections that are idle, so that it comes to its end.
    silent.close();
    server.close();
    await Promise.all([once(busy, "close", { signal }), once(server, "close", { signal })]);
});
