// What a program sees of a request's body.
import { chunk, chunkedPost, ended, fin, get, go, logged, post, quiet, reply, replies, request } from "../script.mjs";

/** Reads the whole body, logs it, answers. */
const reads = (name, script, more = {}) => ({
    name,
    handle(req, res, { log, spy }) {
        const parts = [];
        req.on("data", (part) => parts.push(part));
        spy("req", req, "end", "close", "error");
        req.on("end", () => {
            const body = Buffer.concat(parts);
            log(body.length > 100 ? body.length : body, req.complete, req.rawTrailers);
            res.end(`got ${body.length}`);
        });
    },
    script,
    ...more,
});

const close = logged("req close");

export const cases = [
    reads("a length", [post("/", "hello"), reply, close]),
    reads("a length of zero", [post("/", ""), reply, close]),
    reads("no body", [get(), reply, close]),
    reads("a POST without length or coding", [request("POST"), reply, close]),
    reads("a body on GET", [request("GET", "/", "Content-Length: 3") + "abc", reply, close]),
    reads("a body on DELETE and OPTIONS", [request("DELETE", "/", "Content-Length: 3") + "abc", reply, request("OPTIONS", "*", "Content-Length: 2") + "de", reply]),
    reads("a length, the body later", [request("POST", "/", "Content-Length: 5"), quiet, "he", quiet, "llo", reply, close]),
    reads("a length, in single bytes", [request("POST", "/", "Content-Length: 5"), ..."hello", reply, close]),
    reads("a length with leading zeros", [request("POST", "/", "Content-Length: 005") + "hello", reply]),
    reads("chunked", [chunkedPost() + chunk("hello") + chunk(" world") + "0\r\n\r\n", reply, close]),
    reads("chunked, in single bytes", [...(chunkedPost() + chunk("hello") + "0\r\n\r\n"), reply, close]),
    reads("chunked, an empty body", [`${chunkedPost()}0\r\n\r\n`, reply, close]),
    reads("chunked, sizes in upper case hex", [`${chunkedPost()}A\r\n0123456789\r\n0B\r\n0123456789a\r\n000\r\n\r\n`, reply]),
    reads("chunked, with extensions", [`${chunkedPost()}3;a=b;c="d"\r\nabc\r\n0;x\r\n\r\n`, reply]),
    reads("chunked, spelt Chunked", [request("POST", "/", "Transfer-Encoding: Chunked") + chunk("x") + "0\r\n\r\n", reply]),
    reads("chunked on GET", [request("GET", "/", "Transfer-Encoding: chunked") + chunk("x") + "0\r\n\r\n", reply]),
    reads("chunked, with trailers", [`${chunkedPost("/", "Trailer: X-T")}${chunk("x")}0\r\nX-T: 1\r\nx-t: 2\r\n\r\n`, reply]),
    reads("every byte there is", [post("/", Buffer.from(Array.from({ length: 100 }, (_, at) => (at * 3) & 0xff)).toString("latin1")), reply]),
    reads("100,000 bytes", [post("/", "b".repeat(100_000)), reply, close]),
    reads("3,000,000 bytes", [post("/", "b".repeat(3_000_000)), reply, close]),
    reads("3,000,000 bytes in chunks", [chunkedPost() + chunk("c".repeat(60_000)).repeat(50) + "0\r\n\r\n", reply, close]),
    reads("2,000 small chunks", [chunkedPost() + chunk("c").repeat(2000) + "0\r\n\r\n", reply, close]),
    reads("one after the other on a connection", [post("/", "1"), reply, chunkedPost() + chunk("22") + "0\r\n\r\n", reply, post("/", ""), reply, get(), reply, post("/", "55555"), reply]),
    {
        name: "a body that nobody reads is skipped after the reply",
        handle(req, res, { log }) {
            log(req.url);
            res.end("early");
        },
        script: [post("/1", "unread"), reply, get("/2"), reply, post("/3", "u".repeat(500_000)), reply, get("/4"), reply],
    },
    {
        name: "a body that comes after the reply is skipped",
        handle(req, res, { log, spy }) {
            log(req.url);
            if (req.url === "/1") spy("req", req, "end", "close", "data");
            spy(`res ${req.url}`, res, "finish", "close");
            res.end("early");
        },
        script: [request("POST", "/1", "Content-Length: 10"), reply, quiet, "12345", quiet, "67890", logged("req end"), quiet, get("/2"), reply],
    },
    {
        name: "events around a body that nobody reads",
        handle(req, res, { spy }) {
            spy("req", req, "end", "close", "resume", "pause");
            spy("res", res, "finish", "close");
            res.end();
        },
        script: [post("/", "unread"), reply, logged("req close"), logged("res close")],
    },
    {
        name: "events around a body that is read",
        handle(req, res, { spy }) {
            spy("req", req, "end", "close", "readable", "error", "aborted");
            spy("res", res, "finish", "close", "prefinish");
            req.on("readable", () => void req.read());
            req.on("end", () => res.end());
        },
        script: [post("/", "read"), reply, logged("req close"), logged("res close")],
    },
    {
        name: "setEncoding gives strings across cut characters",
        handle(req, res, { log }) {
            req.setEncoding("utf8");
            let text = "";
            req.on("data", (part) => {
                if (typeof part !== "string") log("no string");
                text += part;
            });
            req.on("end", () => {
                log(text);
                res.end();
            });
        },
        script: [request("POST", "/", "Content-Length: 6") + "a\xe2", quiet, "\x82", quiet, "\xacb\n", reply],
    },
    {
        name: "for await over a request",
        async handle(req, res, { log }) {
            let size = 0;
            for await (const part of req) size += part.length;
            log(size, req.complete, req.destroyed);
            res.end("done");
        },
        script: [post("/", "d".repeat(200_000)), reply, get(), reply],
    },
    {
        name: "read() by hand",
        handle(req, res, { log }) {
            req.on("readable", () => {
                let part;
                while ((part = req.read(2)) !== null) log(part);
            });
            req.on("end", () => res.end());
        },
        script: [post("/", "abcdef"), reply],
    },
    {
        name: "pause holds data and end back",
        handle(req, res, { log, when }) {
            req.on("data", (part) => log("data", part));
            req.on("end", () => {
                log("end");
                res.end();
            });
            req.pause();
            log(req.isPaused());
            when("resume", () => req.resume());
        },
        script: [post("/", "held"), quiet, quiet, (s) => s.record.add("resuming"), go("resume"), reply],
    },
    {
        name: "a listener that comes late misses nothing",
        handle(req, res, { log, when }) {
            when("read", () => {
                req.on("data", (part) => log("data", part));
                req.on("end", () => res.end());
            });
        },
        script: [post("/", "late"), quiet, go("read"), reply],
    },
    {
        name: "answered before the body, which is read all the same",
        handle(req, res, { log }) {
            res.write("early ");
            req.on("data", (part) => log("data", part));
            req.on("end", () => res.end("late"));
        },
        script: [request("POST", "/", "Content-Length: 4"), (s) => s.until(() => s.peer.text.includes("early"), "early"), "body", reply],
    },
    {
        name: "destroying the request ends the connection",
        handle(req, res, { spy }) {
            spy("req", req, "error", "aborted", "close");
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close");
            req.destroy();
        },
        script: [request("POST", "/", "Content-Length: 4"), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroying the request with an error",
        handle(req, res, { spy }) {
            spy("req", req, "error", "aborted", "close");
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close", "error");
            req.destroy(new Error("enough"));
        },
        script: [request("POST", "/", "Content-Length: 4"), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "the client ends in the middle of a body",
        handle(req, res, { log, spy }) {
            spy("req", req, "error", "aborted", "close", "end");
            spy("res", res, "close", "finish");
            req.on("close", () => log(req.aborted, req.complete, req.destroyed, req.errored?.code));
            req.resume();
        },
        script: [request("POST", "/", "Content-Length: 10") + "half", quiet, fin, ended, logged("req close"), logged("res close")],
    },
    {
        name: "the client resets in the middle of a body",
        handle(req, res, { log, spy }) {
            spy("req", req, "error", "aborted", "close", "end");
            spy("res", res, "close", "finish");
            req.on("close", () => log(req.aborted, req.complete, req.destroyed));
            req.resume();
            log("there");
        },
        script: [request("POST", "/", "Content-Length: 10") + "half", logged("there"), (s) => s.peer.reset(), logged("req close"), logged("res close")],
    },
    {
        name: "trailers after the end",
        handle(req, res, { log }) {
            req.resume();
            req.on("end", () => {
                log(req.trailers, req.rawTrailers, { ...req.trailersDistinct }, req.complete);
                res.end();
            });
        },
        script: [`${chunkedPost()}${chunk("x")}0\r\nX-B: 1\r\nx-a: 2\r\nX-B: 3\r\n\r\n`, reply],
    },
    {
        name: "readable properties while a body comes",
        handle(req, res, { log }) {
            const state = () => [req.readable, req.readableEnded, req.readableFlowing, req.destroyed, req.closed, req.complete, req.readableObjectMode, req.readableEncoding];
            log(state());
            req.once("data", () => log(state()));
            req.on("end", () => {
                log(state());
                res.end();
            });
            req.on("close", () => log(state()));
        },
        script: [post("/", "body"), reply, logged("[", 4)],
    },
    {
        name: "unshift gives bytes back",
        handle(req, res, { log }) {
            req.once("data", (part) => {
                log("first", part);
                req.pause();
                req.unshift(part.subarray(2));
                req.on("data", (rest) => log("then", rest));
                req.on("end", () => res.end());
                req.resume();
            });
        },
        script: [post("/", "abcdef"), reply],
    },
    {
        name: "two requests with bodies at once",
        handle(req, res, { log }) {
            let text = "";
            req.on("data", (part) => (text += part));
            req.on("end", () => {
                log(req.url, text);
                res.end(text);
            });
        },
        script: [post("/1", "one") + post("/2", "two") + chunkedPost("/3") + chunk("three") + "0\r\n\r\n", replies(3)],
    },
];
