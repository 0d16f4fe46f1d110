// Connections: what peers do, and what a call makes of it, whichever connection it has.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTcp } from "node:net";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";
import { leat, Transport, undici } from "leat/transport";
import { bodyOf, echo, served } from "./made.mjs";

const CONNECTIONS = { undici, leat };
/** What they say of a port where nobody listens. */
const REFUSED = { undici: /ECONNREFUSED/, leat: /upstream\.connect: / };

/** A server that writes bytes when a request has come, and does as it is told with the socket. */
async function raw(t, connection, answer) {
    const sockets = new Set();
    const server = createTcp((socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined).once("data", () => answer(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, limits: { rawBytesMax: 1000 }, connection });
    t.after(async () => {
        await transport.close();
        for (const socket of sockets) socket.destroy();
        server.close();
    });
    return transport;
}

const OK = "HTTP/1.1 200 OK\r\n";

const FAILURES = [
    ["a connection that is reset", (socket) => socket.resetAndDestroy(), "connection.broken", "broken"],
    ["a connection that is closed without a word", (socket) => socket.end(), "connection.broken", "broken"],
    ["a body that ends early", (socket) => socket.end(`${OK}content-length: 10\r\n\r\nabc`), "connection.broken", "broken"],
    ["chunks that end early", (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`), "connection.broken", "broken"],
    ["what is no HTTP", (socket) => socket.end("220 hunter2 ESMTP\r\n"), "connection.protocol", "broken"],
    ["a header that is none", (socket) => socket.end(`${OK}no colon\r\n\r\n`), "connection.protocol", "broken"],
    ["headers without end", (socket) => socket.end(`${OK}a: ${"a".repeat(100_000)}\r\n\r\n`), "connection.protocol", "broken"],
    ["a length beyond the limit, before its body comes", (socket) => socket.write(`${OK}content-length: 1001\r\n\r\n`), "response.limit", "other"],
    ["a body beyond the limit", (socket) => socket.write(`${OK}transfer-encoding: chunked\r\n\r\n3e9\r\n${"a".repeat(1001)}`), "response.limit", "other"],
];

const ANSWERS = [
    ["a body of exactly the limit", `${OK}content-length: 1000\r\n\r\n${"a".repeat(1000)}`, 200, 1000],
    ["a body until the connection ends", `${OK}\r\nabc`, 200, 3],
    ["a status before the status", `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}content-length: 1\r\n\r\na`, 200, 1],
    ["no body by its status", "HTTP/1.1 204 No Content\r\n\r\n", 204, 0],
    ["trailers", `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n`, 200, 1],
];

for (const [by, connection] of Object.entries(CONNECTIONS)) {
    for (const [name, answer, code, kind] of FAILURES) {
        for (const as of ["auto", "stream"]) {
            test(`${by}: ${name}: ${code}, read as ${as}`, async (t) => {
                const transport = await raw(t, connection(), answer);
                const read = async () => {
                    const { body } = await transport.request({ path: "/", as });
                    if (as === "stream") await bodyOf(body);
                };
                await assert.rejects(read(), (error) => {
                    assert.equal(error.name, "TransportError");
                    assert.equal(error.code, code);
                    assert.equal(error.kind, kind);
                    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /hunter2/, "what came is not told");
                    if (code === "response.limit") assert.equal(error.limit, "rawBytesMax");
                    return true;
                });
            });
        }
    }

    test(`${by}: a port where nobody listens: nothing was sent`, async () => {
        const server = createTcp();
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        const { port } = server.address();
        await new Promise((resolve) => server.close(resolve));
        const transport = new Transport({ nodes: `http://127.0.0.1:${port}`, connection: connection() });
        await assert.rejects(transport.request({ path: "/" }), (error) => {
            assert.equal(error.code, "connection.failed");
            assert.equal(error.kind, "not_sent");
            assert.match(error.message, REFUSED[by]);
            assert.deepEqual(error.attempts.map(({ node, status, code }) => [node, status, code]), [[`http://127.0.0.1:${port}`, undefined, "connection.failed"]]);
            return true;
        });
        assert.equal(transport.nodes()[0].state, "dead");
        await transport.close();
    });

    for (const [name, bytes, status, length] of ANSWERS) {
        test(`${by}: ${name}`, async (t) => {
            const transport = await raw(t, connection(), (socket) => socket.end(bytes));
            const response = await transport.request({ path: "/", as: "bytes" });
            assert.equal(response.status, status);
            assert.equal(response.body.length, length);
        });
    }

    test(`${by}: a header that stands twice comes as an array; names come in lower case`, async (t) => {
        const transport = await raw(t, connection(), (socket) => socket.end(`${OK}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-One: 1\r\ncontent-length: 0\r\n\r\n`));
        const { headers } = await transport.request({ path: "/" });
        assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
        assert.equal(headers["x-one"], "1");
    });

    test(`${by}: what is sent: method, path with prefix and query, headers of both`, async (t) => {
        const { origin } = await served(t, echo);
        const transport = new Transport({ nodes: `${origin}/prefix/`, headers: { "user-agent": "me", "x-a": "a", "x-b": "b" }, connection: connection() });
        t.after(() => transport.close());
        const querystring = Object.freeze({ q: "a&b", list: [1, true, 3n], none: undefined, nothing: null });
        const { body } = await transport.request({ method: "DELETE", path: "/a?b=c", querystring, headers: { "X-A": 1, "x-b": undefined, "x-many": ["1", "2"] } });
        assert.equal(body.method, "DELETE");
        assert.equal(body.url, "/prefix/a?b=c&q=a%26b&list=1&list=true&list=3");
        assert.deepEqual([body.headers["user-agent"], body.headers["x-a"], body.headers["x-b"], body.headers["x-many"]], ["me", "1", undefined, "1, 2"]);
        assert.deepEqual(querystring, { q: "a&b", list: [1, true, 3n], none: undefined, nothing: null });
    });

    test(`${by}: HEAD has a length and no body`, async (t) => {
        const { transport } = await served(t, (_request, response) => response.setHeader("content-length", 1e9).end(), { connection: connection() });
        const { status, headers, body } = await transport.request({ method: "HEAD", path: "/" });
        assert.deepEqual([status, headers["content-length"], body], [200, "1000000000", undefined]);
    });

    test(`${by}: connections are kept, and no more are opened than is allowed`, async (t) => {
        let open = 0;
        let most = 0;
        let made = 0;
        const server = createServer((_request, response) => setImmediate(() => response.end("a")));
        server.on("connection", (socket) => {
            made++;
            most = Math.max(most, ++open);
            socket.on("close", () => open--);
        });
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, connection: connection({ connections: 3 }) });
        t.after(async () => {
            await transport.close();
            server.close();
        });
        for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, () => transport.request({ path: "/" })));
        assert.equal(most, 3);
        assert.equal(made, 3);
    });

    test(`${by}: a call that waits for a connection ends at its time, and is never sent`, async (t) => {
        const seen = [];
        let arrived;
        const first = new Promise((resolve) => (arrived = resolve));
        const { origin } = await served(t, (request, response) => {
            seen.push(request.url);
            if (request.url === "/first") arrived(response);
            else response.end();
        });
        const transport = new Transport({ nodes: origin, connection: connection({ connections: 1 }) });
        t.after(() => transport.close());
        const answered = transport.request({ path: "/first" });
        const response = await first;
        await assert.rejects(transport.request({ path: "/second", timeoutMs: 50 }), { code: "call.deadline" });
        // What is under way when a call ends may still be sent. A call of somebody else's comes behind its end.
        const other = new Transport({ nodes: origin, connection: connection() });
        await other.request({ path: "/other" });
        await other.close();
        response.end();
        await answered;
        await transport.request({ path: "/third" });
        assert.deepEqual(seen, ["/first", "/other", "/third"]);
    });

    test(`${by}: a request is never sent a second time by the connection itself`, async (t) => {
        let seen = 0;
        const { transport } = await served(t, (request) => {
            seen++;
            request.socket.destroy();
        }, { connection: connection() });
        await assert.rejects(transport.request({ path: "/" }), { code: "connection.broken" });
        assert.equal(seen, 1);
    });

    test(`${by}: an early answer to a stream that is still being sent is the answer`, async (t) => {
        const { transport } = await served(t, (_request, response) => response.writeHead(413).end("no"), { connection: connection() });
        async function* endless() {
            for (let at = 0; at < 10_000; at++) yield Buffer.alloc(65_536);
        }
        const result = await transport.request({ method: "POST", path: "/", body: endless(), timeoutMs: 10_000 }).then(({ status }) => status, ({ code }) => code);
        // The peer answers and closes; whether the answer is read before the write fails is the network's.
        assert.ok(result === 413 || result === "connection.broken", String(result));
    });
}
