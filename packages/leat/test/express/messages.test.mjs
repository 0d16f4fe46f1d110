// Whose prototypes the messages of a server have when its listeners get them.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { createServer } from "leat/http";
import express from "leat/express";
import { ask, connected, listening } from "./served.mjs";

/** What a listener that stands before the app sees. */
function watching(server) {
    const seen = [];
    const { emit } = server;
    server.emit = function (event, ...args) {
        if (event === "request") seen.push(args.map(Object.getPrototypeOf));
        return emit.call(this, event, ...args);
    };
    return seen;
}

test("an app gets its own messages from the first request on", async () => {
    const app = express();
    app.get("/", (req, res) => res.send("x"));
    const server = createServer(app);
    const seen = watching(server);
    await listening(server, (port) => ask(port, "/"));
    assert.deepEqual(seen.map(([req, res]) => [req === app.request, res === app.response]), [[true, true]]);
});

test("an app that is not the only listener gets them when it is asked", async () => {
    const app = express();
    app.get("/", (req, res) => res.send(req.query));
    const server = createServer();
    server.on("request", (req) => (req.query = "of the first listener"));
    server.on("request", app);
    await listening(server, async (port) => assert.equal((await ask(port, "/?a=1")).text, "of the first listener"));
});

test("prototypes that are replaced later are those of the next request", async () => {
    const app = express();
    app.get("/", (req, res) => res.send(String(req.later)));
    await listening(app, async (port) => {
        assert.equal((await ask(port, "/")).text, "undefined");
        app.request = Object.create(app.request, { later: { value: 1 } });
        assert.equal((await ask(port, "/")).text, "1");
        assert.equal((await ask(port, "/")).text, "1");
    });
});

test("a request for another protocol is none of the app's", async () => {
    const app = express();
    const server = createServer(app);
    server.on("upgrade", (req, socket) => {
        // The app's requests have this from their prototype, and it can't be set.
        req.query = { mine: true };
        socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${Object.getPrototypeOf(req) === app.request}`);
    });
    await listening(server, async (port) => {
        const socket = await connected(port);
        socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
        const chunks = [];
        socket.on("data", (chunk) => chunks.push(chunk));
        await once(socket, "end");
        assert.match(Buffer.concat(chunks).toString(), /false$/);
    });
});

test("messages are instances of node:http's classes", () => {
    assert.ok(express.request instanceof http.IncomingMessage);
    assert.ok(express.response instanceof http.ServerResponse);
});
