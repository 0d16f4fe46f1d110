// The response as node:http's: write, end, writeHead, pipes, events, trailers, interim replies, under Express.
import { createReadStream } from "node:fs";
import { Readable, pipeline } from "node:stream";
import { createGzip, gunzipSync } from "node:zlib";
import { answers, get, head, post, shown, told } from "../shapes.mjs";

const tried = (t, act) => {
    try {
        t.log(shown(act()));
    } catch (error) {
        t.log(told(error));
    }
};

export default [
    answers("end with nothing", (req, res) => res.end()),
    answers("end with text", (req, res) => res.end("héllo")),
    answers("end with an encoding", (req, res) => res.end("héllo", "latin1")),
    answers("end with bytes", (req, res) => res.end(new Uint8Array([104, 105]))),
    answers("end with a callback", (req, res, next, t) => res.end("x", () => t.log("ended"))),
    answers("end(callback)", (req, res, next, t) => res.end(() => t.log("ended"))),
    answers("end of what may not be", (req, res, next, t) => {
        for (const value of [5, true, {}, [], Symbol("x"), 5n]) tried(t, () => res.end(value) === res);
        res.end("at last");
    }),
    answers("end returns the response; writable states", (req, res, next, t) => {
        t.log(`${res.writable} ${res.writableEnded} ${res.writableFinished} ${res.finished}`);
        t.log(String(res.end("x") === res));
        t.log(`${res.writable} ${res.writableEnded} ${res.finished}`);
    }),
    answers("end twice", (req, res, next, t) => {
        res.end("one", () => t.log("first"));
        res.end("two", (error) => t.log(error ? told(error) : "second"));
    }, [get()], { harness: { throws: true } }),
    answers("write and end", (req, res) => {
        res.write("one");
        res.write(Buffer.from("two"));
        res.end("three");
    }),
    answers("write and end with a length", (req, res) => {
        res.set("Content-Length", "6");
        res.write("one");
        res.end("two");
    }),
    answers("write under HTTP/1.0", (req, res) => {
        res.write("one");
        res.end("two");
    }, [get("/", {}, { http: "1.0" })]),
    answers("write to HEAD", (req, res) => {
        res.write("one");
        res.end("two");
    }, [head()]),
    answers("write of what may not be", (req, res, next, t) => {
        for (const value of [undefined, null, 5, {}, true]) tried(t, () => res.write(value));
        res.end();
    }),
    answers("write of nothing", (req, res) => {
        res.write("");
        res.write(Buffer.alloc(0));
        res.end();
    }),
    answers("write after end, with its error", (req, res, next, t) => {
        res.on("error", (error) => t.log(`event ${told(error)}`));
        res.end("x");
        t.log(shown(res.write("more", (error) => t.log(`callback ${told(error)}`))));
    }, [get()], { harness: { ends: "event" } }),
    answers("write after end, uncaught", (req, res) => {
        res.end("x");
        res.write("more");
    }, [get()], { harness: { throws: true } }),
    answers("write with a callback and an encoding", (req, res, next, t) => {
        res.write("é", "latin1", () => t.log("written"));
        res.end();
    }),
    answers("an object through write", (req, res) => res.write({ a: 1 })),
    answers("writeHead", (req, res) => {
        res.set("X-A", "1");
        res.writeHead(201, { "X-B": "2", "x-a": "3" });
        res.end("x");
    }),
    answers("writeHead with a reason", (req, res) => {
        res.writeHead(404, "Not Mine", { "Content-Type": "text/x" });
        res.end("x");
    }),
    answers("writeHead with a list", (req, res) => {
        res.writeHead(200, ["X-A", "1", "X-A", "2"]);
        res.end("x");
    }),
    answers("writeHead, then send", (req, res) => {
        res.writeHead(200, { "X-B": "2" });
        res.send("x");
    }),
    answers("writeHead of a bad status", (req, res, next, t) => {
        for (const status of [99, 1000, "abc", null, NaN]) tried(t, () => res.writeHead(status) === res);
        res.end("x");
    }),
    answers("writeHead twice", (req, res, next, t) => {
        res.writeHead(200);
        tried(t, () => res.writeHead(201));
        res.end("x");
    }),
    answers("a replaced writeHead sees Express's headers", (req, res, next, t) => {
        const { writeHead } = res;
        res.writeHead = function (...args) {
            t.log(`${args.join()} ${res.statusCode} ${JSON.stringify(res.getHeaders())}`);
            return writeHead.apply(this, args);
        };
        if (req.path === "/json") res.status(201).json({ a: 1 });
        else if (req.path === "/send") res.send("x");
        else if (req.path === "/end") res.end("x");
        else if (req.path === "/redirect") res.redirect("/to");
        else res.sendStatus(404);
    }, ["/json", "/send", "/end", "/redirect", "/status"].map((path) => get(path))),
    answers("a replaced end sees what send gives", (req, res, next, t) => {
        const { end } = res;
        res.end = function (...args) {
            t.log(args.map(shown).join(" "));
            return end.apply(this, args);
        };
        if (req.path === "/json") res.json({ a: 1 });
        else if (req.path === "/long") res.send("é".repeat(10));
        else if (req.path === "/buffer") res.send(Buffer.from("b"));
        else if (req.path === "/none") res.send();
        else if (req.path === "/204") res.status(204).send("b");
        else res.sendStatus(200);
    }, [...["/json", "/long", "/buffer", "/none", "/204", "/status"].map((path) => get(path)), head("/json")]),
    answers("a replaced write and end, as compression does it", (req, res, next) => {
        const { write, end } = res;
        const parts = [];
        res.write = (chunk, encoding) => void parts.push(Buffer.from(chunk, encoding));
        res.end = (chunk, encoding) => {
            if (chunk) parts.push(Buffer.from(chunk, encoding));
            const all = Buffer.from(Buffer.concat(parts).toString().toUpperCase());
            res.write = write;
            res.end = end;
            res.removeHeader("Content-Length");
            res.set("X-Upper", "1");
            return res.end(all);
        };
        if (req.path === "/json") res.json({ a: "b" });
        else if (req.path === "/send") res.send("text");
        else next();
    }, [get("/json"), get("/send"), head("/json"), get("/none"), get("/json", { "If-None-Match": "*" })]),
    answers("flushHeaders", (req, res, next, t) => {
        res.set("X-A", "1").flushHeaders();
        t.log(String(res.headersSent));
        res.end("x");
    }),
    answers("flushHeaders, then send", (req, res) => {
        res.flushHeaders();
        res.send("x");
    }),
    answers("flushHeaders, then json with ETag", (req, res, next, t) => {
        res.flushHeaders();
        tried(t, () => res.json({ a: 1 }));
        res.end();
    }),
    answers("events of a response", (req, res, next, t) => {
        for (const event of ["prefinish", "finish", "end", "close"]) res.on(event, () => t.log(`res ${event}`));
        for (const event of ["end", "close"]) req.on(event, () => t.log(`req ${event}`));
        req.resume();
        res.send("x");
    }, [get(), post("text/plain", "body")]),
    answers("trailers", (req, res) => {
        res.set("Trailer", "X-T");
        res.write("x");
        res.addTrailers({ "X-T": "1" });
        res.end();
    }),
    answers("interim replies", (req, res) => {
        res.writeProcessing();
        res.writeEarlyHints({ link: "</a.css>; rel=preload" });
        res.send("x");
    }),
    answers("cork and uncork", (req, res, next, t) => {
        res.cork();
        res.write("a");
        res.write("b");
        t.log(String(res.writableCorked));
        res.uncork();
        res.end("c");
    }),
    answers("a stream piped to the response", (req, res) => Readable.from(["one", "two", "three"]).pipe(res)),
    answers("a file piped to the response", (req, res, next, t) => createReadStream(`${t.dir}/static/large.bin`).pipe(res.type("bin"))),
    answers("a file piped through gzip", (req, res, next, t) => {
        res.set("Content-Encoding", "gzip");
        const parts = [];
        const gzip = createGzip();
        gzip.on("data", (part) => parts.push(part)).on("end", () => res.end(String(gunzipSync(Buffer.concat(parts)).length)));
        createReadStream(`${t.dir}/static/large.bin`).pipe(gzip);
    }),
    answers("pipeline to the response", (req, res, next, t) => void pipeline(Readable.from(["a", "b"]), res, (error) => t.log(error ? told(error) : "over")), [get()], { harness: { ends: "over" } }),
    answers("pipeline of a stream that fails before a byte", (req, res, next, t) => {
        const failing = new Readable({ read() {
            this.destroy(new Error("from the stream"));
        } });
        pipeline(failing, res, (error) => {
            t.log(told(error));
            t.log(`${res.headersSent} ${res.destroyed}`);
        });
    }, [get("/", {}, { replies: 0 })], { harness: { ends: "false " } }),
    answers("a stream that fails, piped: next answers", (req, res, next) => {
        const failing = new Readable({ read() {
            this.destroy(new Error("from the stream"));
        } });
        failing.on("error", next).pipe(res);
    }),
    answers("a request piped back", (req, res) => req.pipe(res), [post("text/plain", "echo"), post("text/plain", ["ec", "ho"]), post("application/octet-stream", Buffer.alloc(300_000, 5))]),
    answers("a request read by async iteration", async (req, res) => {
        let length = 0;
        for await (const chunk of req) length += chunk.length;
        res.json({ length });
    }, [post("text/plain", "echo"), post("text/plain", ["ec", "ho"]), get()]),
    answers("large writes and drain", (req, res, next, t) => {
        let left = 20;
        const more = () => {
            while (left > 0) {
                left -= 1;
                if (!res.write(Buffer.alloc(50_000, left))) {
                    res.once("drain", more);
                    return;
                }
            }
            res.end(() => t.log("over"));
        };
        more();
    }),
    answers("res.destroy", (req, res, next, t) => {
        res.on("close", () => t.log(`closed ${res.headersSent} ${res.writableFinished}`));
        res.destroy();
    }, [get("/", {}, { replies: 0 })]),
    answers("res.destroy in the middle", (req, res, next, t) => {
        res.on("close", () => t.log(`closed ${res.headersSent} ${res.writableFinished}`));
        res.write("part", () => res.destroy());
    }, [get("/", {}, { replies: 0 })]),
    answers("res.socket and res.connection", (req, res, next, t) => {
        t.log(`${res.socket === req.socket} ${res.connection === res.socket} ${typeof res.socket.remoteAddress} ${res.socket.destroyed}`);
        res.end();
    }),
    answers("res.req, res.app, req.res, req.app", (req, res, next, t) => {
        t.log(`${res.req === req} ${res.app === req.app} ${req.res === res} ${Object.hasOwn(res, "req")} ${Object.hasOwn(res, "app")} ${Object.hasOwn(res, "locals")}`);
        res.end();
    }),
    answers("own keys that Express puts on messages", (req, res, next, t) => {
        // `_parsedUrl` may be made when it is read.
        t.log(`${req._parsedUrl.pathname} ${req._parsedUrl._raw}`);
        const ours = ["res", "next", "baseUrl", "originalUrl", "params", "route", "query", "body", "app", "url"];
        t.log(ours.filter((name) => Object.hasOwn(req, name)).join());
        t.log(["req", "locals", "app"].filter((name) => Object.hasOwn(res, name)).join());
        res.end();
    }, [get("/a?b=c"), get("/")]),
    answers("res.locals", (req, res, next, t) => {
        t.log(`${Object.getPrototypeOf(res.locals)} ${JSON.stringify(res.locals)}`);
        res.locals.a = 1;
        res.json(res.locals);
    }),
    {
        name: "res.locals set before Express, and replaced",
        app(express, t) {
            const app = express();
            app.use((req, res) => {
                t.log(JSON.stringify(res.locals));
                res.locals = { mine: true };
                res.json(res.locals);
            });
            return (req, res) => {
                res.locals = { early: true };
                app(req, res);
            };
        },
        requests: [get()],
    },
    answers("setTimeout of the response returns it", (req, res, next, t) => {
        t.log(String(res.setTimeout(50_000) === res));
        res.end();
    }),
    answers("assignSocket, detachSocket and strictContentLength exist", (req, res, next, t) => {
        t.log(`${typeof res.assignSocket} ${typeof res.detachSocket} ${res.strictContentLength} ${res.chunkedEncoding} ${res.shouldKeepAlive} ${res.useChunkedEncodingByDefault} ${res.sendDate}`);
        res.end();
    }),
    answers("strictContentLength", (req, res, next, t) => {
        res.strictContentLength = true;
        res.set("Content-Length", "3");
        tried(t, () => res.end("four"));
        res.end("abc");
    }),
    answers("the response is a ServerResponse, the request an IncomingMessage", (req, res, next, t, express) => {
        t.log(`${res instanceof req.app.response.constructor} ${Object.prototype.isPrototypeOf.call(express.response, res)} ${Object.prototype.isPrototypeOf.call(express.request, req)} ${Object.prototype.isPrototypeOf.call(req.app.response, res)} ${Object.getPrototypeOf(res) === req.app.response} ${Object.getPrototypeOf(req) === req.app.request}`);
        t.log(`${res.constructor.name} ${req.constructor.name}`);
        res.end();
    }),
    answers("methods of the prototypes", (req, res, next, t, express) => {
        t.log(Object.keys(express.response).sort().join());
        t.log(Object.keys(express.request).sort().join());
        t.log(Object.getOwnPropertyNames(express.request).filter((name) => name !== "_parsedUrl").sort().join());
        t.log(Object.keys(express.response).sort().map((name) => `${name} ${express.response[name].length}`).join("; "));
        // Those that are anonymous in Express may have a name.
        t.log(["send", "json", "jsonp", "status", "sendStatus", "set", "header", "clearCookie", "location", "redirect", "render", "sendFile", "download", "type", "contentType", "attachment", "append"].map((name) => `${name} ${express.response[name].name}`).join("; "));
        res.end();
    }),
];
