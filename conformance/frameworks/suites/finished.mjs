// What waits for the end of a request or a reply: on-finished, morgan, pino-http, finalhandler.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import finalhandler from "finalhandler";
import morgan from "morgan";
import onFinished from "on-finished";
import pino from "pino";
import pinoHttp from "pino-http";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

/** A FIN on loopback takes less than one; this is far above what a busy machine adds, and below any timer that might stand in for it. */
const NOTICED_MS_MAX = 500;

/** Far above what thousands of small parts take, and below the time that an idle connection is kept. */
const CUT_OFF_MS_MAX = 3000;

suite("on-finished", ({ http, it }) => {
    it("fires once the reply is out, for plain, late and repeated listeners", async ({ listen }) => {
        const seen = deferred();
        const peer = await listen(http.createServer((request, response) => {
            const order = [];
            const states = [onFinished.isFinished(request), onFinished.isFinished(response)];
            onFinished(response, (error, message) => order.push(["reply", error, message === response]));
            onFinished(request, (error) => order.push(["request", error]));
            response.end("done");
            onFinished(response, () => {
                order.push("late");
                onFinished(response, () => seen.resolve({ order, states, finished: onFinished.isFinished(response) }));
            });
        }));
        await peer.get("/");
        const { order, states, finished } = await seen.promise;
        assert.deepEqual(states, [false, false]);
        assert.ok(finished);
        assert.deepEqual(order.filter((entry) => entry[0] === "reply" || entry === "late"), [["reply", null, true], "late"]);
    });

    it("a request whose body is still to come is not finished", async ({ listen }) => {
        const ended = deferred();
        const peer = await listen(http.createServer((request, response) => {
            const before = onFinished.isFinished(request);
            onFinished(request, (error) => ended.resolve({ before, error, after: onFinished.isFinished(request) }));
            request.resume().on("end", () => response.end());
        }));
        const request = peer.open("POST", "/");
        request.write("one");
        request.end("two");
        const [response] = await once(request, "response");
        response.resume();
        assert.deepEqual(await ended.promise, { before: false, error: null, after: true });
    });

    it("a client that leaves", async ({ listen }) => {
        const ended = deferred();
        const begun = deferred();
        const peer = await listen(http.createServer((request, response) => {
            onFinished(response, (error) => ended.resolve({ error, ended: response.writableEnded, isFinished: onFinished.isFinished(response), request: onFinished.isFinished(request) }));
            begun.resolve();
        }));
        const request = peer.open("GET", "/");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        request.destroy();
        assert.deepEqual(await ended.promise, { error: null, ended: false, isFinished: true, request: true });
    });

    it("a client that leaves is noticed at once, while nothing is read or written", async ({ listen }) => {
        const begun = deferred();
        const closed = deferred();
        const peer = await listen(http.createServer((request, response) => {
            response.on("close", () => closed.resolve(performance.now()));
            begun.resolve();
        }));
        const request = peer.open("GET", "/");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        const left = performance.now();
        request.destroy();
        assert.ok((await closed.promise) - left < NOTICED_MS_MAX);
    });

    it("a reply that is cut off in the turn that began it", async ({ listen }) => {
        const ended = deferred();
        const peer = await listen(http.createServer((request, response) => {
            // As fast as it is read, until the reply waits for the socket: all of it is one turn of the event loop.
            const source = new Readable({ read() {
                this.push("a part");
                process.nextTick(() => this.destroy(new Error("no more")));
            } });
            onFinished(response, () => ended.resolve(response.writableFinished));
            source.on("error", () => response.destroy());
            source.pipe(response);
        }));
        const before = performance.now();
        await assert.rejects(peer.get("/"), { code: "ECONNRESET" });
        // The client must not be left waiting for the rest until some timeout.
        assert.ok(performance.now() - before < CUT_OFF_MS_MAX);
        assert.equal(await ended.promise, false);
    });

    it("many requests on one connection, each with its own listener", async ({ listen }) => {
        const ends = [];
        const peer = await listen(http.createServer((request, response) => {
            onFinished(response, () => ends.push(request.url));
            response.end(request.url);
        }));
        for (let at = 0; at < 50; at += 1) assert.equal((await peer.get(`/${at}`)).text, `/${at}`);
        assert.deepEqual(ends.slice(0, 49), Array.from({ length: 49 }, (_, at) => `/${at}`));
        assert.equal(peer.sockets.size, 1);
    });
});

/** Something to log to, whose `line()` waits for the next line. */
function lines() {
    const waiting = [];
    const stream = new Writable({ decodeStrings: false, write(chunk, encoding, done) {
        waiting.shift()(String(chunk));
        done();
    } });
    return { stream, line: () => new Promise((resolve) => waiting.push(resolve)) };
}

suite("morgan", ({ http, it }) => {
    it("logs method, status, length, address and time, also of replies that never went out", async ({ listen }) => {
        const { stream, line } = lines();
        const log = morgan(":method :url :status :res[content-length] :remote-addr HTTP/:http-version :response-time[0] :total-time[0] :referrer", { stream });
        const begun = deferred();
        const peer = await listen(http.createServer((request, response) => log(request, response, () => {
            if (request.url === "/hangs") return begun.resolve();
            response.statusCode = 201;
            response.setHeader("content-length", 4);
            response.end("body");
        })));
        const first = line();
        await peer.get("/a?b", { referer: "http://from.test/" });
        assert.match(await first, /^GET \/a\?b 201 4 127\.0\.0\.1 HTTP\/1\.1 \d+ \d+ http:\/\/from\.test\/\n$/);
        const second = line();
        const request = peer.open("GET", "/hangs");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        request.destroy();
        assert.match(await second, /^GET \/hangs - - /);
    });
});

suite("pino-http", ({ http, it }) => {
    it("logs requests with their ids, errors and aborts", async ({ listen }) => {
        const { stream, line } = lines();
        let id = 0;
        const log = pinoHttp({ logger: pino({ base: null }, stream), genReqId: (request, response) => {
            id += 1;
            response.setHeader("x-request-id", String(id));
            return id;
        } });
        const begun = deferred();
        const peer = await listen(http.createServer((request, response) => {
            log(request, response);
            if (request.url === "/hangs") return begun.resolve();
            if (request.url === "/error") response.err = new Error("noted");
            response.statusCode = request.url === "/error" ? 500 : 200;
            response.end(request.id.toString());
        }));
        const first = line();
        assert.equal((await peer.get("/ok")).headers["x-request-id"], "1");
        const entry = JSON.parse(await first);
        assert.deepEqual([entry.msg, entry.req.id, entry.req.url, entry.req.remoteAddress, entry.req.headers.host, entry.res.statusCode, entry.res.headers], ["request completed", 1, "/ok", "127.0.0.1", `127.0.0.1:${peer.port}`, 200, { "x-request-id": "1" }]);
        const second = line();
        await peer.get("/error");
        const failed = JSON.parse(await second);
        assert.deepEqual([failed.level, failed.err.message], [30, "noted"]);
        const third = line();
        const request = peer.open("GET", "/hangs");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        request.destroy();
        assert.equal(JSON.parse(await third).msg, "request aborted");
    });
});

suite("finalhandler", ({ http, it }) => {
    it("404, errors with their status and fields, and errors after the head", async ({ listen }) => {
        const errors = [];
        const peer = await listen(http.createServer((request, response) => {
            const done = finalhandler(request, response, { env: "production", onerror: (error) => errors.push(error.message) });
            if (request.url === "/missing") return done();
            if (request.url === "/error") return done(Object.assign(new Error("kept"), { status: 503, headers: { "retry-after": "5" } }));
            if (request.url === "/after") return response.write("half", () => done(new Error("after")));
            request.on("end", () => done(new Error("with a body"))).resume();
        }));
        const missing = await peer.request("POST", "/missing", { body: "x".repeat(100_000) });
        assert.equal(missing.status, 404);
        assert.match(missing.text, /Cannot POST \/missing/);
        const error = await peer.get("/error");
        assert.deepEqual([error.status, error.headers["retry-after"]], [503, "5"]);
        assert.match(error.text, /Service Unavailable/);
        assert.equal((await peer.request("POST", "/body", { body: "x".repeat(100_000) })).status, 500);
        await assert.rejects(peer.get("/after"), { code: "ECONNRESET" });
        assert.deepEqual(errors, ["kept", "with a body", "after"]);
    });
});
