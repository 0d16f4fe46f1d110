// What comes off the wire: malformed requests, odd methods and targets, connections that are kept or cut, and listen().
import { createServer } from "node:http";
import { built, ending, passing } from "../built.mjs";
import { raw } from "../request.mjs";

/** An app that logs whether it was reached at all. */
const sent = (name, requests, more = {}) => built(name, (app, t) => {
    app.use((req, res, next) => (t.log("reached", req.method, req.url), next()));
    app.get("/", ending("root"));
    app.use((req, res) => res.json([req.method, req.url, req.path, req.query, req.hostname ?? null]));
}, requests, more);

const kept = (path, more = {}) => ({ path, connection: "kept", ...more });

export default [
    sent("no Host", [raw`
        GET / HTTP/1.1
        Connection: close
    `]),
    sent("an empty Host", [raw`
        GET / HTTP/1.1
        Host:
        Connection: close
    `]),
    sent("HTTP/1.0", [{ path: "/a?b", http: "1.0" }, { path: "/", http: "1.0", headers: { Host: null } }]),
    sent("a field without a colon", [raw`
        GET / HTTP/1.1
        Host: test
        nonsense
    `]),
    sent("a space in a field's name", [raw`
        GET / HTTP/1.1
        Host: test
        X A: 1
    `]),
    sent("no request at all", [raw`nonsense`]),
    sent("a version that is none", [raw`
        GET / HTTP/3.7
        Host: test
    `]),
    sent("a method that Node does not know", [raw`
        BREW / HTTP/1.1
        Host: test
    `]),
    sent("a method in lower case", [raw`
        get / HTTP/1.1
        Host: test
    `]),
    sent("two lengths that differ", [raw`
        POST / HTTP/1.1
        Host: test
        Content-Length: 1
        Content-Length: 2

        ab
    `]),
    sent("a length that is none", [raw`
        POST / HTTP/1.1
        Host: test
        Content-Length: -1
    `]),
    sent("a length and a coding", [raw`
        POST / HTTP/1.1
        Host: test
        Content-Length: 3
        Transfer-Encoding: chunked

        0

    `]),
    sent("a head over the limit", [{ path: "/", headers: { "X-Large": "x".repeat(20_000) } }]),
    sent("a long url", [{ path: `/${"x".repeat(8000)}` }]),
    sent("many fields", [{ path: "/", headers: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`X-${at}`, String(at)])) }]),
    sent("odd targets", ["/a?b?c", "/a&b", "/a=b", "/%00", "/a%0d%0ab", "/?%00=%00", "/..", "/../..", "/a/..%2fb", "/;", "/:", "/@", "/~", "/!$&'()*+,", "/[a]", "/{a}", "/|", "/^", "/`", "/a\\b", '/"'].map((path) => ({ path }))),
    sent("a target without a slash", [raw`
        GET a HTTP/1.1
        Host: test
        Connection: close
    `]),
    sent("a target with a host alone", [raw`
        GET test HTTP/1.1
        Host: test
        Connection: close
    `, raw`
        GET //test/a HTTP/1.1
        Host: test
        Connection: close
    `]),
    sent("a target in absolute form with an upper case scheme", ["HTTP://test/a?b"]),
    sent("three requests on one connection", [kept("/"), kept("/a"), kept("/b?c")]),
    sent("three requests at once", [raw`
        GET / HTTP/1.1
        Host: test

        POST /a HTTP/1.1
        Host: test
        Content-Length: 3

        abcGET /b HTTP/1.1
        Host: test
        Connection: close
    `]),
    sent("HEAD and then GET on one connection", [kept("/", { method: "HEAD" }), kept("/")]),
    sent("a body that nobody reads, and another request", [kept("/a", { method: "POST", body: "x".repeat(5000) }), kept("/b")]),
    sent("a chunked body that nobody reads, and another request", [kept("/a", { method: "POST", body: ["abc", "def"] }), kept("/b")]),
    sent("Expect: 100-continue", [[raw`
        POST / HTTP/1.1
        Host: test
        Expect: 100-continue
        Content-Length: 2
        Connection: close
    `, { reply: "100 Continue" }, "ab"]]),
    sent("an expectation that is unknown", [{ method: "POST", path: "/", headers: { Expect: "more" }, body: "x" }]),
    sent("Upgrade that nobody takes", [{ path: "/", headers: { Connection: "close, Upgrade", Upgrade: "other" } }]),
    built("a body read by hand", (app) => app.post("/", (req, res) => {
        let text = "";
        req.setEncoding("utf8").on("data", (chunk) => void (text += chunk)).on("end", () => res.json([text, req.complete]));
    }), [{ method: "POST", path: "/", body: "né" }, { method: "POST", path: "/", body: ["a", "b", "c"] }, { method: "POST", path: "/", body: "" }]),
    built("a body read after a tick", (app) => app.post("/", (req, res) => setImmediate(async () => {
        const parts = [];
        for await (const part of req) parts.push(part);
        res.send(Buffer.concat(parts));
    })), [{ method: "POST", path: "/", body: "late" }]),
    built("trailers of a request", (app) => app.post("/", (req, res) => req.resume().on("end", () => res.json(req.trailers))), [raw`
        POST / HTTP/1.1
        Host: test
        Connection: close
        Transfer-Encoding: chunked

        1
        a
        0
        X-Trailer: end

    `]),
    built("trailers of a reply", (app) => app.get("/", (req, res) => {
        res.set("Trailer", "X-End");
        res.write("a");
        res.addTrailers({ "X-End": "yes" });
        res.end("b");
    })),
    built("events of a request and its reply", (app, t) => app.post("/", (req, res) => {
        for (const name of ["end", "close"]) req.on(name, () => t.log(`req ${name}`));
        for (const name of ["finish", "close"]) res.on(name, () => t.log(`res ${name}`, res.writableFinished));
        req.resume().on("end", () => res.send("done"));
    }), [{ method: "POST", path: "/", body: "x" }], { ends: "res close" }),
    built("a client that goes before the answer", (app, t) => app.get("/", (req, res) => {
        t.log("waiting");
        req.on("aborted", () => t.log("aborted"));
        res.on("close", () => t.log("gone", res.writableFinished, res.headersSent));
    }), [{ path: "/", abortAfter: Infinity, wait: "waiting" }], { ends: "gone" }),
    built("a client that goes within its body", (app, t) => app.post("/", (req, res) => {
        t.log("waiting");
        req.on("error", (error) => t.log("error", error));
        req.on("close", () => t.log("closed", req.complete));
        res.on("close", () => t.log("gone"));
        req.resume();
    }), [{ method: "POST", path: "/", headers: { "Content-Length": "100" }, body: "part", abortAfter: Infinity, wait: "waiting" }], { ends: "gone" }),
    built("res.destroy in a handler", (app) => app.get("/", (req, res) => res.destroy())),
    built("req.socket.destroy in a handler", (app) => app.get("/", (req) => req.socket.destroy())),
    built("a reply without a length", (app) => app.get("/", (req, res) => {
        res.write("a");
        setImmediate(() => res.end("b"));
    }), ["/", "HEAD /", { path: "/", http: "1.0" }]),
    built("a reply with a length by hand", (app) => app.get("/", (req, res) => {
        res.set("Content-Length", "2");
        res.write("a");
        res.end("b");
    }), ["/", "HEAD /"]),
    built("informational replies", (app) => app.get("/", (req, res) => {
        res.writeProcessing();
        res.send("final");
    })),
    {
        name: "http.createServer(app)",
        app(express, t) {
            const app = express();
            app.get("/", passing(t, "get"), (req, res) => res.json([Object.getPrototypeOf(req) === app.request, req.app === app, req.get("host")]));
            return app;
        },
        listen: (app, t) => createServer(app).listen(0, t.HOST),
        requests: ["/", "/none", "HEAD /"],
    },
    {
        name: "http.createServer around an app",
        app: (express) => express().get("/", (req, res) => res.json([req.url, req.before])),
        listen: (app, t) => createServer((req, res) => {
            req.before = "set";
            res.setHeader("X-Around", "yes");
            app(req, res);
        }).listen(0, t.HOST),
        requests: ["/", "/none"],
    },
    {
        name: "one server, two apps by host",
        app(express) {
            const apps = ["a", "b"].map((name) => express().get("/", (req, res) => res.set("X-App", name).json([name, req.app.get("name") ?? null])));
            apps[1].set("name", "second");
            return Object.assign((req, res) => apps[req.headers.host === "b" ? 1 : 0](req, res));
        },
        requests: [{ path: "/", headers: { Host: "a" } }, { path: "/", headers: { Host: "b" } }, { path: "/", headers: { Host: "a" } }],
    },
    ...[
        ["port, host and callback", (app, t, done) => app.listen(0, t.HOST, done)],
        ["port, host, backlog and callback", (app, t, done) => app.listen(0, t.HOST, 5, done)],
        ["an object and a callback", (app, t, done) => app.listen({ port: 0, host: t.HOST }, done)],
        ["port and callback", (app, t, done) => app.listen(0, done)],
        ["a port as text", (app, t, done) => app.listen("0", t.HOST, done)],
        ["a callback alone", (app, t, done) => app.listen(done)],
    ].map(([name, listen]) => ({
        name: `listen with ${name}`,
        app: (express) => express().get("/", (req, res) => res.send("listening")),
        async listen(app, t) {
            let server;
            await new Promise((resolve) => {
                server = listen(app, t, function done(...args) {
                    t.log("listening", args.length, this === server, this?.constructor?.name);
                    resolve();
                });
            });
            t.log(server.listening, typeof server.address().port, server.listenerCount("request"), server.listeners("request")[0] === app, server.constructor.name);
            return server;
        },
        requests: ["/"],
    })),
    {
        name: "listen on a port that is taken",
        app: (express) => Object.assign(express(), { again: () => express() }),
        async listen(app, t) {
            const first = app.listen(0, t.HOST);
            await new Promise((resolve) => void first.once("listening", resolve));
            await new Promise((resolve) => {
                // Express 5 tells the callback, Express 4 the server alone.
                const second = app.again().listen(first.address().port, t.HOST, (error) => t.log("callback", error?.code));
                second.on("error", (error) => (t.log("error", error.code), resolve()));
                if (t.version === 5) second.once("error", resolve);
            });
            return first;
        },
        requests: ["/"],
    },
    {
        name: "listen on a host that is none, with a callback",
        app: (express) => express(),
        async listen(app, t) {
            const server = app.listen(0, "127.0.0.300");
            await new Promise((resolve) => void server.on("error", (error) => (t.log("error", error.code), resolve())));
            return null;
        },
        requests: [],
    },
    {
        name: "listen with what is no port",
        app: (express) => express(),
        async listen(app, t) {
            for (const port of [-1, 65_536, NaN, {}]) {
                try {
                    app.listen(port, () => {}).on("listening", function close() {
                        this.close();
                    });
                    t.log("no error");
                } catch (error) {
                    t.log(error);
                }
            }
            return null;
        },
        requests: [],
    },
    {
        name: "two servers of one app",
        app: (express) => express().get("/", (req, res) => res.send("either")),
        async listen(app, t) {
            const other = app.listen(0, t.HOST);
            await new Promise((resolve) => void other.once("listening", resolve));
            await new Promise((resolve) => void other.close(resolve));
            t.log("the other one is closed");
            return app.listen(0, t.HOST);
        },
        requests: ["/"],
    },
];
