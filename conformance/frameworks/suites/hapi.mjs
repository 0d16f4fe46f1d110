// hapi with its `listener` option.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import Hapi from "@hapi/hapi";
import { MIB, bytesOf, digest, multipart, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("hapi", ({ http, it }) => {
    async function started(define, { peer, after }) {
        const hapi = Hapi.server({ listener: http.createServer(), host: "127.0.0.1", port: 0, debug: false });
        define(hapi);
        await hapi.start();
        after(() => hapi.stop({ timeout: 1000 }));
        return peer(hapi.info.port);
    }

    it("routes, payloads and errors", async (context) => {
        const peer = await started((hapi) => {
            hapi.route({ method: "GET", path: "/", handler: () => "root" });
            hapi.route({ method: "GET", path: "/items/{id}", handler: (request, h) => h.response({ id: request.params.id, query: request.query, from: request.info.remoteAddress }).header("x-item", "1") });
            hapi.route({ method: "POST", path: "/", options: { payload: { maxBytes: 10_000 } }, handler: (request, h) => h.response(request.payload).code(201) });
            hapi.route({ method: "GET", path: "/throws", handler: () => {
                throw new Error("hidden");
            } });
            hapi.route({ method: "GET", path: "/cookie", handler: (request, h) => h.response("set").state("a", "1", { isSecure: false }) });
        }, context);
        assert.equal((await peer.get("/")).text, "root");
        assert.deepEqual((await peer.get("/items/4?a=1")).json, { id: "4", query: { a: "1" }, from: "127.0.0.1" });
        assert.deepEqual((await peer.json("POST", "/", { a: "ü" })).json, { a: "ü" });
        assert.equal((await peer.json("POST", "/", { a: "x".repeat(20_000) })).status, 413);
        assert.equal((await peer.request("POST", "/", { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
        assert.deepEqual((await peer.get("/throws")).json, { statusCode: 500, error: "Internal Server Error", message: "An internal server error occurred" });
        assert.equal((await peer.get("/cookie")).cookie, "a=1");
        assert.equal((await peer.get("/none")).status, 404);
        assert.equal((await peer.request("HEAD", "/")).headers["content-length"], "4");
    });

    it("streams, ranges, gzip and uploads", async (context) => {
        const large = bytesOf(3 * MIB);
        const peer = await started((hapi) => {
            hapi.route({ method: "GET", path: "/stream", handler: () => Readable.from(pieces(large, 50_000), { objectMode: false }) });
            hapi.route({ method: "GET", path: "/bytes", handler: (request, h) => h.response(large).type("application/octet-stream") });
            hapi.route({ method: "GET", path: "/text", handler: () => "squeeze ".repeat(1000) });
            hapi.route({ method: "POST", path: "/", options: { payload: { maxBytes: 8 * MIB, multipart: { output: "data" } } }, handler: ({ payload }) => ({ name: payload.name, digest: digest(payload.file) }) });
        }, context);
        assert.equal(digest((await peer.get("/stream")).bytes), digest(large));
        assert.equal(digest((await peer.get("/bytes")).bytes), digest(large));
        const range = await peer.get("/bytes", { range: "bytes=10-1048585" });
        assert.deepEqual([range.status, digest(range.bytes)], [206, digest(large.subarray(10, 1_048_586))]);
        assert.equal((await peer.get("/text", { "accept-encoding": "gzip" })).headers["content-encoding"], "gzip");
        const { type, body } = multipart([{ name: "name", value: "n" }, { name: "file", value: large, filename: "f", type: "application/octet-stream" }]);
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": type }, body })).json, { name: "n", digest: digest(large) });
    });

    it("a client that goes away: the disconnect event", async (context) => {
        const gone = deferred();
        const begun = deferred();
        const peer = await started((hapi) => hapi.route({ method: "GET", path: "/", handler: async (request, h) => {
            request.events.once("disconnect", () => gone.resolve(request.active()));
            begun.resolve();
            await gone.promise;
            return h.close;
        } }), context);
        const request = peer.open("GET", "/");
        const failed = once(request, "error");
        request.end();
        await begun.promise;
        request.destroy(new Error("left"));
        assert.equal(await gone.promise, false);
        await failed;
    });
});
