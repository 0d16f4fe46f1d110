// The end of an HTTP/2 reply leaves with the reply, whatever the client still has to send: its directions end each by itself.
// The reference is the compatibility API of node:http2, with the same client.
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { test } from "node:test";
import { connect, listening, until } from "./ask.mjs";

const require = createRequire(import.meta.url);
const http = require("leat/http");
const express = require("leat/express");

const WAIT_MS = 5000;
const PIECE_BYTES = 64 * 1024;
const LIMIT_BYTES = 1024;

const makers = {
    "leat/http": (handler) => http.createServer({ http2: true }, handler),
    "node:http2": (handler) => http2.createServer(handler),
};

/** A client's session with a server of `handler`. */
async function session(t, create, handler) {
    const server = create(handler);
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`);
    t.after(() => {
        client.destroy();
        server.close();
    });
    return client;
}

/** A request that has begun to send its body; gives the stream and what comes of the reply until its end. */
function begun(client, path = "/", piece = "one ") {
    const stream = client.request({ ":method": "POST", ":path": path }, { endStream: false });
    const reply = { body: "" };
    stream.setEncoding("utf8");
    stream.on("response", (headers) => (reply.status = headers[":status"]));
    stream.on("trailers", (fields) => (reply.trailers = Object.fromEntries(Object.entries(fields))));
    stream.on("data", (part) => (reply.body += part));
    stream.write(piece);
    return { stream, ended: once(stream, "end", { signal: AbortSignal.timeout(WAIT_MS) }).then(() => reply) };
}

/** Resolves to the error code that a stream is closed with. */
async function closed(stream) {
    if (!stream.closed || !stream.destroyed) await once(stream, "close", { signal: AbortSignal.timeout(WAIT_MS) });
    return stream.rstCode;
}

const replies = {
    "in one": (res) => res.writeHead(413).end("too long"),
    "in one, with a listener": (res) => res.on("finish", () => {}).writeHead(413).end("too long"),
    "in pieces": (res) => {
        res.writeHead(413);
        res.write("too ");
        setImmediate(() => res.end("long"));
    },
    "without a body": (res) => res.writeHead(413).end(),
    "in one, with trailers": (res) => {
        res.writeHead(413, { trailer: "x-sum" });
        res.addTrailers({ "x-sum": "1" });
        res.end("too long");
    },
    "in pieces, with trailers": (res) => {
        res.writeHead(413);
        res.write("too ");
        setImmediate(() => {
            res.addTrailers({ "x-sum": "1" });
            res.end("long");
        });
    },
};

for (const [maker, create] of Object.entries(makers)) {
    for (const [how, answer] of Object.entries(replies)) {
        test(`${maker}: a reply ${how} ends before a request that somebody reads, which goes on`, async (t) => {
            let told;
            const all = new Promise((resolve) => (told = resolve));
            const client = await session(t, create, (req, res) => {
                let text = "";
                req.on("data", (part) => {
                    if (text === "") answer(res);
                    text += part;
                });
                req.on("end", () => told([text, req.complete]));
            });
            const { stream, ended } = begun(client);
            const reply = await ended;
            const body = how === "without a body" ? "" : "too long";
            assert.deepEqual([reply.status, reply.body, reply.trailers], [413, body, how.includes("trailers") ? { "x-sum": "1" } : undefined]);
            assert.equal(stream.closed, false);
            stream.end("two");
            assert.deepEqual(await all, ["one two", true]);
            assert.equal(await closed(stream), http2.constants.NGHTTP2_NO_ERROR);
        });
    }

    test(`${maker}: a reply to a request that nobody reads ends the stream without an error`, async (t) => {
        const client = await session(t, create, (req, res) => res.writeHead(413).end("too long"));
        const { stream, ended } = begun(client);
        assert.deepEqual(await ended, { status: 413, body: "too long" });
        assert.equal(await closed(stream), http2.constants.NGHTTP2_NO_ERROR);
    });

    test(`${maker}: a client that has its reply and goes ends the request`, async (t) => {
        let told;
        const all = new Promise((resolve) => (told = resolve));
        const client = await session(t, create, (req, res) => {
            const events = [];
            req.once("data", () => res.end("enough"));
            for (const name of ["aborted", "end"]) req.on(name, () => events.push(name));
            req.on("close", () => setImmediate(told, [...events, req.complete]));
        });
        const { ended } = begun(client);
        assert.equal((await ended).body, "enough");
        // Not by the stream alone, whose other direction newer Nodes end before they reset it.
        client.destroy();
        const events = await all;
        // node:http2 takes it for the end of a request that came whole.
        if (maker === "leat/http") assert.deepEqual(events, ["aborted", false]);
    });

    test(`${maker}: a request that is destroyed after its reply ends the stream without an error`, async (t) => {
        const client = await session(t, create, (req, res) => {
            req.once("data", () => res.end("enough", () => setImmediate(() => (req.stream ?? req.socket).destroy())));
        });
        const { stream, ended } = begun(client);
        assert.equal((await ended).body, "enough");
        assert.equal(await closed(stream), http2.constants.NGHTTP2_NO_ERROR);
    });

    test(`${maker}: what follows a reply is read as far as its reader reads`, async (t) => {
        const pieces = 64;
        let told;
        const all = new Promise((resolve) => (told = resolve));
        const client = await session(t, create, (req, res) => {
            let bytes = 0;
            req.once("data", () => {
                res.end("enough");
                req.pause();
                setTimeout(() => req.resume(), 50);
            });
            req.on("data", (part) => (bytes += part.length));
            req.on("end", () => told(bytes));
        });
        const { stream, ended } = begun(client, "/", "");
        const piece = Buffer.alloc(PIECE_BYTES, "x");
        for (let sent = 0; sent < pieces; sent++) stream.write(piece);
        assert.equal((await ended).body, "enough");
        stream.end();
        assert.equal(await all, pieces * PIECE_BYTES);
        assert.equal(await closed(stream), http2.constants.NGHTTP2_NO_ERROR);
    });
}

test("an Express app that refuses a body early is heard by a client that has not sent it all", async (t) => {
    const app = express();
    app.post("/", (req, res) => {
        let bytes = 0;
        req.on("data", (part) => {
            bytes += part.length;
            if (bytes > LIMIT_BYTES && !res.headersSent) res.status(413).send("too long");
        });
    });
    const client = await session(t, makers["leat/http"], app);
    const stream = client.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    stream.setEncoding("utf8");
    let body = "";
    stream.on("data", (part) => (body += part));
    stream.write(Buffer.alloc(2 * LIMIT_BYTES, " "));
    const [headers] = await once(stream, "response", { signal: AbortSignal.timeout(WAIT_MS) });
    await once(stream, "end", { signal: AbortSignal.timeout(WAIT_MS) });
    assert.deepEqual([headers[":status"], body, stream.closed], [413, "too long", false]);
    stream.end();
    assert.equal(await closed(stream), http2.constants.NGHTTP2_NO_ERROR);
});

for (const [how, answer, status, code] of [
    ["that has not left is an error reply", (res) => res.end("short"), 500, "NGHTTP2_NO_ERROR"],
    ["that has left is cut off", (res) => res.write("sh", () => setTimeout(() => res.end("ort"), 50)), 200, "NGHTTP2_INTERNAL_ERROR"],
]) {
    test(`a reply with fewer bytes than announced ${how}, and the request ends with it`, async (t) => {
        let told;
        const all = new Promise((resolve) => (told = resolve));
        const client = await session(t, makers["leat/http"], (req, res) => {
            req.once("data", () => answer(res.writeHead(200, { "content-length": 10 })));
            req.on("end", () => told("end")).on("close", () => told("close"));
        });
        const { stream, ended } = begun(client);
        ended.catch(() => {});
        const [headers] = await once(stream, "response", { signal: AbortSignal.timeout(WAIT_MS) });
        assert.equal(headers[":status"], status);
        assert.equal(await closed(stream).catch(() => stream.rstCode), http2.constants[code]);
        assert.equal(await all, "close");
    });
}

test("over HTTP/1.1 the same reply ends with the request, which is read to its end", async (t) => {
    let told;
    const all = new Promise((resolve) => (told = resolve));
    const server = await listening(t, http.createServer({ http2: true }, (req, res) => {
        let text = "";
        req.on("data", (part) => {
            if (text === "") res.writeHead(413, { "content-length": 8 }).end("too long");
            text += part;
        });
        req.on("end", () => told(text));
    }));
    const socket = connect(server);
    const reply = until(socket, "too long");
    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 7\r\n\r\none ");
    await reply;
    socket.write("two");
    assert.equal(await all, "one two");
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    socket.destroy();
});

test("streams that have ended are forgotten", async (t) => {
    const server = makers["leat/http"]((req, res) => {
        if (req.method === "GET") return res.end("at once");
        req.once("data", () => res.end("early"));
        return undefined;
    });
    const channels = server[Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === "leat.channels")];
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`);
    t.after(() => {
        client.destroy();
        server.close();
    });
    for (let i = 0; i < 10; i++) {
        const stream = client.request({ ":path": "/" }).resume();
        await closed(stream);
        const { stream: other, ended } = begun(client);
        await ended;
        assert.equal(channels.size, 2, "the connection's, and the open stream's");
        other.end();
        await closed(other);
    }
    await closed(client.request({ ":path": "/" }).resume());
    assert.equal(channels.size, 1, "the connection's");
});
