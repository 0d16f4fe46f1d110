// What hooks itself before the head: on-headers, response-time, and middleware that sets many fields (helmet, cors).
import assert from "node:assert/strict";
import cors from "cors";
import express from "express";
import { rateLimit } from "express-rate-limit";
import helmet from "helmet";
import onHeaders from "on-headers";
import responseTime from "response-time";
import { suite } from "../suite.mjs";

suite("on-headers", ({ http, it }) => {
    /** Handlers that send a head in each of the ways there are. */
    const ways = {
        end: (response) => response.end("body"),
        write: (response) => {
            response.write("bo");
            response.end("dy");
        },
        writeHead: (response) => response.writeHead(201, { "x-given": "1" }).end("body"),
        "writeHead with a message": (response) => response.writeHead(201, "Made", { "x-given": "1" }).end("body"),
        "writeHead with a list": (response) => response.writeHead(201, ["x-given", "1", "x-twice", "a", "x-twice", "b"]).end("body"),
        flushHeaders: (response) => {
            response.flushHeaders();
            response.end("body");
        },
        setHeaders: (response) => response.setHeaders(new Map([["x-given", "1"]])).end("body"),
        "status and pipe": (response) => {
            response.statusCode = 202;
            response.statusMessage = "Taken";
            response.end("body");
        },
    };
    for (const [way, send] of Object.entries(ways)) {
        it(`listeners run before the head of ${way}`, async ({ listen }) => {
            const order = [];
            const peer = await listen(http.createServer((request, response) => {
                order.length = 0;
                onHeaders(response, function () {
                    order.push("outer");
                    this.setHeader("x-status", String(this.statusCode));
                    this.removeHeader("x-removed");
                });
                onHeaders(response, () => order.push("inner"));
                response.setHeader("x-removed", "1");
                send(response);
            }));
            const reply = await peer.get("/");
            assert.deepEqual(order, ["inner", "outer"]);
            assert.equal(reply.headers["x-status"], String(reply.status));
            assert.equal(reply.headers["x-removed"], undefined);
            assert.equal(reply.text, "body");
        });
    }

    it("a listener that changes the status", async ({ listen }) => {
        const peer = await listen(http.createServer((request, response) => {
            onHeaders(response, function () {
                this.statusCode = 503;
            });
            response.end("changed");
        }));
        assert.equal((await peer.get("/")).status, 503);
    });
});

suite("response-time", ({ http, it }) => {
    it("sets X-Response-Time once", async ({ listen }) => {
        const middleware = responseTime();
        const peer = await listen(http.createServer((request, response) => middleware(request, response, () => response.end("timed"))));
        assert.match((await peer.get("/")).headers["x-response-time"], /^\d+\.\d{3}ms$/);
    });
});

suite("helmet and cors", ({ http, it }) => {
    it("set their fields, and answer preflights", async ({ listen }) => {
        const layers = [helmet(), cors({ origin: [/\.test$/], credentials: true, exposedHeaders: ["x-a", "x-b"], maxAge: 60 })];
        const peer = await listen(http.createServer((request, response) => {
            let at = 0;
            const next = (error) => {
                assert.ifError(error);
                const layer = layers[at];
                at += 1;
                if (layer) layer(request, response, next);
                else response.end("through");
            };
            next();
        }));
        const reply = await peer.get("/", { origin: "http://one.test" });
        assert.equal(reply.text, "through");
        assert.match(reply.headers["content-security-policy"], /default-src 'self'/);
        assert.equal(reply.headers["x-powered-by"], undefined);
        assert.deepEqual([reply.headers["access-control-allow-origin"], reply.headers["access-control-expose-headers"], reply.headers.vary], ["http://one.test", "x-a,x-b", "Origin"]);
        const preflight = await peer.request("OPTIONS", "/", { headers: { origin: "http://two.test", "access-control-request-method": "PUT", "access-control-request-headers": "x-c" } });
        assert.deepEqual([preflight.status, preflight.headers["access-control-max-age"], preflight.headers["access-control-allow-headers"]], [204, "60", "x-c"]);
        assert.equal((await peer.get("/", { origin: "http://evil.example" })).headers["access-control-allow-origin"], undefined);
    });
});

suite("express-rate-limit", ({ http, it }) => {
    it("counts by address and refuses with 429", async ({ listen }) => {
        const app = express();
        app.use(rateLimit({ windowMs: 60_000, limit: 2, standardHeaders: "draft-6", legacyHeaders: true, requestPropertyName: "limited" }));
        app.get("/", (request, response) => response.json({ used: request.limited.used, key: request.limited.key }));
        const peer = await listen(http.createServer(app));
        // Its fields hold the seconds that are left, so that they are not comparable.
        const get = () => fetch(peer.origin);
        assert.deepEqual(await (await get()).json(), { used: 1, key: "127.0.0.1" });
        assert.equal((await get()).headers.get("ratelimit-remaining"), "0");
        const refused = await get();
        assert.deepEqual([refused.status, refused.headers.get("x-ratelimit-limit"), await refused.text()], [429, "2", "Too many requests, please try again later."]);
    });
});
