// Answers each request by what its URL says: pairs of hexadecimal digits, the first for what to do, the second for with what. Among it is
// what no program does: the engine's own notes on a message replaced by anything. Native code reads these on the way of a reply.
"use strict";
const express = require("express");

const circle = {};
circle.circle = circle;
const deep = JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`);
const VALUES = [
    "", "text", "\u00fc\u20ac\ud83d\ude00", "\ud800", "a\u0000b", 0, -0, 1.5, NaN, 1e21, 2 ** 31, -1, true, false, null, undefined, {}, [], { a: [1, { b: "\u2028" }] },
    { toJSON: () => ({ made: 1 }) }, { get a() { return 1; } }, { get a() { throw new Error("a"); } }, { toJSON() { throw new Error("toJSON"); } }, new Date(0), Buffer.from("bytes"), new Uint8Array(3), Buffer.alloc(0),
    Object.assign(Object.create(null), { a: 1 }), new Map([[1, 2]]), Symbol("s"), 10n, circle, new Array(3), new Proxy({ a: 1 }, {}), new Proxy([], { get() { throw new Error("proxy"); } }),
    "x".repeat(70_000), JSON.parse('{"__proto__":{"a":1}}'), deep, new (class A { b = 1; })(), new String("boxed"), new Number(1), new Uint16Array(2), new ArrayBuffer(3), () => 1, /r/, new Error("e"),
];
const NAMES = ["etag", "ETag", "Content-Type", "content-length", "Transfer-Encoding", "connection", "Date", "X-Powered-By", "a", "Set-Cookie", "Trailer", "keep-alive", "__proto__", "constructor"];
const TEXTS = ["1", "chunked", "close", "text/plain", "application/json", "W/\"a\"", "\u00fc", "", "0", "17", "x".repeat(300), "keep-alive"];
const STATUSES = [200, 200, 200, 201, 204, 304, 404, 500, 999, 100, 101, 0, -1, 200.5, "200", NaN, 2 ** 31, null];
/** What the host keeps on messages (`serve/names.rs` reads it). */
const NOTES = [
    "_exchange", "_line", "_keepAliveTimeout", "_headers", "_unread", "_header", "_events", "_eventsCount", "statusCode", "statusMessage", "finished", "destroyed", "_last", "_raw", "_corked", "_bodyDone", "complete",
    "_res", "req", "_hasBody", "sendDate", "shouldKeepAlive", "headers", "toJSON", "writeHead", "setHeader", "getHeader", "end", "_implicitHeader", "_storeHeader", "socket", "_taker", "_window", "app", "url", "method",
];
const FIELD_MAPS = [{ a: ["a", "1"] }, { a: ["a"] }, { a: [] }, { a: 1 }, { a: [{}, {}] }, { a: ["a", Symbol("s")] }, { get a() { throw new Error("a"); } }, new Proxy({ a: ["a", "b"] }, {}), { a: ["a\r\nb", "c"] }, [["a", "b"]], { 1: ["one", 1] }];

const at = (list, number) => list[number % list.length];
const DO = [
    (req, res, n) => res.json(at(VALUES, n)),
    (req, res, n) => res.send(at(VALUES, n)),
    (req, res, n) => res.end(at(VALUES, n)),
    (req, res, n) => res.write(at(VALUES, n)),
    (req, res, n) => res.setHeader(at(NAMES, n), at(TEXTS, n >> 3)),
    (req, res, n) => res.set(at(NAMES, n), at(VALUES, n >> 1)),
    (req, res, n) => res.removeHeader(at(NAMES, n)),
    (req, res, n) => (res.statusCode = at(STATUSES, n)),
    (req, res, n) => res.status(at(STATUSES, n)),
    (req, res, n) => (res.statusMessage = at(TEXTS, n)),
    (req, res, n) => res.writeHead(at(STATUSES, n), { [at(NAMES, n >> 2)]: at(TEXTS, n >> 4) }),
    (req, res, n) => (n & 1 ? res.cork() : res.uncork()),
    (req, res, n) => at([req, res], n).on(at(["finish", "close", "end", "data", "error", "prefinish"], n >> 1), () => undefined),
    (req, res, n) => void (n & 1 ? res.flushHeaders() : res.writeContinue()),
    (req, res, n) => void (at([req, res], n)[at(NOTES, n >> 1)] = at(VALUES, n * 7)),
    (req, res, n) => void Object.defineProperty(at([req, res], n), at(NOTES, n >> 1), { configurable: true, get: () => { if (n & 4) throw new Error("note"); return at(VALUES, n * 3); } }),
    (req, res, n) => void (res._headers = at(FIELD_MAPS, n)),
    (req, res, n) => void (n & 1 ? Object.setPrototypeOf(res, n & 2 ? null : Object.prototype) : delete at([req, res], n >> 2)[at(NOTES, n >> 3)]),
    (req, res, n) => void Object.freeze(at([req, res, res.locals], n)),
    (req, res, n) => void (n & 1 ? res.socket : req.socket),
    (req, res, n) => void (n & 1 ? req.headers : req.rawHeaders),
    (req, res, n) => void (n & 1 ? req.resume() : req.destroy()),
    (req, res, n) => void process.nextTick(() => attempt(() => res.json(at(VALUES, n)))),
    (req, res, n) => void Promise.resolve().then(() => attempt(() => res.end(at(VALUES, n)))),
    (req, res, n) => void setImmediate(() => attempt(() => res.send(at(VALUES, n)))),
    (req, res, n) => res.jsonp(at(VALUES, n)),
    (req, res, n) => res.type(at(TEXTS, n)),
    (req, res, n) => void express.json({ strict: (n & 1) === 0 })(req, res, () => attempt(() => res.json(req.body))),
    (req, res) => void gc(),
];

function attempt(run) {
    try {
        run();
    } catch {
        // What is wrong is told so; that it is no more than that is what this is about.
    }
}

const app = express();
app.use((request, response, next) => {
    if (!request.url.startsWith("/do/")) return next();
    const codes = Buffer.from(request.url.slice(4), "hex");
    for (let i = 0; i + 1 < codes.length; i += 2) attempt(() => at(DO, codes[i])(request, response, codes[i + 1]));
    // What is still open ends.
    setImmediate(() => setImmediate(() => attempt(() => response.end())));
});
app.get("/alive", (request, response) => response.json({ alive: true }));
process.on("uncaughtException", () => undefined);
process.on("unhandledRejection", () => undefined);
app.listen(0, "127.0.0.1", function () { console.log(`listening ${this.address().port}`); });
