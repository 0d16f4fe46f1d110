// Hono's node server with its `createServer` option.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { stream, streamSSE } from "hono/streaming";
import { relative } from "node:path";
import { gunzipSync } from "node:zlib";
import { MIB, bytesOf, digest, multipart, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { files, folder } from "../fixtures.mjs";
import { suite } from "../suite.mjs";

suite("hono", ({ http, it }) => {
    function app(define) {
        const hono = new Hono();
        define(hono);
        return createAdaptorServer({ fetch: hono.fetch, createServer: http.createServer });
    }

    it("routes, bodies and 404", async ({ listen }) => {
        const peer = await listen(app((hono) => {
            hono.get("/", (c) => c.text("root"));
            hono.get("/items/:id", (c) => c.json({ id: c.req.param("id"), query: c.req.query("q"), accept: c.req.header("accept"), url: new URL(c.req.url).pathname }));
            hono.post("/json", async (c) => c.json(await c.req.json(), 201));
            hono.post("/form", async (c) => c.json(await c.req.parseBody()));
            hono.onError((error, c) => c.text(error.name, 400));
            hono.get("/empty", (c) => c.body(null, 204));
            hono.get("/moved", (c) => c.redirect("/items/1", 301));
            hono.get("/address", (c) => c.json(getConnInfo(c).remote.address));
            hono.get("/cookies", (c) => {
                c.header("set-cookie", "a=1");
                c.header("set-cookie", "b=2", { append: true });
                return c.text("two");
            });
        }));
        assert.equal((await peer.get("/")).text, "root");
        assert.deepEqual((await peer.get("/items/3?q=a%20b", { accept: "x/y" })).json, { id: "3", query: "a b", accept: "x/y", url: "/items/3" });
        assert.deepEqual((await peer.json("POST", "/json", { a: "ü" })).json, { a: "ü" });
        assert.equal((await peer.request("POST", "/json", { body: "{" })).text, "SyntaxError");
        assert.deepEqual((await peer.request("POST", "/form", { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=1&b=2" })).json, { a: "1", b: "2" });
        assert.equal((await peer.get("/empty")).status, 204);
        assert.equal((await peer.get("/moved")).headers.location, "/items/1");
        assert.equal((await peer.get("/address")).json, "127.0.0.1");
        assert.deepEqual((await peer.get("/cookies")).headers["set-cookie"], ["a=1", "b=2"]);
        assert.equal((await peer.get("/none")).status, 404);
        assert.equal((await peer.request("HEAD", "/")).bytes.length, 0);
    });

    it("streams, server-sent events and compression", async ({ listen }) => {
        const large = bytesOf(4 * MIB);
        const peer = await listen(app((hono) => {
            hono.get("/stream", (c) => stream(c, async (out) => {
                for (const piece of pieces(large, 60_000)) await out.write(piece);
            }));
            hono.get("/events", (c) => streamSSE(c, async (out) => {
                for (let id = 0; id < 3; id += 1) await out.writeSSE({ id: String(id), data: `event ${id}` });
            }));
            hono.use("/zipped", compress());
            hono.get("/zipped", (c) => c.text("squeeze ".repeat(1000)));
            hono.post("/echo", (c) => c.body(c.req.raw.body));
        }));
        assert.equal(digest((await peer.get("/stream")).bytes), digest(large));
        assert.match((await peer.get("/events")).text, /data: event 0\nid: 0\n\ndata: event 1/);
        const zipped = await peer.get("/zipped", { "accept-encoding": "gzip" });
        assert.equal(zipped.headers["content-encoding"], "gzip");
        assert.equal(String(gunzipSync(zipped.bytes)), "squeeze ".repeat(1000));
        assert.equal(digest((await peer.request("POST", "/echo", { body: pieces(large, 65_536) })).bytes), digest(large));
    });

    it("uploads and a body that is too large", async ({ listen }) => {
        const file = bytesOf(3 * MIB);
        const peer = await listen(app((hono) => {
            hono.use("/small", bodyLimit({ maxSize: 1000, onError: (c) => c.text("too large", 413) }));
            hono.post("/small", async (c) => c.text(String((await c.req.text()).length)));
            hono.post("/", async (c) => {
                const { file: sent, name } = await c.req.parseBody();
                return c.json({ name, size: sent.size, digest: digest(Buffer.from(await sent.arrayBuffer())) });
            });
        }));
        const { type, body } = multipart([{ name: "name", value: "n" }, { name: "file", value: file, filename: "f", type: "application/octet-stream" }]);
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": type }, body })).json, { name: "n", size: file.length, digest: digest(file) });
        assert.equal((await peer.request("POST", "/small", { body: "x".repeat(5000) })).status, 413);
        assert.equal((await peer.request("POST", "/small", { body: "x".repeat(500) })).text, "500");
    });

    it("files, CORS and a handler that throws", async ({ listen }) => {
        const peer = await listen(app((hono) => {
            hono.use(cors({ origin: "http://one.test", allowMethods: ["GET", "PUT"] }));
            hono.use("/files/*", serveStatic({ root: relative(process.cwd(), folder), rewriteRequestPath: (path) => path.replace(/^\/files/, "") }));
            hono.get("/throws", () => {
                throw new Error("thrown");
            });
            hono.onError((error, c) => c.json({ error: error.message }, 500));
        }));
        assert.equal(digest((await peer.get("/files/large.bin")).bytes), digest(files["large.bin"]));
        const range = await peer.get("/files/large.bin", { range: "bytes=5-9" });
        assert.deepEqual([range.status, [...range.bytes]], [206, [...files["large.bin"].subarray(5, 10)]]);
        const preflight = await peer.request("OPTIONS", "/", { headers: { origin: "http://one.test", "access-control-request-method": "PUT" } });
        assert.deepEqual([preflight.status, preflight.headers["access-control-allow-methods"]], [204, "GET,PUT"]);
        assert.deepEqual((await peer.get("/throws")).json, { error: "thrown" });
    });

    it("a client that goes away aborts the request's signal", async ({ listen }) => {
        const aborted = deferred();
        const peer = await listen(app((hono) => {
            hono.get("/", (c) => stream(c, async (out) => {
                out.onAbort(() => aborted.resolve(c.req.raw.signal.aborted));
                await out.write("begun");
                await aborted.promise;
            }));
        }));
        const request = peer.open("GET", "/");
        request.end();
        const [response] = await once(request, "response");
        response.on("error", () => {});
        assert.equal(String((await once(response, "data"))[0]), "begun");
        request.destroy();
        assert.equal(typeof (await aborted.promise), "boolean");
    });
});
