// compression: it replaces write, end and on of the response, and waits for the head through on-headers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { brotliDecompressSync, createGunzip, gunzipSync, inflateSync } from "node:zlib";
import compression from "compression";
import express from "express";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

const TEXT = "a text that can be pressed together; ".repeat(3000);

suite("compression", ({ http, it }) => {
    /** The middleware before a plain handler, without any framework. */
    function plain(handler, options = {}) {
        const middleware = compression({ threshold: 1024, ...options });
        return http.createServer((request, response) => middleware(request, response, (error) => {
            assert.ifError(error);
            handler(request, response);
        }));
    }

    it("gzip, deflate and brotli, on what can be pressed", async ({ listen }) => {
        const peer = await listen(plain((request, response) => {
            response.setHeader("content-type", request.headers["x-type"] ?? "text/plain");
            response.end(TEXT);
        }));
        for (const [encoding, decode] of [["gzip", gunzipSync], ["deflate", inflateSync], ["br", brotliDecompressSync]]) {
            const reply = await peer.get("/", { "accept-encoding": encoding });
            assert.deepEqual([reply.headers["content-encoding"], reply.headers.vary, reply.headers["content-length"], reply.headers["transfer-encoding"]], [encoding, "Accept-Encoding", undefined, "chunked"]);
            assert.equal(String(decode(reply.bytes)), TEXT);
        }
        const identity = await peer.get("/");
        assert.deepEqual([identity.headers["content-encoding"], identity.headers.vary, identity.text], [undefined, "Accept-Encoding", TEXT]);
        const image = await peer.get("/", { "accept-encoding": "gzip", "x-type": "image/png" });
        assert.deepEqual([image.headers["content-encoding"], image.headers.vary], [undefined, undefined]);
        assert.equal((await peer.request("HEAD", "/", { headers: { "accept-encoding": "gzip" } })).headers["content-encoding"], undefined);
    });

    it("a content-length that was set goes, a small body stays as it is", async ({ listen }) => {
        const peer = await listen(plain((request, response) => {
            const body = request.url === "/small" ? "small" : TEXT;
            response.writeHead(200, { "content-type": "text/plain", "content-length": Buffer.byteLength(body) });
            response.end(body);
        }));
        const large = await peer.get("/large", { "accept-encoding": "gzip" });
        assert.deepEqual([large.headers["content-encoding"], large.headers["content-length"]], ["gzip", undefined]);
        assert.equal(String(gunzipSync(large.bytes)), TEXT);
        const small = await peer.get("/small", { "accept-encoding": "gzip" });
        assert.deepEqual([small.headers["content-encoding"], small.headers["content-length"], small.text], [undefined, "5", "small"]);
    });

    it("many writes with backpressure", async ({ listen }) => {
        const large = bytesOf(6 * MIB);
        const peer = await listen(plain((request, response) => {
            response.setHeader("content-type", "text/plain");
            Readable.from(pieces(large, 64_000)).pipe(response);
        }));
        const reply = await peer.get("/", { "accept-encoding": "gzip" });
        assert.equal(digest(gunzipSync(reply.bytes)), digest(large));
    });

    it("response.flush() sends what is there: server-sent events", async ({ listen }) => {
        const second = deferred();
        const peer = await listen(plain(async (request, response) => {
            response.setHeader("content-type", "text/event-stream");
            response.write("data: one\n\n");
            response.flush();
            await second.promise;
            response.end("data: two\n\n");
        }));
        const request = peer.open("GET", "/", { "accept-encoding": "gzip" });
        request.end();
        const [response] = await once(request, "response");
        const text = response.pipe(createGunzip()).setEncoding("utf8");
        assert.equal((await once(text, "data"))[0], "data: one\n\n");
        const next = once(text, "data");
        second.resolve();
        assert.equal((await next)[0], "data: two\n\n");
        await once(text, "end");
    });

    it("under Express, with a static reply, JSON and no-transform", async ({ listen }) => {
        const app = express();
        app.use(compression({ threshold: 0 }));
        app.get("/json", (request, response) => response.json({ text: TEXT }));
        app.get("/kept", (request, response) => response.set("cache-control", "no-transform").send(TEXT));
        app.get("/none", (request, response) => response.status(204).end());
        const peer = await listen(http.createServer(app));
        const json = await peer.get("/json", { "accept-encoding": "gzip" });
        assert.deepEqual(JSON.parse(gunzipSync(json.bytes)), { text: TEXT });
        assert.equal((await peer.get("/json", { "accept-encoding": "gzip", "if-none-match": json.headers.etag })).status, 304);
        assert.equal((await peer.get("/kept", { "accept-encoding": "gzip" })).headers["content-encoding"], undefined);
        assert.equal((await peer.get("/none", { "accept-encoding": "gzip" })).status, 204);
    });

    it("a client that leaves half-way leaves nothing behind", async ({ listen }) => {
        const closed = deferred();
        const peer = await listen(plain((request, response) => {
            response.setHeader("content-type", "text/plain");
            response.on("close", () => closed.resolve(response.writableFinished));
            response.write(TEXT);
            response.flush();
        }));
        const request = peer.open("GET", "/", { "accept-encoding": "gzip" });
        request.end();
        const [response] = await once(request, "response");
        response.on("error", () => {});
        request.destroy();
        assert.equal(await closed.promise, false);
    });
});
