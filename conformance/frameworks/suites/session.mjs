// express-session: it replaces end, holds the reply back until the session is stored, and sets its cookie before the head.
import assert from "node:assert/strict";
import cookieParser from "cookie-parser";
import express from "express";
import session from "express-session";
import { suite } from "../suite.mjs";

suite("express-session", ({ http, it }) => {
    function app(options = {}) {
        const made = express();
        made.use(cookieParser("secret"), session({ secret: "secret", resave: false, saveUninitialized: false, ...options }));
        made.get("/count", (request, response) => {
            request.session.count = (request.session.count ?? 0) + 1;
            response.json({ count: request.session.count });
        });
        made.get("/large", (request, response) => {
            request.session.seen = true;
            response.type("text").send("x".repeat(100_000));
        });
        made.get("/chunks", (request, response) => {
            request.session.seen = true;
            response.write("one,");
            response.write("two");
            response.end();
        });
        made.get("/length", (request, response) => {
            request.session.seen = "length";
            response.writeHead(200, { "content-length": "4" });
            response.end("four");
        });
        made.get("/idle", (request, response) => response.send("idle"));
        made.get("/out", (request, response, next) => request.session.destroy((error) => (error ? next(error) : response.send("out"))));
        made.get("/renew", (request, response, next) => request.session.regenerate((error) => (error ? next(error) : response.json({ count: request.session.count ?? 0 }))));
        made.get("/cookies", (request, response) => response.cookie("signed", "v", { signed: true }).json(request.signedCookies));
        return http.createServer(made);
    }

    it("counts per visitor, renews and ends", async ({ listen }) => {
        const peer = await listen(app());
        const first = await peer.get("/count");
        assert.equal(first.headers["set-cookie"].length, 1);
        const { cookie } = first;
        assert.deepEqual((await peer.get("/count", { cookie })).json, { count: 2 });
        assert.deepEqual((await peer.get("/count")).json, { count: 1 });
        assert.equal((await peer.get("/idle", { cookie })).headers["set-cookie"], undefined);
        const renewed = await peer.get("/renew", { cookie });
        assert.deepEqual(renewed.json, { count: 0 });
        assert.equal((await peer.get("/out", { cookie })).text, "out");
        assert.deepEqual((await peer.get("/count", { cookie })).json, { count: 1 });
    });

    it("replies of every form wait for a slow store", async ({ listen }) => {
        class SlowStore extends session.MemoryStore {
            set(...args) {
                setImmediate(() => super.set(...args));
            }
        }
        const peer = await listen(app({ store: new SlowStore() }));
        for (const [path, text] of [["/large", "x".repeat(100_000)], ["/chunks", "one,two"], ["/length", "four"]]) {
            const reply = await peer.get(path);
            assert.equal(reply.text, text);
            assert.match(reply.cookie, /^connect\.sid=/);
        }
        assert.equal(peer.sockets.size, 1);
    });

    it("rolling cookies and a store that fails", async ({ listen }) => {
        const rolling = await listen(app({ rolling: true, saveUninitialized: true, cookie: { maxAge: 60_000 } }));
        assert.match((await rolling.get("/idle")).headers["set-cookie"][0], /Expires=/);

        class BrokenStore extends session.MemoryStore {
            set(id, data, done) {
                done(new Error("the store is full"));
            }
        }
        const made = express();
        made.use(session({ secret: "s", resave: false, saveUninitialized: true, store: new BrokenStore() }));
        made.get("/", (request, response) => request.session.save((error) => response.status(500).send(error.message)));
        const broken = await listen(http.createServer(made));
        assert.equal((await broken.get("/")).text, "the store is full");
    });

    it("signed cookies come back", async ({ listen }) => {
        const peer = await listen(app());
        const { cookie } = await peer.get("/cookies");
        assert.deepEqual((await peer.get("/cookies", { cookie })).json, { signed: "v" });
        assert.deepEqual((await peer.get("/cookies", { cookie: "signed=s%3Av.forged" })).json, { signed: false });
    });
});
