// Several requests at once on one connection: order of replies and of events.
import { chunk, chunkedPost, ended, fin, get, go, logged, post, quiet, replies, reply } from "../script.mjs";

export const cases = [
    {
        name: "replies in order",
        handle: (req, res) => res.end(req.url),
        script: [get("/1") + get("/2") + get("/3"), replies(3)],
    },
    {
        name: "thirty at once",
        handle: (req, res) => res.end(req.url),
        script: [Array.from({ length: 30 }, (_, at) => get(`/${at}`)).join(""), replies(30)],
    },
    {
        name: "a first that answers late keeps the others' order",
        handle(req, res, { when }) {
            if (req.url === "/1") when("first", () => res.end("first"));
            else res.end(req.url);
        },
        script: [get("/1") + get("/2") + get("/3"), quiet, (s) => s.record.add(s.peer.text.length), go("first"), replies(3)],
    },
    {
        name: "all answered in reverse",
        handle(req, res, ctx) {
            (ctx.held ??= []).push(res);
            if (ctx.held.length === 3) for (const [at, held] of ctx.held.reverse().entries()) held.end(`${at}`);
        },
        script: [get("/1") + get("/2") + get("/3"), replies(3)],
    },
    {
        name: "bodies among them",
        handle(req, res) {
            let text = "";
            req.on("data", (part) => (text += part));
            req.on("end", () => res.end(`${req.method} ${text}`));
        },
        script: [post("/", "one") + get() + chunkedPost() + chunk("two") + "0\r\n\r\n" + get(), replies(4)],
    },
    {
        name: "bodies that nobody reads",
        handle: (req, res) => res.end(req.url),
        script: [post("/1", "one") + get("/2") + chunkedPost("/3") + chunk("two") + "0\r\n\r\n" + get("/4"), replies(4)],
    },
    {
        name: "close in the middle",
        handle: (req, res) => res.end(req.url),
        script: [get("/1") + get("/2", "Connection: close") + get("/3"), ended],
    },
    {
        name: "a reply that closes in the middle",
        handle(req, res) {
            if (req.url === "/2") res.setHeader("Connection", "close");
            res.end(req.url);
        },
        script: [get("/1") + get("/2") + get("/3"), ended],
    },
    {
        name: "HTTP/1.0 in the middle",
        handle: (req, res) => res.end(req.url),
        script: [get("/1") + "GET /2 HTTP/1.0\r\n\r\n" + get("/3"), ended],
    },
    {
        name: "chunked replies",
        handle(req, res) {
            res.write(req.url);
            setImmediate(() => res.end("!"));
        },
        script: [get("/1") + get("/2"), replies(2)],
    },
    {
        name: "events of each reply",
        handle(req, res, { log }) {
            log("request", req.url);
            for (const name of ["finish", "close"]) res.on(name, () => log(req.url, name));
            res.end(req.url);
        },
        script: [get("/1"), reply, logged("close"), get("/2"), reply, logged("close", 2)],
    },
    {
        name: "the second is seen while the first waits",
        handle(req, res, { when, log }) {
            log("request", req.url, res.socket === null);
            if (req.url === "/1") when("first", () => res.end("first"));
            else res.end(req.url);
        },
        script: [get("/1") + get("/2"), quiet, go("first"), replies(2)],
    },
    {
        name: "the client goes while several wait",
        handle(req, res, { log }) {
            log("request", req.url);
            res.on("close", () => log(req.url, "close"));
        },
        script: [get("/1"), logged("request"), (s) => s.peer.reset(), logged("/1 close")],
    },
    {
        name: "the client ends its side right behind them",
        handle: (req, res, { log }) => res.end(req.url, () => log("sent", req.url)),
        script: [get("/1") + get("/2") + get("/3") + get("/4"), fin, replies(4), ended],
    },
    {
        name: "one in two pieces behind a whole one",
        handle: (req, res) => res.end(req.url),
        script: [`${get("/1")}GET /2 HT`, reply, "TP/1.1\r\nHost: a\r\n\r\n", reply],
    },
    {
        name: "a reply of a megabyte, then a small one",
        handle: (req, res) => res.end(req.url === "/1" ? Buffer.alloc(1_000_000, "m") : "small"),
        script: [get("/1") + get("/2"), replies(2)],
    },
];
