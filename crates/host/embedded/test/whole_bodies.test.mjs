// Bodies that come with their head are told in the same step. What a program sees of them is what it sees of one that comes later: each
// request is sent in one piece and in two, and the replies are the same to a byte.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { folder, start } from "./started.mjs";

const APP = `
const express = require("express");
const { AsyncLocalStorage } = require("node:async_hooks");
const storage = new AsyncLocalStorage();
const app = express();
app.set("env", "test");
app.set("etag", false);
const seen = (request, response) => response.json({ body: request.body ?? "none", has: "body" in request, complete: request.complete, ended: request.readableEnded, destroyed: request.destroyed, own: Object.keys(request.body ?? {}) });
app.post("/json", express.json(), seen);
app.post("/loose", express.json({ strict: false }), seen);
app.post("/short", express.json({ limit: 10 }), seen);
app.post("/verified", express.json({ verify(request, response, bytes, encoding) { request.raw = bytes.toString("hex") + encoding; } }), (request, response) => response.json([request.body, request.raw]));
app.post("/revived", express.json({ reviver: (key, value) => (typeof value === "number" ? value + 1 : value) }), seen);
app.post("/typed", express.json({ type: "*/*" }), seen);
app.post("/twice", express.json(), express.json(), seen);
app.post("/after", (request, response, next) => { request.headers; next(); }, express.json(), seen);
app.post("/form", express.urlencoded({ extended: true }), seen);
app.post("/text", express.text(), seen);
app.post("/raw", express.raw({ type: "*/*" }), (request, response) => response.json([Buffer.isBuffer(request.body), request.body?.toString?.("hex")]));
app.post("/order", (request, response, next) => {
    const said = ["call"];
    request.said = said;
    next();
    said.push("called");
    Promise.resolve().then(() => said.push("microtask"));
    process.nextTick(() => said.push("tick"));
}, express.json(), (request, response) => { request.said.push("parsed"); response.json(request.said); });
app.post("/context", (request, response, next) => storage.run({ a: 1 }, next), express.json(), (request, response) => response.json([storage.getStore() ?? null]));
app.post("/async", express.json(), async (request, response) => { await null; response.json(request.body); });
app.post("/later", express.json(), (request, response) => { setImmediate(() => response.json([request.body, request.complete])); });
app.post("/afterwards", (request, response, next) => { setImmediate(next); }, express.json(), seen);
app.post("/events", (request, response) => {
    const said = [];
    for (const name of ["data", "end", "close", "error", "aborted"]) request.on(name, (bytes) => said.push(name + (bytes ?? "")));
    request.on("end", () => response.json(said));
});
app.post("/iterated", async (request, response) => { let text = ""; for await (const piece of request) text += piece; response.json(text); });
app.post("/paused", (request, response) => { request.pause(); setImmediate(() => { request.on("data", (bytes) => response.end(bytes)); request.resume(); }); });
app.post("/readable", (request, response) => { request.setEncoding("utf8"); request.on("readable", () => { const text = request.read(); if (text !== null) response.end(text); }); });
app.post("/piped", (request, response) => { request.pipe(response); });
app.post("/unread", (request, response) => { response.end("unread"); });
app.post("/early", (request, response) => { request.resume(); response.end("early"); });
app.post("/socket", express.json(), (request, response) => { request.socket; seen(request, response); });
app.post("/thrown", express.json(), () => { throw Object.assign(new Error("thrown"), { status: 418, type: "mine" }); });
// eslint-disable-next-line no-unused-vars -- Express tells a handler of errors by its four arguments
app.use((error, request, response, next) => response.status(error.status ?? 500).json({ type: error.type, name: error.name, message: error.message, body: error.body, expected: error.expected, limit: error.limit, charset: error.charset, encoding: error.encoding }));
app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

/** A server that does not close a connection by then has forgotten it: what came is compared all the same. */
const CLOSE_MS_MAX = 5_000;
const JSON_TYPE = "Content-Type: application/json";
const bytes = (...all) => Buffer.from(all);
const BODIES = [
    '{"a":1}', "[1,2]", "{}", "[]", ' {"a":1}', '{"a":1} ', "1", '"text"', "null", "true", "", "x", '{"a":', '{"a":1}}', '{"a":1,"a":2}',
    '{"__proto__":{"a":1}}', '{"a":"\\ud800"}', '{"a":"ü€😀"}', "{\"a\":1e400,\"b\":-0,\"c\":12345678901234567890}", '{"a":"\u0000"}', '{"a":1}\u0000', "[".repeat(3000),
    `{"a":"${"x".repeat(20_000)}"}`, '\ufeff{"a":1}', "\ufeff1", "-", "[1,]", "{'a':1}", "NaN",
];
const CASES = [
    ...BODIES.flatMap((body) => ["/json", "/loose", "/short"].map((path) => [path, [JSON_TYPE], body])),
    ...[bytes(0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d), bytes(0x5b, 0xc3, 0x5d), bytes(0xff), bytes(0, 0)].flatMap((body) => ["/json", "/loose", "/text", "/raw"].map((path) => [path, [JSON_TYPE], body])),
    ...["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON", "application/json; charset=utf-16", "application/json; charset=latin1", "application/json; charset=none", "application/json ;charset=utf-8", "application/json; a=b", "application/vnd.api+json", "text/json", "text/plain", "", "nonsense", "application/jsonx"]
        .flatMap((type) => ["/json", "/typed", "/text", "/form"].map((path) => [path, [`Content-Type: ${type}`], '{"a":1}'])),
    ["/json", [], '{"a":1}'],
    ["/json", [JSON_TYPE, "Content-Encoding: identity"], '{"a":1}'],
    ["/json", [JSON_TYPE, "Content-Encoding: gzip"], gzipSync('{"a":1}')],
    ["/json", [JSON_TYPE, "Content-Encoding: none"], '{"a":1}'],
    ["/json", [JSON_TYPE, "Content-Type: text/plain"], '{"a":1}'],
    ["/json", ["Content-Type: text/plain", JSON_TYPE], '{"a":1}'],
    ["/form", ["Content-Type: application/x-www-form-urlencoded"], "a=1&b[c]=2"],
    ["/text", ["Content-Type: text/plain"], "text"],
    ...["/verified", "/revived", "/typed", "/twice", "/after", "/raw", "/order", "/context", "/async", "/later", "/afterwards", "/events", "/iterated", "/paused", "/readable", "/piped", "/unread", "/early", "/socket", "/thrown"]
        .map((path) => [path, [JSON_TYPE], '{"a":1,"b":"text"}']),
    ["/verified", [JSON_TYPE], "{"],
    ["/iterated", [JSON_TYPE], "x".repeat(60_000)],
    ["/iterated", [JSON_TYPE], "x".repeat(64 * 1024)],
    ["/iterated", [JSON_TYPE], "x".repeat(70_000)],
];

/** What comes back until the server closes, for `parts` that are sent one after the other; `Date` masked. */
async function exchange(port, parts) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const chunks = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    // Who does not read the body may be gone before it is sent.
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.on("close", resolve));
    await once(socket, "connect");
    for (const part of parts) {
        if (typeof part === "function") await part();
        else socket.write(part);
    }
    const late = setTimeout(() => socket.destroy(), CLOSE_MS_MAX);
    await closed;
    clearTimeout(late);
    return Buffer.concat(chunks).toString("latin1").replace(/Date: [^\r]*/g, "Date: *");
}

/** Time in which a head that was sent alone has surely been read: another connection was served meanwhile. */
const served = (port) => () => exchange(port, ["GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"]);

const headOf = ([path, fields, body], connection) => `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields.map((field) => `${field}\r\n`).join("")}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: ${connection}\r\n\r\n`;

test("a body is the same to the program whether it comes with its head or behind it", async (t) => {
    const port = await start(t, folder(t, { "app.cjs": APP }), ["app.cjs"]).port();
    for (const one of CASES) {
        const head = Buffer.from(headOf(one, "close"));
        const body = Buffer.from(one[2]);
        const whole = await exchange(port, [Buffer.concat([head, body])]);
        const behind = await exchange(port, body.length === 0 ? [head] : [head, served(port), body]);
        assert.equal(whole, behind, `${one[0]} ${one[1].join(", ")} ${body.toString("latin1").slice(0, 60)}`);
        assert.match(whole, /^HTTP\/1\.1 [245]\d\d /, one[0]);
    }
});

test("requests with bodies are answered in their order on one connection", async (t) => {
    const port = await start(t, folder(t, { "app.cjs": APP }), ["app.cjs"]).port();
    const paths = ["/json", "/async", "/later", "/unread", "/events", "/early", "/piped", "/thrown", "/json"];
    const parts = paths.map((path, at) => [path, [JSON_TYPE], `{"at":${at},"text":"${path}"}`]);
    const together = await exchange(port, [parts.map((one, at) => headOf(one, at === parts.length - 1 ? "close" : "keep-alive") + one[2]).join("")]);
    const alone = [];
    for (const one of parts) alone.push(await exchange(port, [headOf(one, "close") + one[2]]));
    const bare = (text) => text.replace(/Connection: [^\r]*\r\n(Keep-Alive: [^\r]*\r\n)?/g, "");
    assert.equal(bare(together), bare(alone.join("")));
});

test("a client that goes before its body is complete is an error to the program", async (t) => {
    const app = `
        const express = require("express");
        const app = express();
        app.post("/", (request, response, next) => (console.log("called"), next()), express.json(), () => console.log("parsed"));
        app.get("/", (request, response) => response.end("alive"));
        // eslint-disable-next-line no-unused-vars -- as above
        app.use((error, request, response, next) => console.log("error", error.type, error.status, error.message, error.received, error.expected));
        app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });`;
    const program = start(t, folder(t, { "app.cjs": app }), ["app.cjs"]);
    const port = await program.port();
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}\r\nContent-Length: 7\r\n\r\n{"a"`);
    await program.line(/called/);
    socket.destroy();
    const [said] = await program.line(/error .*/);
    assert.equal(said, "error request.aborted 400 request aborted 4 7");
});

test("replies that come in a microtask leave nothing behind", async (t) => {
    const app = `
        const { createServer } = require("node:http");
        const refs = [];
        createServer(async (request, response) => {
            if (request.url === "/left") return response.end(String((gc(), refs.filter((ref) => ref.deref() !== undefined).length)));
            refs.push(new WeakRef(response));
            await null;
            response.end("x");
        }).listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });`;
    const port = await start(t, folder(t, { "app.cjs": app }), ["app.cjs", "--expose-gc"]).port();
    const requests = "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx".repeat(50);
    const replies = await exchange(port, [`${requests}GET /left HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`]);
    const left = Number(/(\d+)$/.exec(replies)[1]);
    assert.equal(replies.split("HTTP/1.1 200 OK").length - 1, 101);
    // The last reply of the connection may still be at hand.
    assert.ok(left <= 1, `${left} responses are kept`);
});
