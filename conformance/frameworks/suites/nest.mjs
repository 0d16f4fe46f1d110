// NestJS: with a server of the target's below its Express and Fastify adapters, and as it starts by itself.
import assert from "node:assert/strict";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { AppModule, STREAM_BYTES } from "../apps/nest-module.mjs";
import { bytesOf, digest } from "../bytes.mjs";
import { appSuite, suite } from "../suite.mjs";

async function assertions(peer) {
    assert.equal((await peer.get("/")).text, "root");
    const item = await peer.get("/items/9?a=1");
    assert.deepEqual([item.json, item.headers["x-item"]], [{ id: "9", query: { a: "1" } }, "1"]);
    assert.deepEqual((await peer.get("/items/bad")).json, { message: "a bad id", error: "Bad Request", statusCode: 400 });
    const created = await peer.json("POST", "/items", { name: "ü" });
    assert.deepEqual([created.status, created.json], [202, { name: "ü" }]);
    assert.equal((await peer.request("POST", "/items", { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
    assert.equal((await peer.json("POST", "/items", { text: "x".repeat(2_000_000) })).status, 413);
    assert.deepEqual((await peer.get("/throws")).json, { statusCode: 500, message: "Internal server error" });
    assert.equal((await peer.get("/none")).status, 404);
    assert.equal(digest((await peer.get("/stream")).bytes), digest(bytesOf(STREAM_BYTES)));
    assert.match((await peer.get("/events")).text, /data: \{"data":1\}\n\n(.*\n)*?data: \{"data":2\}\n\n/);
    const own = await peer.get("/own");
    assert.deepEqual([own.status, own.text, own.headers["x-own"]], [202, "own", "1"]);
    const upload = bytesOf(3_000_000);
    assert.deepEqual((await peer.request("POST", "/upload", { headers: { "content-type": "application/octet-stream" }, body: [upload.subarray(0, 1_000_000), upload.subarray(1_000_000)] })).json, { digest: digest(upload) });
}

suite("nest", ({ http, it }) => {
    async function started(adapter, { peer, after }) {
        const app = await NestFactory.create(AppModule, adapter, { logger: false });
        if (adapter instanceof FastifyAdapter) adapter.getInstance().addContentTypeParser("application/octet-stream", (request, payload, done) => done(null));
        await app.listen(0, "127.0.0.1");
        const server = app.getHttpServer();
        assert.ok(server instanceof http.Server);
        after(() => app.close());
        return peer(server.address().port);
    }

    it("the Express adapter on a server of ours", async (context) => {
        class Adapter extends ExpressAdapter {
            initHttpServer() {
                this.httpServer = http.createServer(this.getInstance());
            }
        }
        await assertions(await started(new Adapter(), context));
    });

    it("the Fastify adapter with serverFactory", async (context) => {
        await assertions(await started(new FastifyAdapter({ serverFactory: (handler) => http.createServer(handler) }), context));
    });
});

for (const adapter of ["express", "fastify"]) {
    appSuite(`nest with ${adapter} as a program`, `apps/nest-${adapter}.mjs`, ({ it }) => {
        it("serves, and ends on SIGTERM", async ({ start }) => assertions(await start()));
    });
}
