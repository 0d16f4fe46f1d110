// What closes servers, times requests out, or tests them: they count connections, replace methods, and wait for events.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import timeout from "connect-timeout";
import express from "express";
import { createTerminus } from "@godaddy/terminus";
import { createHttpTerminator } from "http-terminator";
import stoppable from "stoppable";
import supertest from "supertest";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

/** A server whose `/slow` waits for `release`. */
function slowServer(http) {
    const begun = deferred();
    const release = deferred();
    const server = http.createServer(async (request, response) => {
        if (request.url === "/slow") {
            begun.resolve();
            await release.promise;
        }
        response.end("done");
    });
    return { server, begun, release };
}

suite("http-terminator", ({ http, it }) => {
    it("lets the request in hand finish, and ends idle connections", async ({ listen }) => {
        const { server, begun, release } = slowServer(http);
        const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: 5000 });
        const peer = await listen(server);
        await peer.get("/idle");
        const idle = net.connect(peer.port, "127.0.0.1").resume();
        await once(idle, "connect");
        const slow = peer.get("/slow");
        await begun.promise;
        const ended = terminator.terminate();
        release.resolve();
        const reply = await slow;
        assert.deepEqual([reply.text, reply.headers.connection], ["done", "close"]);
        await ended;
        assert.equal(server.listening, false);
        if (!idle.closed) await once(idle, "close");
        await assert.rejects(peer.get("/"), { code: "ECONNREFUSED" });
    });
});

suite("stoppable", ({ http, it }) => {
    it("stop() ends idle connections at once and busy ones after their reply", async ({ listen }) => {
        const { server, begun, release } = slowServer(http);
        stoppable(server);
        const peer = await listen(server);
        const idle = peer.open("GET", "/");
        idle.end();
        const [response] = await once(idle, "response");
        const { socket } = response.resume();
        await once(response, "end");
        // Two connections: this one is idle, the other waits for its reply.
        const other = new net.Socket();
        other.connect(peer.port, "127.0.0.1");
        other.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
        await begun.promise;
        const stopped = new Promise((resolve) => server.stop((error, graceful) => resolve([error, graceful])));
        if (!socket.closed) await once(socket, "close");
        release.resolve();
        let text = "";
        for await (const chunk of other) text += chunk;
        assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
        assert.match(text, /done/);
        const [error, graceful] = await stopped;
        assert.deepEqual([error ?? undefined, graceful], [undefined, true]);
    });

    it("stop() cuts busy connections off after its grace", async ({ listen }) => {
        const { server, begun } = slowServer(http);
        stoppable(server, 50);
        const peer = await listen(server);
        const slow = assert.rejects(peer.get("/slow"), { code: "ECONNRESET" });
        await begun.promise;
        const graceful = await new Promise((resolve) => server.stop((error, value) => resolve(value)));
        await slow;
        assert.equal(graceful, false);
    });
});

suite("terminus", ({ http, it }) => {
    it("health checks beside the app's own handler", async ({ listen }) => {
        let well = true;
        const server = createTerminus(http.createServer((request, response) => response.end("app")), {
            healthChecks: { "/health": async () => {
                if (!well) throw new Error("unwell");
                return { database: "up" };
            } },
            signals: [],
            logger: () => {},
            useExit0: false,
        });
        const peer = await listen(server);
        assert.deepEqual((await peer.get("/health")).json, { status: "ok", info: { database: "up" }, details: { database: "up" } });
        assert.equal((await peer.get("/")).text, "app");
        well = false;
        assert.equal((await peer.get("/health")).status, 503);
    });
});

suite("connect-timeout", ({ http, it }) => {
    it("answers 503 for a handler that is too slow, and leaves quick ones alone", async ({ listen }) => {
        const app = express();
        app.use(timeout("50ms"));
        app.get("/quick", (request, response) => response.json({ timedout: request.timedout }));
        app.get("/slow", (request, response) => request.once("timeout", () => response.on("finish", () => {})));
        app.use((error, request, response, next) => response.status(error.status).json({ code: error.code, timedout: request.timedout, timeout: error.timeout }));
        const peer = await listen(http.createServer(app));
        assert.deepEqual((await peer.get("/quick")).json, { timedout: false });
        assert.deepEqual((await peer.get("/slow")).json, { code: "ETIMEDOUT", timedout: true, timeout: 50 });
        assert.deepEqual((await peer.get("/quick")).json, { timedout: false });
    });
});

suite("supertest", ({ http, it }) => {
    const app = express();
    app.use(express.json());
    app.get("/", (request, response) => response.cookie("a", "1").send("root"));
    app.get("/cookie", (request, response) => response.send(request.headers.cookie ?? "none"));
    app.post("/", (request, response) => response.status(201).json(request.body));
    app.post("/raw", (request, response) => request.pipe(response.type("bin")));

    it("request(server) starts it on a port of its own and closes it", async () => {
        const server = http.createServer(app);
        await supertest(server).get("/").expect(200).expect("content-type", /html/).expect("root");
        const bytes = Buffer.alloc(100_000, 7);
        const { body } = await supertest(server).post("/raw").set("content-type", "application/octet-stream").send(bytes).expect(200);
        assert.deepEqual(body, bytes);
    });

    it("request(listening server), JSON, and an agent that keeps cookies", async ({ listen }) => {
        const server = http.createServer(app);
        await listen(server);
        await supertest(server).post("/").send({ a: "ü" }).expect(201, { a: "ü" });
        await supertest(server).post("/").set("content-type", "application/json").send("{").expect(400);
        const agent = supertest.agent(server);
        await agent.get("/").expect(200);
        await agent.get("/cookie").expect("a=1");
    });
});
