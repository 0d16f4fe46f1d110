// ws on both ends: attached to a server, and on its own behind 'upgrade' (noServer).
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import FayeWebSocket from "faye-websocket";
import { WebSocket, WebSocketServer, createWebSocketStream } from "ws";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, MIB];

suite("ws", ({ http, it }) => {
    const url = (peer, path = "/") => `ws://127.0.0.1:${peer.port}${path}`;

    /** An echo server that speaks both ways of attaching. */
    function echo(how, options = {}) {
        const server = http.createServer((request, response) => response.end("plain"));
        const sockets = new WebSocketServer(how === "attached" ? { server, ...options } : { noServer: true, ...options });
        if (how === "noServer") {
            server.on("upgrade", (request, socket, head) => {
                if (request.url === "/refused") return socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
                sockets.handleUpgrade(request, socket, head, (websocket) => sockets.emit("connection", websocket, request));
            });
        }
        sockets.on("connection", (websocket) => websocket.on("message", (data, binary) => websocket.send(data, { binary })));
        return { server, sockets };
    }

    async function opened(peer, options, path) {
        const websocket = new WebSocket(url(peer, path), options);
        await once(websocket, "open");
        return websocket;
    }

    for (const how of ["attached", "noServer"]) {
        it(`${how}: messages of every size, text and binary`, async ({ listen }) => {
            const peer = await listen(echo(how).server);
            const websocket = await opened(peer);
            for (const size of SIZES) {
                const sent = bytesOf(size);
                websocket.send(sent);
                const [back, binary] = await once(websocket, "message");
                assert.deepEqual([binary, back.length, digest(back)], [true, size, digest(sent)]);
                websocket.send("é".repeat(size / 2));
                const [text, isBinary] = await once(websocket, "message");
                assert.deepEqual([isBinary, String(text) === "é".repeat(size / 2)], [false, true]);
            }
            websocket.close(1000, "done");
            const [code, reason] = await once(websocket, "close");
            assert.deepEqual([code, String(reason)], [1000, "done"]);
        });

        it(`${how}: plain requests beside the sockets`, async ({ listen }) => {
            const peer = await listen(echo(how).server);
            const websocket = await opened(peer);
            assert.equal((await peer.get("/")).text, "plain");
            websocket.send("still there");
            assert.equal(String((await once(websocket, "message"))[0]), "still there");
            websocket.terminate();
            await once(websocket, "close");
            assert.equal((await peer.get("/")).text, "plain");
        });
    }

    it("faye-websocket on the server: it takes the socket and the head", async ({ listen }) => {
        const server = http.createServer((request, response) => response.end("plain"));
        server.on("upgrade", (request, socket, head) => {
            const websocket = new FayeWebSocket(request, socket, head);
            websocket.on("message", (event) => websocket.send(event.data));
        });
        const websocket = await opened(await listen(server));
        for (const size of SIZES) {
            websocket.send(bytesOf(size));
            assert.equal(digest((await once(websocket, "message"))[0]), digest(bytesOf(size)));
        }
        websocket.close(1000, "done");
        assert.deepEqual(await once(websocket, "close"), [1000, Buffer.from("done")]);
    });

    it("permessage-deflate", async ({ listen }) => {
        const peer = await listen(echo("attached", { perMessageDeflate: { threshold: 0 } }).server);
        const websocket = await opened(peer, { perMessageDeflate: true });
        assert.match(websocket.extensions, /permessage-deflate/);
        for (const size of SIZES) {
            websocket.send("ab".repeat(size));
            assert.equal(String((await once(websocket, "message"))[0]), "ab".repeat(size));
        }
        websocket.close();
        await once(websocket, "close");
    });

    it("close codes that the server sends, and those that the client sends", async ({ listen }) => {
        const { server, sockets } = echo("attached");
        const peer = await listen(server);
        for (const [code, reason] of [[1000, ""], [1001, "going away"], [1011, "failed"], [3000, "own"], [4999, "last"]]) {
            sockets.once("connection", (websocket) => websocket.close(code, reason));
            const closing = await opened(peer);
            const [seen, why] = await once(closing, "close");
            assert.deepEqual([seen, String(why)], [code, reason]);

            const accepted = once(sockets, "connection");
            const client = await opened(peer);
            const [other] = await accepted;
            client.close(code, reason);
            const [got, text] = await once(other, "close");
            assert.deepEqual([got, String(text)], [code, reason]);
        }
        sockets.once("connection", (websocket) => websocket.terminate());
        const terminated = new WebSocket(url(peer));
        const [code] = await once(terminated, "close");
        assert.equal(code, 1006);
    });

    it("a message above maxPayload closes with 1009", async ({ listen }) => {
        const { server, sockets } = echo("attached", { maxPayload: 1000 });
        const failed = deferred();
        sockets.on("connection", (websocket) => websocket.on("error", (error) => failed.resolve(error.code)));
        const peer = await listen(server);
        const websocket = await opened(peer);
        websocket.send(Buffer.alloc(1001));
        assert.equal((await once(websocket, "close"))[0], 1009);
        assert.equal(await failed.promise, "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH");
    });

    it("refused upgrades: a reply by hand, a wrong path, a wrong handshake", async ({ listen }) => {
        const refused = new WebSocket(url(await listen(echo("noServer").server), "/refused"));
        const [, response] = await once(refused, "unexpected-response");
        assert.equal(response.statusCode, 403);
        response.resume();
        await once(response, "end");
        assert.ok(response.complete);

        const peer = await listen(echo("attached", { path: "/only" }).server);
        const [, wrong] = await once(new WebSocket(url(peer, "/other")), "unexpected-response");
        assert.equal(wrong.statusCode, 400);
        wrong.destroy();
        const bytes = await peer.raw("GET /only HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n");
        assert.match(bytes, /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text\/html\r\nContent-Length: 43\r\n\r\nMissing or invalid Sec-WebSocket-Key header$/);
        assert.match(await peer.raw("POST /only HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n"), /^HTTP\/1\.1 405 /);
    });

    it("verifyClient, protocols, and fields of the handshake", async ({ listen }) => {
        const { server, sockets } = echo("attached", {
            verifyClient: ({ req }, done) => (req.headers["x-token"] === "right" ? done(true) : done(false, 401, "Unauthorized", { "x-why": "token" })),
            handleProtocols: (protocols) => (protocols.has("two") ? "two" : false),
        });
        sockets.on("headers", (headers) => headers.push("x-extra: yes"));
        const peer = await listen(server);
        const [, response] = await once(new WebSocket(url(peer)), "unexpected-response");
        assert.deepEqual([response.statusCode, response.headers["x-why"]], [401, "token"]);
        response.destroy();
        const websocket = new WebSocket(url(peer), ["one", "two"], { headers: { "x-token": "right" } });
        const [[upgrade]] = await Promise.all([once(websocket, "upgrade"), once(websocket, "open")]);
        assert.equal(upgrade.headers["x-extra"], "yes");
        assert.equal(websocket.protocol, "two");
        websocket.close();
        await once(websocket, "close");
    });

    it("frames that come in the same write as the handshake", async ({ listen }) => {
        const peer = await listen(echo("attached").server);
        const socket = net.connect(peer.port, "127.0.0.1");
        const hello = Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from("hello")]);
        socket.write(Buffer.concat([Buffer.from("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"), hello, hello]));
        let seen = "";
        for await (const chunk of socket) {
            seen += chunk.toString("latin1");
            if (seen.split("\x81\x05hello").length === 3) break;
        }
        assert.match(seen, /^HTTP\/1\.1 101 Switching Protocols\r\n(.*\r\n)*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n\r\n\x81\x05hello\x81\x05hello$/);
    });

    it("ping, pong, and 2000 messages in both directions at once", async ({ listen }) => {
        const { server, sockets } = echo("attached");
        const peer = await listen(server);
        const accepted = once(sockets, "connection");
        const websocket = await opened(peer);
        const [other] = await accepted;
        websocket.ping("are you there");
        assert.equal(String((await once(websocket, "pong"))[0]), "are you there");
        other.ping();
        await once(other, "pong");

        const count = 2000;
        const got = { client: [], server: [] };
        const done = deferred();
        const check = () => got.client.length === 2 * count && got.server.length === count && done.resolve();
        other.on("message", (data) => got.server.push(String(data)) && check());
        websocket.on("message", (data) => got.client.push(String(data)) && check());
        for (let at = 0; at < count; at += 1) {
            websocket.send(`c${at}`);
            other.send(`s${at}`);
        }
        await done.promise;
        const expected = (letter) => Array.from({ length: count }, (_, at) => `${letter}${at}`);
        assert.deepEqual(got.server, expected("c"));
        assert.deepEqual(got.client.filter((text) => text.startsWith("c")), expected("c"));
        assert.deepEqual(got.client.filter((text) => text.startsWith("s")), expected("s"));
        websocket.close();
        await once(websocket, "close");
    });

    it("a stream of 8 MiB with backpressure", async ({ listen }) => {
        const { server, sockets } = echo("attached");
        sockets.removeAllListeners("connection");
        sockets.on("connection", (websocket) => {
            const duplex = createWebSocketStream(websocket);
            duplex.pipe(duplex);
        });
        const peer = await listen(server);
        const duplex = createWebSocketStream(await opened(peer));
        const large = bytesOf(8 * MIB);
        const back = [];
        let missing = large.length;
        // The closing frame may overtake what the server has not echoed yet, whoever serves, so it waits for the last byte.
        duplex.on("data", (chunk) => {
            back.push(chunk);
            missing -= chunk.length;
            if (missing === 0) duplex.end();
        });
        for (const piece of pieces(large, 100_000)) if (!duplex.write(piece)) await once(duplex, "drain");
        await once(duplex, "end");
        assert.equal(digest(Buffer.concat(back)), digest(large));
    });

    it("the socket of an upgraded request", async ({ listen }) => {
        const { server, sockets } = echo("attached");
        const peer = await listen(server);
        const accepted = once(sockets, "connection");
        const websocket = await opened(peer);
        const [other, request] = await accepted;
        assert.equal(request.socket.remoteAddress, "127.0.0.1");
        assert.ok(request.socket instanceof net.Socket);
        assert.equal(other._socket, request.socket);
        assert.ok(request instanceof http.IncomingMessage);
        // A connection that fails without a closing handshake.
        websocket._socket.destroy();
        assert.equal((await once(other, "close"))[0], 1006);
    });

    it("server.close() waits for the sockets, and they go on until then", async ({ listen }) => {
        const { server, sockets } = echo("attached");
        const peer = await listen(server);
        const websocket = await opened(peer);
        let closed = false;
        server.close(() => (closed = true));
        websocket.send("during");
        assert.equal(String((await once(websocket, "message"))[0]), "during");
        assert.equal(closed, false);
        const gone = once(server, "close");
        for (const client of sockets.clients) client.close(1001);
        assert.equal((await once(websocket, "close"))[0], 1001);
        await gone;
    });
});
