// Express 5 and 4 as they are, over `http.createServer(app)`.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import express5 from "express";
import express4 from "express4";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { files, folder } from "../fixtures.mjs";
import { suite } from "../suite.mjs";

for (const [title, express, major] of [["express 5", express5, 5], ["express 4", express4, 4]]) {
    suite(title, ({ http, it }) => {
        function app(define) {
            const made = express();
            // Error pages would otherwise hold a stack trace, and stderr one per failing handler.
            made.set("env", "test");
            define(made);
            made.use((error, request, response, next) => {
                if (response.headersSent) return next(error);
                response.status(error.status ?? 500).json({ error: error.message, type: error.type });
            });
            return http.createServer(made);
        }

        // First of all: what a framework does to its first message has been seen by nobody yet.
        it("many apps on one server, beside a handler of its own: each message may change its prototype late", async ({ listen }) => {
            const apps = Array.from({ length: 12 }, (_, at) => {
                const made = express();
                made.request.number = at;
                made.response.own = function () {
                    return this.json({ number: this.req.number, url: this.req.url, host: this.req.get("host") !== undefined, raw: this.req.rawHeaders.length, distinct: this.req.headersDistinct["x-list"] });
                };
                made.use((request, response) => response.own());
                return made;
            });
            const server = http.createServer((request, response) => {
                const number = Number(request.url.slice(1).split("/")[0]);
                if (Number.isNaN(number)) response.end(`${request.url} ${request.headers["x-list"]}`);
                else apps[number](request, response);
            });
            const peer = await listen(server);
            const fields = { "x-list": "a" };
            for (let round = 0; round < 3; round += 1) {
                assert.equal((await peer.get("/plain", fields)).text, "/plain a");
                for (let number = 0; number < apps.length; number += 1) {
                    const { json } = await peer.get(`/${number}/x`, fields);
                    assert.deepEqual([json.number, json.url, json.host, json.distinct], [number, `/${number}/x`, true, ["a"]]);
                }
            }
        });

        it("routes, parameters, queries, and 404", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.get("/", (request, response) => response.send("root"));
                it.get("/items/:id", (request, response) => response.json({ id: request.params.id, query: request.query, path: request.path, host: request.hostname }));
                it.delete("/items/:id", (request, response) => response.sendStatus(204));
                it.use("/below", express.Router().get("/leaf", (request, response) => response.json({ base: request.baseUrl, url: request.url, original: request.originalUrl })));
                it.get("/moved", (request, response) => response.redirect("/items/1"));
                it.get("/format", (request, response) => response.format({ "text/plain": () => response.send("text"), "application/json": () => response.send({ json: true }) }));
            }));
            assert.equal((await peer.get("/")).text, "root");
            assert.deepEqual((await peer.get("/items/7?a=1&b=x%20y")).json, { id: "7", query: { a: "1", b: "x y" }, path: "/items/7", host: "127.0.0.1" });
            assert.equal((await peer.request("DELETE", "/items/7")).status, 204);
            assert.deepEqual((await peer.get("/below/leaf?q")).json, { base: "/below", url: "/leaf?q", original: "/below/leaf?q" });
            const moved = await peer.get("/moved");
            assert.deepEqual([moved.status, moved.headers.location], [302, "/items/1"]);
            assert.equal((await peer.get("/format", { accept: "application/json" })).text, '{"json":true}');
            assert.equal((await peer.get("/format", { accept: "text/plain" })).text, "text");
            assert.equal((await peer.get("/format", { accept: "image/png" })).status, 406);
            const missing = await peer.get("/missing");
            assert.equal(missing.status, 404);
            assert.match(missing.text, /Cannot GET \/missing/);
            assert.deepEqual((await peer.request("OPTIONS", "/items/7")).headers.allow.split(/, */).sort(), ["DELETE", "GET", "HEAD"]);
        });

        it("HEAD, ETag and 304", async ({ listen }) => {
            const peer = await listen(app((it) => it.get("/", (request, response) => response.send("a body to be hashed"))));
            const whole = await peer.get("/");
            const head = await peer.request("HEAD", "/");
            assert.equal(head.bytes.length, 0);
            assert.equal(head.headers["content-length"], whole.headers["content-length"]);
            const cached = await peer.get("/", { "if-none-match": whole.headers.etag });
            assert.deepEqual([cached.status, cached.text], [304, ""]);
            assert.equal((await peer.get("/", { "if-none-match": '"other"' })).status, 200);
        });

        it("JSON and form bodies, 400 and 413", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.use(express.json({ limit: "100kb" }), express.urlencoded({ extended: true }));
                it.post("/", (request, response) => response.status(201).json(request.body));
            }));
            const body = { text: "Grüße 😀", list: [1, 2, { three: 3 }] };
            const created = await peer.json("POST", "/", body);
            assert.deepEqual([created.status, created.json], [201, body]);
            const form = await peer.request("POST", "/", { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=1&b[c]=2" });
            assert.deepEqual(form.json, { a: "1", b: { c: "2" } });
            const bad = await peer.request("POST", "/", { headers: { "content-type": "application/json" }, body: '{"cut' });
            assert.deepEqual([bad.status, bad.json.type], [400, "entity.parse.failed"]);
            const large = await peer.json("POST", "/", { text: "x".repeat(200_000) });
            assert.deepEqual([large.status, large.json.type], [413, "entity.too.large"]);
            assert.deepEqual((await peer.json("POST", "/", { after: true })).json, { after: true });
        });

        it("handlers that throw or reject", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.get("/throws", () => {
                    throw Object.assign(new Error("thrown"), { status: 418 });
                });
                it.get("/rejects", async (request, response, next) => {
                    if (major === 5) throw new Error("rejected");
                    next(new Error("rejected"));
                });
                it.get("/twice", (request, response) => {
                    response.send("first");
                    assert.throws(() => response.setHeader("x-late", "1"), { code: "ERR_HTTP_HEADERS_SENT" });
                });
                it.get("/invalid", (request, response) => response.setHeader("x-bad", "a\nb"));
            }));
            const thrown = await peer.get("/throws");
            assert.deepEqual([thrown.status, thrown.json.error], [418, "thrown"]);
            assert.equal((await peer.get("/rejects")).json.error, "rejected");
            assert.equal((await peer.get("/twice")).text, "first");
            assert.match((await peer.get("/invalid")).json.error, /Invalid character in header content/);
        });

        it("an error after the head ends the connection", async ({ listen }) => {
            const peer = await listen(app((it) => it.get("/", (request, response, next) => {
                response.set("content-type", "text/plain");
                response.write("half", () => next(new Error("too late")));
            })));
            const request = peer.open("GET", "/");
            request.end();
            const [response] = await once(request, "response");
            assert.equal(response.statusCode, 200);
            await assert.rejects(async () => {
                for await (const chunk of response) assert.equal(String(chunk), "half");
            }, { code: "ECONNRESET" });
        });

        it("files: sendFile, download, ranges", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.use("/static", express.static(folder));
                it.get("/file", (request, response) => response.sendFile("large.bin", { root: folder }));
                it.get("/download", (request, response) => response.download(`${folder}/index.html`, "страница.html"));
            }));
            const large = files["large.bin"];
            assert.equal(digest((await peer.get("/file")).bytes), digest(large));
            assert.equal((await peer.get("/static/")).text, files["index.html"].toString());
            const range = await peer.get("/static/large.bin", { range: "bytes=100000-1900000" });
            assert.deepEqual([range.status, range.headers["content-range"]], [206, `bytes 100000-1900000/${large.length}`]);
            assert.equal(digest(range.bytes), digest(large.subarray(100_000, 1_900_001)));
            assert.equal((await peer.get("/static/large.bin", { range: "bytes=99999999-" })).status, 416);
            assert.match((await peer.get("/download")).headers["content-disposition"], /filename\*=UTF-8''%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0\.html/);
            assert.equal((await peer.get("/static/none")).status, 404);
        });

        it("a streamed reply of 8 MiB, and an upload of 8 MiB back and forth", async ({ listen }) => {
            const large = bytesOf(8 * MIB);
            const peer = await listen(app((it) => {
                it.get("/", (request, response) => Readable.from(pieces(large, 70_000)).pipe(response));
                it.post("/echo", (request, response) => request.pipe(response));
            }));
            assert.equal(digest((await peer.get("/")).bytes), digest(large));
            assert.equal(digest((await peer.request("POST", "/echo", { body: pieces(large, 65_536) })).bytes), digest(large));
        });

        it("cookies, and requests that share a connection", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.get("/set", (request, response) => response.cookie("a", "1 2", { httpOnly: true }).cookie("b", "3").send("set"));
                it.get("/get", (request, response) => response.send(request.headers.cookie));
                it.get("/clear", (request, response) => response.clearCookie("a").append("x-list", "one").append("x-list", "two").send());
            }));
            const set = await peer.get("/set");
            assert.deepEqual(set.headers["set-cookie"], ["a=1%202; Path=/; HttpOnly", "b=3; Path=/"]);
            assert.equal((await peer.get("/get", { cookie: set.cookie })).text, "a=1%202; b=3");
            assert.equal((await peer.get("/clear")).headers["x-list"], "one, two");
            assert.equal(peer.sockets.size, 1);
        });

        it("request.ip, protocol and trust proxy", async ({ listen }) => {
            const peer = await listen(app((it) => {
                it.set("trust proxy", "loopback");
                it.get("/", (request, response) => response.json([request.ip, request.ips, request.protocol, request.secure, request.socket.remoteAddress, request.socket.remoteFamily, request.socket.localPort === Number(request.get("x-port")), request.xhr, request.fresh]));
            }));
            const port = { "x-port": String(peer.port) };
            assert.deepEqual((await peer.get("/", port)).json, ["127.0.0.1", [], "http", false, "127.0.0.1", "IPv4", true, false, false]);
            assert.deepEqual((await peer.get("/", { ...port, "x-forwarded-for": "10.1.2.3, 127.0.0.1", "x-forwarded-proto": "https" })).json.slice(0, 4), ["10.1.2.3", ["10.1.2.3", "127.0.0.1"], "https", true]);
        });

        it("a client that goes away is noticed", async ({ listen }) => {
            const gone = deferred();
            const peer = await listen(app((it) => it.get("/", (request, response) => {
                response.write("begun");
                response.on("close", () => gone.resolve({ ended: response.writableEnded, finished: response.writableFinished, destroyed: request.destroyed }));
            })));
            const request = peer.open("GET", "/");
            request.end();
            const [response] = await once(request, "response");
            response.on("error", () => {});
            request.destroy();
            assert.deepEqual(await gone.promise, { ended: false, finished: false, destroyed: true });
        });

        it("a mounted app", async ({ listen }) => {
            const inner = express();
            inner.request.inner = "yes";
            inner.get("/", (request, response) => response.json({ inner: request.inner, mount: inner.mountpath, app: request.app === inner }));
            const peer = await listen(app((it) => {
                it.use("/inner", inner);
                it.get("/outer", (request, response) => response.json({ inner: request.inner ?? "no", app: request.app === it }));
            }));
            for (let round = 0; round < 3; round += 1) {
                assert.deepEqual((await peer.get("/inner")).json, { inner: "yes", mount: "/inner", app: true });
                assert.deepEqual((await peer.get("/outer")).json, { inner: "no", app: true });
            }
        });
    });
}
