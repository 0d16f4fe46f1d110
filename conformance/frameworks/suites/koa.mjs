// Koa: its callback on the target's server, and `app.listen` is not used since it makes a server of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";
import Koa from "koa";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("koa", ({ http, it }) => {
    function app(define, options = {}) {
        const koa = new Koa(options);
        koa.silent = true;
        const router = new Router();
        define(router, koa);
        koa.use(router.routes()).use(router.allowedMethods());
        return Object.assign(http.createServer(koa.callback()), { koa });
    }

    it("routes, bodies of every kind, and 404", async ({ listen }) => {
        const peer = await listen(app((router, koa) => {
            koa.use(bodyParser({ jsonLimit: "10kb" }));
            router.get("/", (ctx) => void (ctx.body = "text"));
            router.get("/json/:id", (ctx) => void (ctx.body = { id: ctx.params.id, query: ctx.query, ip: ctx.ip, host: ctx.host === ctx.get("host"), secure: ctx.secure }));
            router.get("/bytes", (ctx) => void (ctx.body = Buffer.from("bytes")));
            router.get("/null", (ctx) => void (ctx.body = null));
            router.get("/html", (ctx) => void (ctx.body = "<p>html"));
            router.get("/response", (ctx) => void (ctx.body = new Response("from a Response", { status: 202, headers: { "x-from": "response" } })));
            router.post("/", (ctx) => {
                ctx.status = 201;
                ctx.body = ctx.request.body;
            });
        }));
        assert.equal((await peer.get("/")).text, "text");
        assert.deepEqual((await peer.get("/json/5?q=1")).json, { id: "5", query: { q: "1" }, ip: "127.0.0.1", host: true, secure: false });
        assert.equal((await peer.get("/bytes")).headers["content-type"], "application/octet-stream");
        assert.equal((await peer.get("/null")).status, 204);
        assert.equal((await peer.get("/html")).headers["content-type"], "text/html; charset=utf-8");
        assert.deepEqual([(await peer.get("/response")).text, (await peer.get("/response")).status], ["from a Response", 202]);
        assert.deepEqual((await peer.json("POST", "/", { a: "ü" })).json, { a: "ü" });
        assert.equal((await peer.json("POST", "/", { a: "x".repeat(20_000) })).status, 413);
        assert.deepEqual([(await peer.get("/none")).status, (await peer.get("/none")).text], [404, "Not Found"]);
        assert.equal((await peer.request("DELETE", "/")).status, 405);
        assert.equal((await peer.request("HEAD", "/")).headers["content-length"], "4");
    });

    it("middleware unwinds, throws become statuses", async ({ listen }) => {
        const errors = [];
        const server = app((router, koa) => {
            koa.use(async (ctx, next) => {
                await next();
                ctx.set("x-outer", String(ctx.status));
            });
            router.get("/", (ctx) => void (ctx.body = "ok"));
            router.get("/throw", (ctx) => ctx.throw(403, "kept out", { headers: { "x-why": "rule" } }));
            router.get("/plain", () => {
                throw new Error("secret");
            });
        });
        server.koa.on("error", (error) => errors.push(error.message));
        const peer = await listen(server);
        assert.equal((await peer.get("/")).headers["x-outer"], "200");
        const kept = await peer.get("/throw");
        assert.deepEqual([kept.status, kept.text, kept.headers["x-why"]], [403, "kept out", "rule"]);
        const plain = await peer.get("/plain");
        assert.deepEqual([plain.status, plain.text], [500, "Internal Server Error"]);
        assert.deepEqual(errors, ["kept out", "secret"]);
    });

    it("streams both ways, and the end of a stream that fails", async ({ listen }) => {
        const large = bytesOf(5 * MIB);
        const server = app((router) => {
            router.get("/", (ctx) => {
                ctx.type = "bin";
                ctx.body = Readable.from(pieces(large, 40_000));
            });
            router.post("/", (ctx) => void (ctx.body = ctx.req.pipe(new PassThrough())));
            router.get("/fails", (ctx) => {
                ctx.body = new Readable({ read() {
                    this.push("begun");
                    setImmediate(() => this.destroy(new Error("no more")));
                } });
            });
        });
        server.koa.on("error", () => {});
        const peer = await listen(server);
        assert.equal(digest((await peer.get("/")).bytes), digest(large));
        assert.equal(digest((await peer.request("POST", "/", { body: pieces(large, 65_536) })).bytes), digest(large));
        await assert.rejects(peer.get("/fails"), { code: "ECONNRESET" });
    });

    it("signed cookies, redirects, freshness", async ({ listen }) => {
        const peer = await listen(app((router, koa) => {
            koa.keys = ["k1"];
            router.get("/set", (ctx) => {
                ctx.cookies.set("name", "value", { signed: true });
                ctx.body = "set";
            });
            router.get("/get", (ctx) => void (ctx.body = ctx.cookies.get("name", { signed: true }) ?? "none"));
            router.get("/moved", (ctx) => ctx.redirect("/get"));
            router.get("/fresh", (ctx) => {
                ctx.etag = "one";
                ctx.body = "fresh";
                if (ctx.fresh) ctx.status = 304;
            });
        }));
        const set = await peer.get("/set");
        assert.equal(set.headers["set-cookie"].length, 2);
        assert.equal((await peer.get("/get", { cookie: set.cookie })).text, "value");
        assert.equal((await peer.get("/get", { cookie: "name=forged" })).text, "none");
        assert.equal((await peer.get("/moved")).headers.location, "/get");
        assert.equal((await peer.get("/fresh", { "if-none-match": '"one"' })).status, 304);
    });

    it("ctx.respond = false and a client that goes away", async ({ listen }) => {
        const closed = deferred();
        const peer = await listen(app((router) => {
            router.get("/own", (ctx) => {
                ctx.respond = false;
                ctx.res.writeHead(202, "Taken", ["x-list", "1", "x-list", "2"]);
                ctx.res.end("own");
            });
            router.get("/events", (ctx) => {
                ctx.type = "text/event-stream";
                const events = new PassThrough();
                ctx.body = events;
                events.write("data: 1\n\n");
                ctx.req.on("close", () => closed.resolve(ctx.writable));
            });
        }));
        const own = await peer.get("/own");
        assert.deepEqual([own.status, own.headers["x-list"], own.text], [202, "1, 2", "own"]);
        const request = peer.open("GET", "/events");
        request.end();
        const [response] = await once(request, "response");
        response.on("error", () => {});
        assert.equal(String((await once(response, "data"))[0]), "data: 1\n\n");
        request.destroy();
        assert.equal(await closed.promise, false);
    });
});
