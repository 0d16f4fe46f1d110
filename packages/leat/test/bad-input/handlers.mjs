// Handlers that do what handlers should not, each with what it says and what the client gets, as node:http has it.
// `handle` notes what happens with `say`; node:http's notes are what the subject's must be, so they don't stand here. What
// does: `reply` is what the client reads, `partial` what it reads before it leaves, `cut` how its connection ends without
// a reply, `leaves` that it goes ("end") or resets its connection ("reset"); `uncaught` and `unhandled` are what reaches
// the process.
import { pipeline, Readable } from "node:stream";
import { tried, worded } from "./tried.mjs";

const boom = () => { throw new Error("boom"); };
const ok = { status: 200, body: "ok" };
const PART = /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n4\r\npart\r\n$/;
const POST = "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 4\r\n\r\nbody";

/** Notes the events of a message as they come. */
function follow(say, name, message, events) {
    for (const event of events) message.on(event, (error) => say(error instanceof Error ? `${name} ${event} ${worded(error)}` : `${name} ${event}`));
}

const throwing = [
    { name: "throws at once", handle: boom, uncaught: ["Error -: boom"], leaves: "end" },
    {
        name: "throws after a part of the reply",
        handle(req, res) {
            res.write("part");
            boom();
        },
        uncaught: ["Error -: boom"],
        partial: PART,
        leaves: "end",
    },
    {
        name: "throws after the reply",
        handle(req, res) {
            res.end("ok");
            boom();
        },
        uncaught: ["Error -: boom"],
        reply: ok,
    },
    { name: "rejects", handle: async () => boom(), unhandled: ["Error -: boom"], leaves: "end" },
    {
        name: "rejects after the reply",
        async handle(req, res) {
            res.end("ok");
            await null;
            boom();
        },
        unhandled: ["Error -: boom"],
        reply: ok,
    },
    ...[["req", "data"], ["req", "end"], ["res", "finish"], ["res", "close"]].map(([message, event]) => ({
        name: `throws in the listener of ${message}'s '${event}'`,
        request: POST,
        handle(req, res) {
            (message === "req" ? req : res).on(event, boom);
            req.resume();
            setImmediate(() => res.end("ok"));
        },
        uncaught: ["Error -: boom"],
        reply: ok,
    })),
    {
        name: "throws in the callback of end()",
        handle(req, res) {
            res.end("ok", boom);
        },
        uncaught: ["Error -: boom"],
        reply: ok,
    },
    {
        name: "throws in the callback of write()",
        handle(req, res) {
            res.writeHead(200, { "content-length": 2 });
            res.write("o", boom);
            setImmediate(() => res.end("k"));
        },
        uncaught: ["Error -: boom"],
        reply: ok,
    },
];

const late = [
    {
        name: "writes after end",
        handle(req, res, say) {
            follow(say, "res", res, ["error"]);
            res.end("ok");
            say(tried(() => res.write("more", (error) => say(`callback ${worded(error)}`))));
        },
        reply: ok,
    },
    {
        name: "writes after end with no listener for errors",
        handle(req, res, say) {
            res.end("ok");
            say(tried(() => res.write("more")));
        },
        uncaught: ["Error ERR_STREAM_WRITE_AFTER_END: write after end"],
        reply: ok,
    },
    {
        name: "ends twice",
        handle(req, res, say) {
            follow(say, "res", res, ["error"]);
            say(tried(() => res.end("ok")));
            say(tried(() => res.end()));
            say(tried(() => res.end((error) => say(`callback ${worded(error)}`))));
        },
        reply: ok,
    },
    {
        name: "ends with a body after end",
        handle(req, res, say) {
            follow(say, "res", res, ["error"]);
            res.end("ok");
            say(tried(() => res.end("more", (error) => say(`callback ${worded(error)}`))));
        },
        reply: ok,
    },
    {
        name: "touches the head after it was sent",
        handle(req, res, say) {
            res.writeHead(200, { "content-length": 2, "x-one": 1 });
            res.write("o");
            for (const [name, ...args] of [["setHeader", "x-two", "2"], ["removeHeader", "x-one"], ["appendHeader", "x-one", "2"], ["setHeaders", new Map([["a", "b"]])], ["writeHead", 201], ["flushHeaders"], ["addTrailers", { a: "b" }]]) {
                say(`${name}: ${tried(() => res[name](...args))}`);
            }
            res.statusCode = 500;
            res.statusMessage = "Late";
            say(String(res.headersSent));
            res.end("k");
        },
        reply: { ...ok, line: "HTTP/1.1 200 OK", headers: { "x-one": "1", "x-two": undefined } },
    },
    {
        name: "touches the head after writeHead, before it was sent",
        handle(req, res, say) {
            res.writeHead(200, { "content-length": 2 });
            for (const [name, ...args] of [["setHeader", "x-two", "2"], ["writeHead", 201], ["writeHead", 99]]) say(`${name}: ${tried(() => res[name](...args))}`);
            say(String(res.headersSent));
            res.end("ok");
        },
        reply: ok,
    },
    {
        name: "touches the head after the end",
        handle(req, res, say) {
            res.end("ok");
            for (const [name, ...args] of [["setHeader", "x-two", "2"], ["getHeader", "x-two"], ["writeHead", 201], ["flushHeaders"], ["writeEarlyHints", { link: "</a>; rel=preload" }]]) say(`${name}: ${tried(() => res[name](...args))}`);
        },
        reply: ok,
    },
];

/** One call with each of several values; the reply is what it would be without. */
const refuses = (name, call, values) => ({
    name,
    handle(req, res, say) {
        for (const value of values) say(`${JSON.stringify(value) ?? String(value)}: ${tried(() => call(res, value))}`);
        res.statusCode = 200;
        res.statusMessage = undefined;
        res.end("ok");
    },
    reply: ok,
});

const values = [
    refuses("names of headers that are no names", (res, name) => res.setHeader(name, "v"), ["", "a b", "a:b", "a\n", "é", undefined, null, 1, {}]),
    refuses("values of headers that are no values", (res, value) => res.setHeader("x-value", value), [undefined, "a\nb", "a\rb", "a\0b", "€", ["a", undefined], ["a", "\n"]]),
    refuses("appended headers", (res, value) => res.appendHeader("x-value", value), [undefined, "a\nb", "€"]),
    refuses("no value at all", (res, name) => res.setHeader(name), ["x-none", "a b"]),
    refuses("a status that writeHead refuses", (res, status) => res.writeHead(status), [99, 1000, -1, 0, "abc", "99", null, undefined, {}]),
    refuses("a message that writeHead refuses", (res, message) => res.writeHead(200, message), ["a\nb", "€", "a\0"]),
    refuses("headers that writeHead refuses", (res, headers) => res.writeHead(200, headers), [{ "a b": 1 }, { a: "\n" }, { a: undefined }, ["a"], ["a", "1", "b"], ["a b", "1"]]),
    refuses("trailers", (res, headers) => res.addTrailers(headers), [{ "a b": 1 }, { a: "\n" }, { a: "€" }]),
    refuses("bodies that are none", (res, body) => res.write(body), [null, undefined, 1, true, {}, [], "", new Uint8Array(0)]),
    refuses("ends that are none", (res, body) => res.end(body), [1, true, {}, []]),
    {
        name: "a status that is refused at the end",
        handle(req, res, say) {
            for (const status of [99, 1000, "abc", undefined]) {
                res.statusCode = status;
                say(`${status}: ${tried(() => res.end("no"))} ${res.headersSent}`);
            }
            res.statusCode = 200;
            res.end("ok");
        },
    },
    {
        name: "a message that is refused at the end",
        handle(req, res, say) {
            res.statusMessage = "a\nb";
            say(tried(() => res.end("no")));
            res.statusMessage = "Fine";
            res.end("ok");
        },
    },
    {
        name: "more body than the length says, strictly",
        handle(req, res, say) {
            res.strictContentLength = true;
            res.setHeader("content-length", 2);
            say(tried(() => res.write("too much")));
            say(tried(() => res.write("o")));
            say(tried(() => res.end()));
            say(tried(() => res.end("k")));
        },
        leaves: "end",
    },
    {
        name: "a body where none may be",
        request: "HEAD / HTTP/1.1\r\nhost: test\r\n\r\n",
        head: true,
        handle(req, res, say) {
            res.setHeader("content-length", 4);
            say(tried(() => res.write("body", (error) => say(`callback ${error}`))));
            say(tried(() => res.end("more")));
        },
        reply: { status: 200, body: "" },
    },
    {
        name: "a body with 204",
        handle(req, res, say) {
            res.statusCode = 204;
            say(tried(() => res.write("body")));
            say(tried(() => res.end("more")));
        },
        reply: { status: 204, body: "" },
    },
];

const RES = ["finish", "close", "error"];
const REQ = ["aborted", "error", "close", "end"];
const state = (req, res) => `aborted ${req.aborted} destroyed ${req.destroyed} ${res.destroyed} ended ${res.writableEnded} finished ${res.writableFinished} complete ${req.complete}`;

const leaving = (how) => [
    {
        name: `never answers, and the client leaves (${how})`,
        leaves: how,
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            res.on("close", () => say(state(req, res)));
        },
    },
    {
        name: `never reads the body or answers, and the client leaves in the middle of it (${how})`,
        request: "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1000000\r\n\r\npart",
        leaves: how,
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            res.on("close", () => say(state(req, res)));
        },
    },
    {
        name: `reads the body, and the client leaves in the middle of it (${how})`,
        request: "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1000000\r\n\r\npart",
        leaves: how,
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            req.resume();
            res.on("close", () => say(state(req, res)));
        },
    },
    {
        name: `answers after the client went (${how})`,
        leaves: how,
        handle(req, res, say) {
            follow(say, "req", req, ["error"]);
            follow(say, "res", res, RES);
            res.on("close", () => {
                say(`setHeader: ${tried(() => res.setHeader("a", "b"))}`);
                say(`writeHead: ${tried(() => res.writeHead(200))}`);
                say(`write: ${tried(() => res.write("late", (error) => say(`write's callback ${worded(error)}`)))}`);
                say(`end: ${tried(() => res.end("late", (error) => say(`end's callback ${worded(error)}`)))}`);
                say(state(req, res));
            });
        },
    },
    {
        name: `goes on after the client went in the middle of the reply (${how})`,
        leaves: how,
        partial: PART,
        handle(req, res, say) {
            follow(say, "req", req, ["error"]);
            follow(say, "res", res, RES);
            res.write("part");
            res.on("close", () => {
                say(`write: ${tried(() => res.write("late", (error) => say(`write's callback ${worded(error)}`)))}`);
                say(`end: ${tried(() => res.end((error) => say(`end's callback ${worded(error)}`)))}`);
                say(state(req, res));
            });
        },
    },
    {
        name: `pipes into a reply whose client went (${how})`,
        leaves: how,
        partial: /x{1000}/,
        handle(req, res, say) {
            const endless = new Readable({ read() { this.push("x".repeat(1000)); } });
            endless.on("close", () => say("source close"));
            pipeline(endless, res, (error) => say(`pipeline ${worded(error)}`));
        },
    },
];

const destroying = [
    {
        name: "pipes a source that fails into the reply",
        handle(req, res, say) {
            let count = 0;
            const failing = new Readable({ read() { count += 1; if (count < 3) this.push("part"); else this.destroy(new Error("source")); } });
            pipeline(failing, res, (error) => say(`pipeline ${worded(error)}`));
            follow(say, "res", res, RES);
        },
        cut: /^(FIN|ECONNRESET)$/,
    },
    {
        name: "destroys the reply",
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            say(tried(() => res.destroy()));
        },
        cut: /^(FIN|ECONNRESET)$/,
    },
    {
        name: "destroys the reply with an error",
        handle(req, res, say) {
            follow(say, "res", res, RES);
            say(tried(() => res.destroy(new Error("enough"))));
        },
        cut: /^(FIN|ECONNRESET)$/,
    },
    {
        name: "destroys the request with an error",
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            say(tried(() => req.destroy(new Error("enough"))));
        },
        cut: /^(FIN|ECONNRESET)$/,
    },
    {
        name: "destroys the socket",
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            req.socket.destroy();
            say(tried(() => res.end("late")));
        },
        cut: /^(FIN|ECONNRESET)$/,
    },
    {
        name: "answers without reading the body",
        request: POST,
        handle(req, res, say) {
            follow(say, "req", req, REQ);
            follow(say, "res", res, RES);
            res.end("ok");
        },
        reply: ok,
    },
];

export const cases = [...throwing, ...late, ...values, ...leaving("end"), ...leaving("reset"), ...destroying];
