// Connections that leave HTTP, and clients that leave.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
import { connect, ended, listening, until } from "./ask.mjs";

const require = createRequire(import.meta.url);
const http = require("leat/http");

const UPGRADE = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n";
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n";

test("an upgraded socket is a duplex stream, and its head has what came behind the request", async (t) => {
    const server = await listening(t, http.createServer());
    server.on("upgrade", (req, socket, head) => {
        socket.write(SWITCH + head.toString().toUpperCase());
        socket.pipe(socket);
    });
    const socket = connect(server);
    socket.write(`${UPGRADE}head`);
    await until(socket, "HEAD");
    socket.write("echo");
    await until(socket, "echo");
    const rest = ended(socket);
    socket.end("last");
    assert.equal(await rest, "last");
});

test("long data both ways over an upgraded socket arrives whole", async (t) => {
    const server = await listening(t, http.createServer());
    server.on("upgrade", (req, socket) => {
        socket.write(SWITCH);
        socket.pipe(socket);
    });
    const socket = connect(server);
    socket.write(UPGRADE);
    await until(socket, "\r\n\r\n");
    const rest = ended(socket);
    const sent = "0123456789abcdef".repeat(125_000);
    socket.end(sent);
    assert.equal((await rest) === sent, true);
});

test("a client that goes is told to the request and the reply at once", async (t) => {
    const server = await listening(t, http.createServer());
    const events = [];
    server.on("request", (req, res) => {
        req.on("aborted", () => events.push("aborted"));
        req.on("close", () => events.push("req close"));
        res.on("close", () => server.emit("gone", events.push("res close")));
    });
    const socket = connect(server);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(server, "request");
    socket.destroy();
    await once(server, "gone");
    assert.ok(events.includes("aborted"), events.join());
});

test("a method that Node does not know is a 'clientError'", async (t) => {
    const server = await listening(t, http.createServer(() => assert.fail("no request")));
    const socket = connect(server);
    socket.write("FROB / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.equal(await ended(socket), "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    server.on("clientError", (error, peer) => peer.end(`HTTP/1.1 400 ${error.code}\r\n\r\n`));
    const other = connect(server);
    other.write("FROB / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.match(await ended(other), /^HTTP\/1\.1 400 HPE_INVALID_METHOD/);
});
