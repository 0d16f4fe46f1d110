// res.send: every type of body, and what it makes of the head.
import { answers, get, head, told } from "../shapes.mjs";

const send = (name, body, ...more) => answers(`send ${name}`, (req, res) => res.send(typeof body === "function" ? body() : body), ...more);
const LONG = "é".repeat(600);

export default [
    answers("send()", (req, res) => res.send()),
    send("undefined", undefined),
    send("null", null),
    send("an empty string", ""),
    send("a string", "<p>hi</p>"),
    send("a string beyond ASCII", "héllo ☃ 𝒳"),
    send("a long string beyond ASCII", LONG),
    send("a lone surrogate", "a\ud800b"),
    send("a string of 1,000 bytes", "x".repeat(1000)),
    send("a string of 100,000 bytes", "x".repeat(100_000)),
    send("a string of 70,000 characters beyond ASCII", "é".repeat(70_000)),
    send("a string of 70,000 characters whose last is beyond ASCII", `${"x".repeat(69_999)}€`),
    send("a string of 70,000 characters with a lone surrogate", `\ud800${"x".repeat(69_999)}`),
    send("a string of zero bytes and line ends", "\0\r\n\r\n\0"),
    send("a number", 200),
    send("a number that is no status", 42),
    send("zero", 0),
    send("NaN", NaN),
    send("true", true),
    send("false", false),
    send("a BigInt", 10n),
    send("a Symbol", () => Symbol("s")),
    send("a function", () => () => "x"),
    send("an object", { a: 1, b: [true, null] }),
    send("an array", [1, "two"]),
    send("an empty object", {}),
    send("a Date", new Date(0)),
    send("a RegExp", /x/),
    send("a Map", new Map([[1, 2]])),
    send("an Error", () => new Error("shown?")),
    send("a String object", () => new String("boxed")),
    send("a Number object", () => new Number(7)),
    send("an object with toJSON", { toJSON: () => ({ from: "toJSON" }) }),
    send("a bare object", () => Object.assign(Object.create(null), { a: 1 })),
    send("a circle", () => {
        const circle = {};
        circle.self = circle;
        return circle;
    }),
    send("an object with a BigInt", { n: 1n }),
    send("an object whose getter throws", {
        get boom() {
            throw new RangeError("from the getter");
        },
    }),
    send("a promise", () => Promise.resolve("x")),
    send("a Buffer", Buffer.from("bytes")),
    send("an empty Buffer", Buffer.alloc(0)),
    send("a Buffer of 100,000 bytes", Buffer.alloc(100_000, 7)),
    send("a Uint8Array", new Uint8Array([104, 105])),
    send("a part of a Uint8Array", new Uint8Array([0, 104, 105, 0]).subarray(1, 3)),
    send("a Uint16Array", new Uint16Array([0x6968, 0x216f])),
    send("a DataView", () => new DataView(new Uint8Array([104, 105, 33]).buffer, 1)),
    send("an ArrayBuffer", () => new Uint8Array([104, 105]).buffer),
    send("a Blob", () => new Blob(["x"])),
    answers("send a Buffer under a type of its own", (req, res) => res.type("text/plain").send(Buffer.from("x"))),
    answers("send a Uint8Array without ETag", (req, res) => res.send(new Uint8Array([104, 105])), [get()], { settings: { etag: false } }),
    answers("send a Uint16Array without ETag", (req, res) => res.send(new Uint16Array([0x6968])), [get()], { settings: { etag: false } }),
    answers("send undefined without ETag", (req, res) => res.send(undefined), [get()], { settings: { etag: false } }),
    answers("send a function without ETag", (req, res) => res.send(() => 1), [get()], { settings: { etag: false } }),
    answers("send a BigInt without ETag", (req, res) => res.send(10n), [get()], { settings: { etag: false } }),

    ...["text/plain", "text/plain; charset=latin1", "text/plain; charset=UTF-16; x=y", 'text/plain; a="b;c"', "TEXT/HTML", "application/json", "image/png", "nonsense", "text/", "text/plain;", "text/plain; charset"].map((type) =>
        answers(`send a string as ${type}`, (req, res) => {
            res.setHeader("Content-Type", type);
            res.send("héllo");
        }),
    ),
    answers("send a string under an empty Content-Type", (req, res) => {
        res.setHeader("Content-Type", "");
        res.send("x");
    }),
    answers("send a string under a Content-Type in an array", (req, res) => {
        res.setHeader("Content-Type", ["text/a", "text/b"]);
        res.send("x");
    }),
    answers("send an object under a type of its own", (req, res) => res.type("text/plain").send({ a: 1 })),
    answers("a Content-Length set before is put right", (req, res) => res.set("Content-Length", 3).send("longer")),
    answers("a Transfer-Encoding set before", (req, res) => res.set("Transfer-Encoding", "chunked").send("hello")),
    answers("a Content-Encoding set before", (req, res) => res.set("Content-Encoding", "gzip").send("not really")),
    answers("send(status, body)", (req, res) => res.send(201, "made"), [get()]),
    answers("send(body, status)", (req, res) => res.send("made", 201), [get()]),
    answers("send(status, object)", (req, res) => res.send(202, { a: 1 })),
    answers("send(number, number)", (req, res) => res.send(200, 7)),
    answers("send(404) alone", (req, res) => res.send(404)),
    answers("send(404) under a type", (req, res) => res.type("json").send(404)),
    answers("send(299): a status without a name", (req, res) => res.send(299)),
    answers("send returns the response", (req, res, next, t) => t.log(String(res.send("x") === res))),
    answers("send twice", (req, res, next, t) => {
        res.send("one");
        try {
            res.send("two");
        } catch (error) {
            t.log(told(error));
        }
    }),
    answers("send after end", (req, res, next, t) => {
        res.end("one");
        try {
            res.send("two");
        } catch (error) {
            t.log(told(error));
        }
    }),
    answers("send after write", (req, res, next, t) => {
        res.write("one");
        try {
            res.send("two");
        } catch (error) {
            t.log(told(error));
            res.end();
        }
    }),
    answers("send twice, uncaught", (req, res) => {
        res.send("one");
        res.send("two");
    }),
    answers("send to HEAD: string", (req, res) => res.send("hello"), [head()]),
    answers("send to HEAD: Buffer", (req, res) => res.send(Buffer.from("hello")), [head()]),
    answers("send to HEAD: object", (req, res) => res.send({ a: 1 }), [head()]),
    answers("send to HEAD: nothing", (req, res) => res.send(), [head()]),
    answers("send to HEAD on a kept connection", (req, res) => res.send(req.method), [
        head("/1", { Connection: "keep-alive" }, { connection: "a" }),
        get("/2", { Connection: "keep-alive" }, { connection: "a" }),
        head("/3", {}, { connection: "a" }),
    ]),
    answers("send in HTTP/1.0", (req, res) => res.send("hello"), [get("/", {}, { http: "1.0" })]),
    ...[204, 205, 304, 100, 199].map((code) => answers(`send a body with ${code}`, (req, res) => {
        res.statusCode = code;
        res.send("body");
    })),
    ...[204, 205, 304].map((code) => answers(`send a body with ${code} and headers of a body`, (req, res) => {
        res.statusCode = code;
        res.set({ "Content-Type": "text/plain", "Content-Length": "99", "Transfer-Encoding": "chunked", "Content-Encoding": "gzip" });
        res.send("body");
    })),
    ...[204, 205, 304].map((code) => answers(`send to HEAD with ${code}`, (req, res) => res.status(code).send("body"), [head()])),
    ...[204, 205, 304].map((code) => answers(`json with ${code}`, (req, res) => res.status(code).json({ a: 1 }))),
    ...[204, 205, 304].map((code) => answers(`end a body with ${code}`, (req, res) => res.status(code).end("body"))),
];
