// A client that ends its side right behind its request is answered, as by Node, whatever the listener waits for that needs no turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "leat/http";
import { connect, ended, listening } from "./ask.mjs";

const listeners = [
    ["at once", (_request, response) => void response.end("answered")],
    ["after the next tick", (_request, response) => void process.nextTick(() => response.end("answered"))],
    ["after a promise", async (_request, response) => void response.end(await Promise.resolve("answered"))],
    ["after the body", async (request, response) => {
        for await (const part of request) void part;
        response.end("answered");
    }],
];

for (const [name, listener] of listeners) {
    // Node answers the half request too, with 400; here the end is told with the first one, and nobody is left to answer.
    for (const [what, more] of [["one request", ""], ["a request and half of one", "GET / HT"]]) {
        test(`${what}, answered ${name}`, { timeout: 30_000 }, async (t) => {
            const server = await listening(t, createServer(listener));
            const socket = connect(server);
            socket.end(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${more}`);
            const text = await ended(socket);
            assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*answered/);
            assert.equal(text.split("HTTP/1.1 200").length - 1, 1, text);
        });
    }
}
