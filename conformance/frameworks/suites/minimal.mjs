// Small frameworks: connect, polka and restana on a server of the target's, and graphql-http's handlers.
import assert from "node:assert/strict";
import connect from "connect";
import { buildSchema } from "graphql";
import { createHandler } from "graphql-http/lib/use/http";
import polka from "polka";
import restana from "restana";
import sirv from "sirv";
import { digest } from "../bytes.mjs";
import { files, folder } from "../fixtures.mjs";
import { suite } from "../suite.mjs";

suite("connect", ({ http, it }) => {
    it("layers, mounted paths and errors", async ({ listen }) => {
        const app = connect();
        app.use((request, response, next) => {
            response.setHeader("x-first", "1");
            next();
        });
        app.use("/below", (request, response) => response.end(`${request.url} of ${request.originalUrl}`));
        app.use("/throws", () => {
            throw Object.assign(new Error("thrown"), { status: 418 });
        });
        app.use("/throws", (error, request, response, next) => {
            response.setHeader("x-error", error.message);
            next(error);
        });
        app.use("/throws", (error, request, response, next) => {
            response.statusCode = error.status;
            response.end("handled");
        });
        const peer = await listen(http.createServer(app));
        const below = await peer.get("/below/leaf?q");
        assert.deepEqual([below.text, below.headers["x-first"]], ["/leaf?q of /below/leaf?q", "1"]);
        const thrown = await peer.get("/throws");
        assert.deepEqual([thrown.status, thrown.headers["x-error"], thrown.text], [418, "thrown", "handled"]);
        assert.equal((await peer.get("/none")).status, 404);
    });
});

suite("polka", ({ http, it }) => {
    it("routes, middleware, errors and sirv", async ({ listen }) => {
        const server = http.createServer();
        const app = polka({ server });
        app.use((request, response, next) => {
            request.seen = "yes";
            next();
        });
        app.use("files", sirv(folder));
        app.get("/items/:id", (request, response) => response.end(JSON.stringify({ params: request.params, query: request.query, seen: request.seen })));
        app.get("/throws", (request, response, next) => next(Object.assign(new Error("thrown"), { code: 418 })));
        app.post("/echo", (request, response) => request.pipe(response));
        server.on("request", app.handler);
        const peer = await listen(server);
        assert.deepEqual((await peer.get("/items/1?a=2")).json, { params: { id: "1" }, query: { a: "2" }, seen: "yes" });
        assert.deepEqual([(await peer.get("/throws")).status, (await peer.get("/throws")).text], [418, "thrown"]);
        assert.equal((await peer.request("POST", "/echo", { body: "echoed" })).text, "echoed");
        assert.equal(digest((await peer.get("/files/large.bin")).bytes), digest(files["large.bin"]));
        assert.equal((await peer.get("/none")).status, 404);
    });
});

suite("restana", ({ http, it }) => {
    it("routes, send in its forms, errors", async ({ peer, after }) => {
        const app = restana({ server: http.createServer(), errorHandler: (error, request, response) => response.send({ error: error.message }, 500) });
        app.get("/items/:id", (request, response) => response.send({ id: request.params.id }));
        app.get("/bytes", (request, response) => response.send(Buffer.from("bytes")));
        app.get("/headers", (request, response) => response.send("text", 203, { "x-own": "1" }));
        app.get("/rejects", async () => {
            throw new Error("rejected");
        });
        await app.start(0, "127.0.0.1");
        after(() => app.close());
        const client = peer(app.getServer().address().port);
        assert.ok(app.getServer() instanceof http.Server);
        assert.deepEqual((await client.get("/items/a")).json, { id: "a" });
        assert.equal((await client.get("/bytes")).text, "bytes");
        const headers = await client.get("/headers");
        assert.deepEqual([headers.status, headers.headers["x-own"], headers.text], [203, "1", "text"]);
        assert.deepEqual((await client.get("/rejects")).json, { error: "rejected" });
        assert.equal((await client.get("/none")).status, 404);
    });
});

suite("graphql-http", ({ http, it }) => {
    it("queries by POST and GET, and refusals", async ({ listen }) => {
        const schema = buildSchema("type Query { hello(name: String): String, fails: String }");
        const rootValue = { hello: ({ name }) => `hello ${name ?? "world"}`, fails: () => {
            throw new Error("it fails");
        } };
        const peer = await listen(http.createServer(createHandler({ schema, rootValue })));
        assert.deepEqual((await peer.json("POST", "/", { query: '{ hello(name: "Zoë") }' })).json, { data: { hello: "hello Zoë" } });
        assert.deepEqual((await peer.get(`/?query=${encodeURIComponent("{ hello }")}`)).json, { data: { hello: "hello world" } });
        assert.equal((await peer.json("POST", "/", { query: "{ fails }" })).json.errors[0].message, "it fails");
        assert.equal((await peer.json("POST", "/", { query: "{ none }" }, { accept: "application/graphql-response+json" })).status, 400);
        assert.equal((await peer.json("POST", "/", {})).status, 400);
        assert.equal((await peer.request("PUT", "/")).status, 405);
    });
});
