// Requests and replies as streams: pipes, pipeline, finished, destroy, web streams.
import { Duplex, PassThrough, Readable, Transform, Writable, finished, pipeline } from "node:stream";
import { pipeline as pipelined } from "node:stream/promises";
import { createGzip, createGunzip, gzipSync } from "node:zlib";
import { ended, get, go, logged, post, quiet, reply, request, until } from "../script.mjs";

const upper = () => new Transform({
    transform: (part, _, done) => done(null, part.toString("latin1").toUpperCase()),
});

export const cases = [
    {
        name: "what the messages are instances of",
        handle(req, res, { http, log }) {
            log(req instanceof http.IncomingMessage, req instanceof Readable, res instanceof http.ServerResponse, res instanceof http.OutgoingMessage, res instanceof Writable);
            log(typeof res.pipe, typeof res.on, req.constructor.name, res.constructor.name);
            res.end();
        },
    },
    {
        name: "echo by pipe",
        joined: true,
        handle: (req, res) => req.pipe(res),
        script: [post("/", "echo me"), reply, post("/", "e".repeat(300_000)), reply, get(), reply],
    },
    {
        name: "echo by pipeline",
        handle: (req, res, { log }) => pipeline(req, res, (error) => log("done", error ?? "well", req.destroyed, res.writableFinished)),
        script: [post("/", "echo me"), reply, logged("done")],
    },
    {
        name: "echo through a transform",
        joined: true,
        handle: (req, res, { log }) => pipeline(req, upper(), res, (error) => log("done", error ?? "well")),
        script: [post("/", "abc".repeat(50_000)), reply, logged("done")],
    },
    {
        name: "echo by pipeline of promises",
        async handle(req, res, { log }) {
            await pipelined(req, async function* (source) {
                for await (const part of source) yield part;
            }, res);
            log("done");
        },
        script: [post("/", "promised"), reply, logged("done")],
    },
    {
        name: "a Readable piped into the reply",
        handle: (req, res) => void Readable.from(["a", "b", Buffer.from("c")]).pipe(res),
    },
    {
        name: "a Readable of 5 MB piped into the reply",
        handle(req, res) {
            res.setHeader("Content-Length", 5_000_000);
            let left = 50;
            new Readable({
                read() {
                    this.push(left-- > 0 ? Buffer.alloc(100_000, 97 + left % 26) : null);
                },
            }).pipe(res);
        },
    },
    {
        name: "piping without ending",
        handle(req, res) {
            const source = new PassThrough();
            source.pipe(res, { end: false });
            source.on("end", () => res.end("!"));
            source.end("x");
        },
    },
    {
        name: "gzip out",
        joined: true,
        handle(req, res) {
            res.setHeader("Content-Encoding", "gzip");
            const zip = createGzip({ level: 1 });
            zip.pipe(res);
            zip.end("z".repeat(10_000));
        },
    },
    {
        name: "gzip in",
        handle(req, res, { log }) {
            let size = 0;
            req.pipe(createGunzip()).on("data", (part) => (size += part.length)).on("end", () => {
                log(size);
                res.end();
            });
        },
        script: [post("/", gzipSync("y".repeat(100_000)).toString("latin1")), reply],
    },
    {
        name: "a bad gzip body is an error of the unzipper alone",
        handle(req, res, { log }) {
            req.pipe(createGunzip()).on("error", (error) => {
                log(error.code);
                res.statusCode = 400;
                res.end("bad");
            });
        },
        script: [post("/", "not gzip at all"), reply],
    },
    {
        name: "piping from the reply is refused",
        handle(req, res, { spy, attempt }) {
            spy("res", res, "error");
            attempt("pipe", () => res.pipe(new PassThrough()));
            res.end();
        },
    },
    {
        name: "events when something is piped into the reply",
        handle(req, res, { log, spy }) {
            spy("res", res, "pipe", "unpipe", "prefinish", "finish", "close");
            const source = Readable.from(["x"]);
            source.pipe(res);
            log("piped");
        },
        script: [get(), reply, logged("res close")],
    },
    {
        name: "finished() tells of a whole exchange",
        handle(req, res, { log }) {
            finished(req, (error) => log("req finished", error ?? "well"));
            finished(res, (error) => log("res finished", error ?? "well"));
            req.resume();
            res.end("x");
        },
        script: [post("/", "abc"), reply, logged("req finished"), logged("res finished")],
    },
    {
        name: "finished() tells of a client that has gone",
        handle(req, res, { log }) {
            finished(req, (error) => log("req finished", error ?? "well"));
            finished(res, (error) => log("res finished", error ?? "well"));
            log("there");
            res.write("x");
        },
        script: [post("/", "abc"), until("x"), (s) => s.peer.reset(), logged("res finished")],
    },
    {
        name: "pipeline into a reply whose client has gone",
        handle(req, res, { log }) {
            const source = new PassThrough();
            source.write("x");
            pipeline(source, res, (error) => log("done", error.code, source.destroyed));
        },
        script: [get(), until("x"), (s) => s.peer.reset(), logged("done")],
    },
    {
        name: "a source that fails in the middle of pipeline cuts the reply",
        handle(req, res, { log, when, spy }) {
            spy("res", res, "close", "error", "finish");
            const source = new PassThrough();
            source.write("x");
            pipeline(source, res, (error) => log("done", error));
            when("fail", () => source.destroy(new Error("source broke")));
        },
        script: [get(), until("x"), go("fail"), ended, logged("done")],
    },
    {
        name: "destroying the reply before the head",
        handle(req, res, { log, spy }) {
            spy("req", req, "close", "aborted", "error");
            spy("res", res, "close", "error", "finish");
            log(res.destroy() === res, res.destroyed, res.writableEnded);
        },
        script: [get(), ended, logged("res close")],
    },
    {
        name: "destroying the reply with an error",
        handle(req, res, { log, spy }) {
            spy("req", req, "close", "aborted");
            spy("res", res, "close", "error", "finish");
            spy("socket", req.socket, "close", "error");
            res.destroy(new Error("broken"));
            log(res.errored.message, res.writable);
        },
        script: [get(), ended, logged("res close"), logged("socket close")],
    },
    {
        name: "destroying the reply in the middle of the body",
        handle(req, res, { when, spy }) {
            spy("req", req, "close", "aborted");
            spy("res", res, "close", "error", "finish");
            res.write("half");
            when("destroy", () => res.destroy());
        },
        script: [get(), until("half"), go("destroy"), ended, logged("res close")],
    },
    {
        name: "destroying the reply after the end",
        handle(req, res, { spy }) {
            spy("res", res, "close", "error", "finish");
            res.end("whole");
            res.destroy();
        },
        script: [get(), ended, logged("res close")],
    },
    {
        name: "writes after destroy",
        handle(req, res, { log, attempt }) {
            res.on("error", (error) => log("res error", error));
            res.destroy();
            attempt("write", () => res.write("x", (error) => log("write callback", error)));
            attempt("end", () => res.end("y", (error) => log("end callback", error ?? "none")));
        },
        script: [get(), ended, logged("write callback")],
    },
    {
        name: "a web ReadableStream into the reply",
        async handle(req, res) {
            const stream = new ReadableStream({
                start(controller) {
                    controller.enqueue(new Uint8Array([97, 98]));
                    controller.enqueue(new Uint8Array([99]));
                    controller.close();
                },
            });
            for await (const part of stream) res.write(part);
            res.end();
        },
    },
    {
        name: "a request as a web stream",
        async handle(req, res) {
            let text = "";
            for await (const part of Readable.toWeb(req)) text += Buffer.from(part).toString();
            res.end(text);
        },
        script: [post("/", "web"), reply],
    },
    {
        name: "the reply as a web stream",
        async handle(req, res, { attempt }) {
            attempt("toWeb", () => Writable.toWeb(res) !== null);
            if (!res.writableEnded) res.end("plain");
        },
    },
    {
        name: "operators of a request",
        async handle(req, res) {
            const parts = await req.map((part) => part.toString()).toArray();
            res.end(parts.join(""));
        },
        script: [post("/", "mapped"), reply],
    },
    {
        name: "what stream.isX says of the messages",
        handle(req, res, { log }) {
            const state = () => log(Readable.isDisturbed(req), req.readableAborted, req.readableDidRead, res.writableAborted, Object.hasOwn(res, "writable"));
            state();
            req.resume();
            req.on("end", () => {
                state();
                res.end();
            });
        },
        script: [post("/", "x"), reply],
    },
    {
        name: "unpipe in the middle",
        handle(req, res, { log }) {
            const sink = new PassThrough();
            sink.on("data", (part) => {
                log("sink", part);
                req.unpipe(sink);
                log(req.isPaused(), req.readableFlowing);
                req.resume();
                req.on("data", (rest) => log("rest", rest));
                req.on("end", () => res.end());
            });
            req.pipe(sink);
        },
        script: [request("POST", "/", "Content-Length: 6") + "abc", logged("sink"), "def", reply],
    },
    {
        name: "two sinks for one request",
        handle(req, res, { log }) {
            let [a, b] = ["", ""];
            req.pipe(new Writable({ write: (part, _, done) => ((a += part), done()) }));
            req.pipe(new Writable({ write: (part, _, done) => ((b += part), done()) }));
            req.on("end", () => setImmediate(() => {
                log(a === b, a);
                res.end();
            }));
        },
        script: [post("/", "twice"), reply],
    },
    {
        name: "backpressure holds a slow reader's client back",
        handle(req, res, { log, when }) {
            req.once("readable", () => log("readable"));
            when("drain", () => {
                let size = 0;
                req.on("data", (part) => (size += part.length));
                req.on("end", () => {
                    log(size);
                    res.end();
                });
            });
        },
        script: [
            request("POST", "/", "Content-Length: 20000000") + "b".repeat(20_000_000),
            logged("readable"),
            quiet,
            (s) => s.record.add("held back:", s.peer.socket.writableLength > 5_000_000),
            go("drain"),
            reply,
        ],
    },
    {
        name: "a Duplex between request and reply",
        handle(req, res) {
            const pass = Duplex.from(async function* (source) {
                for await (const part of source) yield `<${part}>`;
            });
            req.pipe(pass).pipe(res);
        },
        script: [post("/", "x"), reply],
    },
    {
        name: "pipe into a reply that has ended",
        handle(req, res, { spy, log }) {
            res.on("error", (error) => log("res error", error));
            spy("res", res, "finish");
            res.end("whole");
            Readable.from(["late"]).pipe(res);
        },
        script: [get(), reply, quiet],
    },
];
