// Features together: compression with ETags, HEAD and ranges; replaced methods; types with parameters; odd values; getters that throw.
import { createReadStream } from "node:fs";
import { Readable, Transform } from "node:stream";
import { createGzip, gzipSync } from "node:zlib";
import { etagOf } from "../files.mjs";
import { answers, get, head, post, shown, tells, told } from "../shapes.mjs";

const GZIP = { "Accept-Encoding": "gzip" };
/** An app behind npm's compression, whose handler answers by path. */
const compressed = (name, options, requests, more = {}) => ({
    name: `compression: ${name}`,
    app(express, t) {
        const app = express();
        app.use(t.require("compression")(options));
        app.use("/static", express.static(`${t.dir}/static`));
        app.get("/text", (req, res) => res.send("x".repeat(2000)));
        app.get("/small", (req, res) => res.send("x"));
        app.get("/json", (req, res) => res.json({ s: "x".repeat(2000) }));
        app.get("/file", (req, res) => res.sendFile(`${t.dir}/static/style.css`));
        app.get("/large", (req, res) => res.type("txt").sendFile(`${t.dir}/static/large.bin`));
        app.get("/png", (req, res) => res.type("png").send(Buffer.alloc(2000)));
        app.get("/no-transform", (req, res) => res.set("Cache-Control", "no-transform").send("x".repeat(2000)));
        app.get("/encoded", (req, res) => res.set("Content-Encoding", "gzip").type("txt").send(gzipSync("x".repeat(2000))));
        app.get("/pieces", (req, res) => {
            res.type("txt");
            for (let at = 0; at < 20; at += 1) res.write("y".repeat(200));
            res.end();
        });
        app.get("/flush", (req, res) => {
            res.type("txt").write("first");
            res.flush();
            t.log(`${res.headersSent} ${typeof res.flush}`);
            res.end("last");
        });
        app.get("/status/:code", (req, res) => res.status(Number(req.params.code)).send("x".repeat(2000)));
        app.get("/redirect", (req, res) => res.redirect("/to"));
        app.get("/throws", () => {
            throw new Error("x".repeat(2000));
        });
        app.use(tells(t));
        return app;
    },
    requests,
    ...more,
});
const PATHS = ["/text", "/small", "/json", "/file", "/large", "/png", "/no-transform", "/encoded", "/pieces", "/flush", "/status/204", "/status/304", "/status/404", "/redirect", "/throws", "/none", "/static/hello.txt", "/static/large.bin"];
const tried = (t, ...acts) => {
    for (const act of acts) {
        try {
            t.log(shown(act()));
        } catch (error) {
            t.log(told(error));
        }
    }
};

export default [
    compressed("everything, not asked for", { threshold: 0 }, PATHS.map((path) => get(path))),
    compressed("everything, asked for", { threshold: 0 }, PATHS.map((path) => get(path, GZIP))),
    compressed("HEAD", { threshold: 0 }, PATHS.map((path) => head(path, GZIP))),
    compressed("by default", undefined, PATHS.map((path) => get(path, GZIP))),
    compressed("conditions", { threshold: 0 }, [...["/text", "/json", "/file", "/static/hello.txt"].map((path) => get(path, { ...GZIP, "If-None-Match": "*" })), get("/static/hello.txt", { ...GZIP, "If-None-Match": etagOf(13) })]),
    compressed("ranges", { threshold: 0 }, [get("/file", { ...GZIP, Range: "bytes=0-4" }), get("/static/ten.txt", { ...GZIP, Range: "bytes=2-3" }), get("/static/ten.txt", { ...GZIP, Range: "bytes=20-" })]),
    compressed("deflate and refusals", { threshold: 0 }, ["deflate", "gzip;q=0", "identity", "*", "br, gzip", "gzip;q=0.5, deflate"].map((coding) => get("/text", { "Accept-Encoding": coding }))),
    compressed("on a kept connection", { threshold: 0 }, ["/text", "/large", "/json", "/none"].map((path) => get(path, { ...GZIP, Connection: "keep-alive" }, { connection: "a" }))),
    compressed("HTTP/1.0", { threshold: 0 }, [get("/text", GZIP, { http: "1.0" })]),

    answers("a file through gzip by hand", (req, res, next, t) => {
        res.set({ "Content-Encoding": "gzip", "Content-Type": "text/plain" });
        createReadStream(`${t.dir}/static/hello.txt`).pipe(createGzip()).pipe(res);
    }),
    answers("sendFile through a replaced write, which changes it", (req, res, next, t) => {
        const { write, end } = res;
        res.removeHeader("Content-Length");
        res.write = function (chunk, ...more) {
            return write.call(this, String(chunk).toUpperCase(), ...more);
        };
        res.end = function (...args) {
            return end.apply(this, args);
        };
        res.sendFile(`${t.dir}/static/hello.txt`);
    }),
    answers("on-headers by hand: ETag and type are changed at the last moment", (req, res) => {
        const { writeHead } = res;
        let first = true;
        res.writeHead = function (...args) {
            if (first) {
                first = false;
                this.setHeader("ETag", '"late"');
                this.setHeader("Content-Type", "text/late");
                this.setHeader("X-Seen", String(this.getHeader("Content-Length")));
            }
            return writeHead.apply(this, args);
        };
        if (req.path === "/send") res.send("x");
        else if (req.path === "/json") res.json([]);
        else if (req.path === "/status") res.sendStatus(404);
        else res.end();
    }, [get("/send"), get("/json"), get("/status"), get("/end"), head("/send"), get("/send", { "If-None-Match": "*" })]),
    answers("on-finished by hand: what morgan sees", (req, res, next, t) => {
        res.on("finish", () => t.log(`${res.statusCode} ${res.getHeader("content-length")} ${res._header !== null && typeof res._header === "string"} ${res.finished} ${res.writableFinished} ${res.headersSent}`));
        if (req.path === "/send") res.send("hello");
        else if (req.path === "/304") res.send("hello");
        else if (req.path === "/stream") Readable.from(["a", "b"]).pipe(res);
        else next();
    }, [get("/send"), get("/304", { "If-None-Match": "*" }), get("/stream"), get("/none"), head("/send")]),
    answers("res._header as it went out", (req, res, next, t) => {
        t.log(shown(res._header));
        res.set("X-A", "1").send("hello");
        t.log(String(res._header).replace(/Date: [^\r]*/, "Date: now").split("\r\n").sort().join("|"));
    }),
    answers("res._headers and _headerNames", (req, res, next, t) => {
        const { noDeprecation } = process;
        process.noDeprecation = true;
        res.set("X-Own", "1");
        t.log(`${JSON.stringify(res._headers)} ${JSON.stringify(res._headerNames)}`);
        process.noDeprecation = noDeprecation;
        res.end();
    }),

    ...[
        'text/html; charset=utf-8; profile="a;b"',
        'text/html; a="\\"q\\""; charset=x',
        "text/html; CHARSET=UTF-16",
        "text/html; charset=utf-8; charset=latin1",
        "text/html; a=1; b=2; c=3",
        "text/html;a=1",
        "text/html ; charset=utf-8",
        "text/html; charset=",
        "text/html; a",
        "text/html;;a=1",
        "text",
        "text/html/x",
        "application/json; charset=utf-8; odata=verbose",
        "multipart/mixed; boundary=x",
        "text/event-stream",
        "application/vnd.a.b+json; v=1",
        "text/plain; charset=utf-8 ",
        "té/xt",
        'text/plain; title="ü"',
    ].flatMap((type) => [
        answers(`type ${JSON.stringify(type)}, then send of text`, (req, res) => res.type(type).send("é")),
        answers(`Content-Type ${JSON.stringify(type)} by setHeader, then send and json`, (req, res) => {
            res.setHeader("Content-Type", type);
            if (req.path === "/json") res.json({ a: 1 });
            else res.send("é");
        }, [get("/"), get("/json")]),
    ]),

    answers("json of values whose toJSON throws", (req, res, next, t) => {
        tried(t, () => res.json({ toJSON() {
            throw new RangeError("from toJSON");
        } }), () => res.send({ toJSON() {
            throw new RangeError("again");
        } }), () => res.headersSent);
        res.end();
    }),
    answers("json of exotic objects", (req, res) => res.json([new Proxy([1], {}), new WeakMap(), new Int8Array([1, 2]), Object(5), Object("x"), Object(true), new Error("e"), /x/, globalThis.Symbol.iterator, function named() {}, Math, JSON, new Date(NaN), Infinity, [undefined, , null]])),  
    answers("settings by getters that throw", (req, res) => {
        Object.defineProperty(req.app.settings, "json spaces", { configurable: true, get() {
            throw new Error("from the setting");
        } });
        res.json({ a: 1 });
    }),
    answers("app.get replaced", (req, res, next, t) => {
        const { app } = req;
        const own = app.get;
        app.get = function (name, ...more) {
            t.log(`get ${name}`);
            return name === "json spaces" ? 2 : own.call(this, name, ...more);
        };
        if (req.path === "/json") res.json({ a: 1 });
        else res.send("x");
    }, [get("/json"), get("/send")]),
    answers("app.enabled replaced", (req, res, next, t) => {
        const { app } = req;
        const own = app.enabled;
        app.enabled = function (name) {
            t.log(`enabled ${name}`);
            return own.call(this, name);
        };
        res.sendFile(`${t.dir}/static/hello.txt`);
    }),
    answers("app.settings written to directly", (req, res) => {
        req.app.settings["json spaces"] = 3;
        req.app.settings["x-powered-by"] = false;
        req.app.settings["etag fn"] = () => '"direct"';
        res.json({ a: 1 });
    }, [get(), get()]),
    answers("app.settings with a setter-like proxy in front", (req, res) => {
        req.app.settings = new Proxy(req.app.settings, { get: (target, name) => (name === "json spaces" ? 1 : target[name]) });
        res.json({ a: 1 });
    }, [get(), get()]),
    answers("JSON.stringify replaced", (req, res) => {
        const { stringify } = JSON;
        JSON.stringify = () => '"replaced"';
        try {
            res.json({ a: 1 });
        } finally {
            JSON.stringify = stringify;
        }
    }),
    answers("Object.prototype.toJSON, added", (req, res) => {
        Object.defineProperty(Object.prototype, "toJSON", { configurable: true, value() {
            return "everything";
        } });
        try {
            res.json({ a: 1 });
        } finally {
            delete Object.prototype.toJSON;
        }
    }),
    answers("res.statusCode by a getter of the program", (req, res, next, t) => {
        let code = 200;
        Object.defineProperty(res, "statusCode", { configurable: true, get: () => code, set: (value) => {
            t.log(`status ${value}`);
            code = value;
        } });
        res.status(201).send("x");
    }),
    answers("res.get replaced by one that lies", (req, res) => {
        res.get = (name) => (name === "Content-Type" ? "text/lied" : undefined);
        res.send("x");
    }),
    answers("settings that Object.prototype has", (req, res, next, t) => {
        Object.defineProperty(Object.prototype, "json spaces", { configurable: true, value: 2 });
        Object.defineProperty(Object.prototype, "own", { configurable: true, value: "polluted" });
        try {
            t.log(`${req.app.get("own")} ${req.app.enabled("own")} ${req.app.settings.own}`);
            res.json({ a: 1 });
        } finally {
            delete Object.prototype["json spaces"];
            delete Object.prototype.own;
        }
    }),
    answers("res.json.call, apply and bind", (req, res) => {
        const bound = res.json.bind(res);
        bound({ bound: true });
    }),
    answers("methods taken from app.response", (req, res) => req.app.response.send.call(res, "taken")),
    answers("methods taken from express.response", (req, res, next, t, express) => express.response.json.call(res, { taken: true })),
    answers("super in a derived response prototype", (req, res) => {
        const derived = {
            __proto__: Object.getPrototypeOf(res),
            json(value) {
                return super.json({ derived: value });
            },
        };
        Object.setPrototypeOf(res, derived);
        res.json(1);
    }),
    answers("set on an object with a null prototype and a symbol", (req, res) => res.set(Object.assign(Object.create(null), { "X-A": "1", [Symbol("s")]: "2" })).end()),
    answers("numbers as headers", (req, res, next, t) => {
        res.setHeader("X-N", 5);
        res.append("X-N", 6);
        t.log(shown(res.get("X-N")));
        res.end();
    }),
    answers("chaining of everything", (req, res) => res.status(200).set("A", "1").header("B", "2").type("txt").vary("C").append("D", "3").cookie("e", "4").clearCookie("f").links({ g: "h" }).location("/i").attachment("j.txt").contentType("text/k").send("l")),
    answers("two responses in one, by write of a whole reply", (req, res) => res.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    answers("a very long header", (req, res) => res.set("X-Long", "v".repeat(60_000)).send("x")),
    answers("a body of 500,000 bytes", (req, res) => res.send(Buffer.alloc(500_000, 1))),
    answers("a body of 500,000 bytes as text", (req, res) => res.send("é".repeat(250_000))),
    answers("pipelined", (req, res) => setImmediate(() => res.send(req.url)), [
        { raw: "GET /1 HTTP/1.1\r\nHost: test\r\n\r\nGET /2 HTTP/1.1\r\nHost: test\r\n\r\nHEAD /3 HTTP/1.1\r\nHost: test\r\n\r\nGET /4 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n" },
    ]),
    answers("server-sent events", (req, res, next, t) => {
        res.set({ "Content-Type": "text/event-stream", "Cache-Control": "no-cache", Connection: "keep-alive" });
        res.flushHeaders();
        res.write("data: one\n\n");
        req.on("close", () => t.log("client left"));
        setImmediate(() => res.write("data: two\n\n"));
    }, [get("/", { Connection: "keep-alive" }, { abortAfterReply: 180, wait: undefined })], { harness: { ends: "client left" } }),
    answers("a stream through a Transform that upper-cases the request", (req, res) => {
        const upper = new Transform({ transform(chunk, encoding, done) {
            done(null, String(chunk).toUpperCase());
        } });
        req.pipe(upper).pipe(res);
    }, [post("text/plain", "shout"), post("text/plain", ["sh", "out"])]),
    answers("the answer while the request is still coming", (req, res) => {
        res.write("early ");
        req.resume().on("end", () => res.end("late"));
    }, [post("text/plain", ["a", { reply: "early" }, "b"])]),
    answers("format, vary and send with an ETag by Accept", (req, res) => res.vary("Origin").format({ html: () => res.send("<b>"), json: () => res.json({ a: 1 }), default: () => res.sendStatus(406) }), ["text/html", "application/json", "image/png"].flatMap((Accept) => [get("/", { Accept }), get("/", { Accept, "If-None-Match": "*" })])),
    answers("download with a condition and a range", (req, res, next, t) => res.download(`${t.dir}/static/ten.txt`, "ü.txt"), [get("/", { "If-None-Match": etagOf(10) }), get("/", { Range: "bytes=1-2", "If-Range": etagOf(10) })]),
    answers("redirect with a cookie and a body under HEAD", (req, res) => res.cookie("a", "1").redirect(303, "/é?x=<y>"), [head(), get("/", { Accept: "text/html" })]),
];
