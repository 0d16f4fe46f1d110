// Fastify on a server of the target's, through `serverFactory`.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import multipartPlugin from "@fastify/multipart";
import staticPlugin from "@fastify/static";
import websocketPlugin from "@fastify/websocket";
import Fastify from "fastify";
import { WebSocket } from "ws";
import { MIB, bytesOf, digest, multipart, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { files, folder } from "../fixtures.mjs";
import { suite } from "../suite.mjs";

suite("fastify", ({ http, it }) => {
    const make = (options = {}) => Fastify({ serverFactory: (handler, given) => http.createServer({ keepAliveTimeout: given.keepAliveTimeout }, handler), ...options });

    /** Fastify listens and closes by itself. */
    async function started(app, { peer, after }) {
        await app.listen({ port: 0, host: "127.0.0.1" });
        after(() => app.close());
        assert.ok(app.server instanceof http.Server);
        return peer(app.server.address().port);
    }

    it("routes, schemas and 404", async (context) => {
        const app = make();
        app.get("/", async () => ({ hello: "world" }));
        app.get("/items/:id", { schema: { params: { type: "object", properties: { id: { type: "integer" } } }, response: { 200: { type: "object", properties: { id: { type: "integer" } } } } } }, async (request) => ({ id: request.params.id, dropped: 1 }));
        app.post("/items", { schema: { body: { type: "object", required: ["name"], properties: { name: { type: "string" } } } } }, async (request, reply) => reply.code(201).send(request.body));
        app.get("/text", (request, reply) => reply.type("text/plain").send("plain"));
        app.get("/empty", (request, reply) => reply.code(204).send());
        app.get("/bytes", (request, reply) => reply.send(Buffer.from([0, 1, 255])));
        const peer = await started(app, context);
        assert.deepEqual((await peer.get("/")).json, { hello: "world" });
        assert.deepEqual((await peer.get("/items/12")).json, { id: 12 });
        assert.equal((await peer.get("/items/x")).status, 400);
        assert.deepEqual((await peer.json("POST", "/items", { name: "é" })).json, { name: "é" });
        assert.match((await peer.json("POST", "/items", {})).json.message, /required property 'name'/);
        assert.equal((await peer.get("/text")).text, "plain");
        assert.equal((await peer.get("/empty")).status, 204);
        assert.deepEqual([...(await peer.get("/bytes")).bytes], [0, 1, 255]);
        assert.equal((await peer.request("HEAD", "/")).headers["content-length"], "17");
        assert.equal((await peer.get("/none")).status, 404);
        assert.equal((await peer.request("DELETE", "/")).status, 404);
        assert.equal(peer.sockets.size, 1);
    });

    it("bodies that are too large, cut or of an unknown type", async (context) => {
        const app = make({ bodyLimit: 1000 });
        app.post("/", async (request) => request.body);
        const peer = await started(app, context);
        assert.equal((await peer.json("POST", "/", { text: "x".repeat(2000) })).json.code, "FST_ERR_CTP_BODY_TOO_LARGE");
        assert.equal((await peer.request("POST", "/", { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
        assert.equal((await peer.request("POST", "/", { headers: { "content-type": "application/x-none" }, body: "x" })).status, 415);
        assert.deepEqual((await peer.json("POST", "/", { fits: true })).json, { fits: true });
    });

    it("hooks in their order, and a handler that throws", async (context) => {
        const app = make();
        const order = [];
        const finished = deferred();
        for (const hook of ["onRequest", "preParsing", "preValidation", "preHandler"]) app.addHook(hook, async () => void order.push(hook));
        app.addHook("onSend", async (request, reply, payload) => {
            order.push("onSend");
            return payload;
        });
        app.addHook("onResponse", async (request, reply) => {
            order.push("onResponse");
            finished.resolve(reply.elapsedTime);
        });
        app.get("/", async () => "ok");
        app.get("/throws", async () => {
            throw Object.assign(new Error("thrown"), { statusCode: 418 });
        });
        const peer = await started(app, context);
        assert.equal((await peer.get("/")).text, "ok");
        assert.ok((await finished.promise) > 0);
        assert.deepEqual(order, ["onRequest", "preParsing", "preValidation", "preHandler", "onSend", "onResponse"]);
        const thrown = await peer.get("/throws");
        assert.deepEqual([thrown.status, thrown.json.message], [418, "thrown"]);
    });

    it("streams, raw replies and trailers", async (context) => {
        const app = make();
        const large = bytesOf(5 * MIB);
        app.get("/stream", (request, reply) => reply.header("x-kind", "stream").send(Readable.from(pieces(large, 50_000))));
        app.get("/fails", (request, reply) => reply.send(new Readable({ read() {
            this.push("begun");
            setImmediate(() => this.destroy(new Error("no more")));
        } })));
        app.get("/raw", (request, reply) => {
            reply.hijack();
            reply.raw.writeHead(203, { "content-type": "text/plain" });
            reply.raw.end("raw");
        });
        app.get("/trailer", (request, reply) => {
            reply.trailer("x-length", async (_reply, payload) => String(payload.length));
            return reply.send("with trailer");
        });
        const peer = await started(app, context);
        assert.equal(digest((await peer.get("/stream")).bytes), digest(large));
        const raw = await peer.get("/raw");
        assert.deepEqual([raw.status, raw.text], [203, "raw"]);
        const trailer = await peer.get("/trailer");
        assert.deepEqual([trailer.text, trailer.trailers["x-length"]], ["with trailer", "12"]);
        await assert.rejects(async () => {
            await peer.get("/fails");
        }, { code: "ECONNRESET" });
    });

    it("a multipart upload of 6 MiB beside fields", async (context) => {
        const app = make();
        await app.register(multipartPlugin, { limits: { fileSize: 8 * MIB } });
        app.post("/", async (request) => {
            const fields = {};
            for await (const part of request.parts()) fields[part.fieldname] = part.file ? digest(await part.toBuffer()) : part.value;
            return fields;
        });
        const peer = await started(app, context);
        const file = bytesOf(6 * MIB);
        const { type, body } = multipart([{ name: "title", value: "a file" }, { name: "file", value: file, filename: "a.bin", type: "application/octet-stream" }]);
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": type }, body })).json, { title: "a file", file: digest(file) });
    });

    it("its plug-ins for files and WebSockets", async (context) => {
        const app = make();
        await app.register(staticPlugin, { root: folder, prefix: "/files/" });
        await app.register(websocketPlugin);
        app.get("/socket", { websocket: true }, (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
        const peer = await started(app, context);
        assert.equal(digest((await peer.get("/files/large.bin")).bytes), digest(files["large.bin"]));
        const part = await peer.get("/files/large.bin", { range: "bytes=7-9" });
        assert.deepEqual([part.status, [...part.bytes]], [206, [...files["large.bin"].subarray(7, 10)]]);
        assert.equal((await peer.get("/files/none")).status, 404);
        const socket = new WebSocket(`ws://127.0.0.1:${peer.port}/socket`);
        await once(socket, "open");
        socket.send(bytesOf(MIB));
        assert.equal(digest((await once(socket, "message"))[0]), digest(bytesOf(MIB)));
        socket.close(1000);
        assert.equal((await once(socket, "close"))[0], 1000);
        const [, refused] = await once(new WebSocket(`ws://127.0.0.1:${peer.port}/none`), "unexpected-response");
        assert.equal(refused.statusCode, 404);
        refused.destroy();
    });

    it("a client that goes away: onRequestAbort", async (context) => {
        const app = make();
        const aborted = deferred();
        const begun = deferred();
        app.addHook("onRequestAbort", async (request) => aborted.resolve(request.url));
        app.get("/slow", (request, reply) => {
            begun.resolve();
            return reply.hijack();
        });
        const peer = await started(app, context);
        const request = peer.open("GET", "/slow");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        request.destroy();
        assert.equal(await aborted.promise, "/slow");
    });

    it("close() lets the request in hand finish", async (context) => {
        const app = make();
        const begun = deferred();
        const release = deferred();
        app.get("/slow", async () => {
            begun.resolve();
            await release.promise;
            return "done";
        });
        const peer = await started(app, context);
        const reply = peer.get("/slow");
        await begun.promise;
        const closed = app.close();
        release.resolve();
        assert.equal((await reply).text, "done");
        // The connection is kept alive, and Fastify waits for its end.
        peer.close();
        await closed;
        await assert.rejects(peer.get("/slow"), { code: "ECONNREFUSED" });
    });

    it("bytes that are no request reach clientErrorHandler", async (context) => {
        const seen = deferred();
        const app = make({ clientErrorHandler(error, socket) {
            seen.resolve(error.code);
            socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\nConnection: close\r\n\r\nno\r\n");
        } });
        const peer = await started(app, context);
        assert.equal(await peer.raw("nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\nConnection: close\r\n\r\nno\r\n");
        assert.equal(await seen.promise, "HPE_INVALID_METHOD");
    });

    it("requireHostHeader: false", async (context) => {
        const app = Fastify({ serverFactory: (handler) => http.createServer({ requireHostHeader: false }, handler) });
        app.get("/", async (request) => ({ host: request.headers.host ?? "none" }));
        const peer = await started(app, context);
        assert.match(await peer.raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*\r\n\{"host":"none"\}$/);
    });

    it("upgrade on the same server", async (context) => {
        const app = make();
        const peer = await started(app, context);
        app.server.on("upgrade", (request, socket, head) => {
            socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
            socket.write(head);
            socket.pipe(socket);
        });
        const request = peer.open("GET", "/", { connection: "upgrade", upgrade: "echo" });
        request.end();
        const [response, socket] = await once(request, "upgrade");
        assert.equal(response.statusCode, 101);
        socket.end("echoed");
        const chunks = [];
        for await (const chunk of socket) chunks.push(chunk);
        assert.equal(String(Buffer.concat(chunks)), "echoed");
    });
});
