// The built-in middleware over sockets, as undici and node:http really are.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { Readable } from "node:stream";
import { test } from "node:test";
import zlib from "node:zlib";
import { auth, bulkRetry, compression, deadline, limits, product, redaction, retry, Transport } from "leat/transport";
import { failure } from "./setup.mjs";

const LATE_MS = 5000;

/** A server that answers by `handler`, and a transport to it. */
async function serving(t, middleware, handler, more = {}) {
    const server = http.createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, middleware, timeoutMs: LATE_MS, ...more });
    t.after(async () => {
        await transport.close();
        server.closeAllConnections();
        server.close();
    });
    return { transport, server };
}
const read = async (request) => Buffer.concat(await request.toArray());
const text = "the same again, ".repeat(20_000);

test("a stack of all goes both ways", async (t) => {
    let asked = 0;
    const { transport } = await serving(
        t,
        [redaction(), product({ headers: { "user-agent": "me" }, check: { header: "x-product", value: "Mine" } }), deadline({ tryMs: LATE_MS }), limits({ decodedBytesMax: 1_000_000 }), retry({ baseMs: 1 }), auth({ bearer: () => "abcd" }), bulkRetry(), compression({ request: "gzip" })],
        async (request, response) => {
            const body = zlib.gunzipSync(await read(request)).toString();
            const { authorization, "user-agent": agent, "content-length": length } = request.headers;
            response.setHeader("x-product", "Mine");
            if (++asked === 1) return response.writeHead(503).end("busy");
            response.setHeader("content-type", "application/json");
            response.setHeader("content-encoding", "br");
            response.end(zlib.brotliCompressSync(JSON.stringify({ authorization, agent, hasLength: length !== undefined, isSame: body === text })));
        },
    );
    const { status, body, attempts } = await transport.request({ method: "PUT", path: "/", body: text });
    assert.equal(status, 200);
    assert.deepEqual(body, { authorization: "Bearer abcd", agent: "me", hasLength: true, isSame: true });
    assert.deepEqual(attempts.map(({ status }) => status), [503, 200]);
});

test("streams are encoded and decoded as they go", async (t) => {
    const { transport } = await serving(t, [compression({ request: "br" })], (request, response) => {
        response.setHeader("content-encoding", request.headers["content-encoding"]);
        request.pipe(response);
    });
    const pieces = Array.from({ length: 100 }, (_, at) => `piece ${at}: ${randomBytes(1000).toString("hex")}`);
    const { body } = await transport.request({ method: "POST", path: "/", body: Readable.from(pieces), as: "stream" });
    assert.equal((await read(body)).toString(), pieces.join(""));
});

test("who stops reading a decoded stream closes its connection", async (t) => {
    let closed;
    const { transport } = await serving(t, [compression()], (request, response) => {
        closed = once(response, "close");
        response.setHeader("content-encoding", "gzip");
        const endless = zlib.createGzip();
        endless.pipe(response);
        const write = () => endless.write(`${Math.random()} `.repeat(1000), () => response.destroyed || write());
        write();
    });
    const { body } = await transport.request({ path: "/", as: "stream" });
    for await (const chunk of body) if (chunk.length > 0) break;
    await closed;
});

test("a deadline ends a compressed body that drips, read as a whole or as a stream", async (t) => {
    for (const as of ["bytes", "stream"]) {
        const { transport } = await serving(t, [compression(), deadline({ callMs: 100 })], (request, response) => {
            response.setHeader("content-encoding", "gzip");
            response.write(zlib.gzipSync(text).subarray(0, 50));
        });
        const error = await failure(transport.request({ path: "/", as }).then(({ body }) => body.toArray()));
        assert.equal(error.code, "call.deadline");
    }
});

test("what explodes is stopped, and its connection closed", async (t) => {
    let closed;
    const exploding = (request, response) => {
        closed = once(response, "close");
        response.setHeader("content-encoding", "gzip");
        const bomb = zlib.createGzip();
        bomb.pipe(response);
        const zeros = Buffer.alloc(1_048_576);
        const write = () => bomb.write(zeros, () => response.destroyed || write());
        write();
    };
    // The transport's own ratio would stop it sooner.
    const { transport } = await serving(t, [compression(), limits({ decodedBytesMax: 1_048_576 })], exploding, { limits: { ratioMax: Infinity } });
    const error = await failure(transport.request({ path: "/", as: "stream" }).then(({ body }) => body.toArray()));
    assert.deepEqual([error.code, error.limit], ["response.limit", "decodedBytesMax"]);
    await closed;
});

test("a renewed token goes out on the next try of the same body", async (t) => {
    const seen = [];
    let count = 0;
    const { transport } = await serving(t, [auth({ bearer: () => `token${++count}` })], async (request, response) => {
        seen.push(`${request.headers.authorization} ${await read(request)}`);
        response.writeHead(request.headers.authorization === "Bearer token1" && seen.length > 1 ? 401 : 200).end();
    });
    await transport.request({ path: "/" });
    assert.equal((await transport.request({ method: "POST", path: "/", body: "x" })).status, 200);
    assert.deepEqual(seen, ["Bearer token1 ", "Bearer token1 x", "Bearer token2 x"]);
});
