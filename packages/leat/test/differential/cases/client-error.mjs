// 'clientError': what a listener gets, and what it may do.
import { chunkedPost, ended, fin, get, logged, post, quiet, reply, request, until } from "../script.mjs";

const BAD = "FROB / HTTP/1.1\r\nHost: a\r\n\r\n";

/** Logs the error and answers by hand, as the manual shows. */
const heard = (name, script, look = (error) => [error.code], more = {}) => ({
    name,
    handle: (req, res, { log }) => {
        log("request", req.url);
        res.end("served");
    },
    setup: (server, { log, spy }) => {
        server.on("clientError", (error, socket) => {
            log("clientError", look(error, socket));
            spy("socket", socket, "close", "error");
            if (socket.writable) socket.end("HTTP/1.1 400 Mine\r\nConnection: close\r\n\r\n");
            else socket.destroy();
        });
    },
    script,
    ...more,
});

export const cases = [
    heard("an unknown method", [BAD, ended, fin, logged("socket close")]),
    heard("the error's message and reason", [BAD, ended, fin, logged("socket close")], (error) => [error.message, error.reason, error instanceof Error]),
    heard("the bytes and how many were parsed", [BAD, ended, fin, logged("socket close")], (error) => [error.bytesParsed, Buffer.isBuffer(error.rawPacket), error.rawPacket.toString("latin1")]),
    ...["FROB /\r\n\r\n", "\r\nGARBLED line\r\n\r\n", "QUARK\r\n\r\n", "1 2 3\r\n\r\n", "RECALL the day\r\n\r\n", "POSTER\r\n\r\n", "GET\r\n\r\n", "Mind the gap\r\n\r\n", "\t\r\n\r\n"].map((line) =>
        heard(`where ${JSON.stringify(line.trim())} stops being a method`, [line, ended, fin, logged("socket close")], (error) => [error.code, error.reason, error.message, error.bytesParsed])),
    heard("the socket", [BAD, ended, fin, logged("socket close")], (error, socket) => [socket.writable, socket.readable, socket.destroyed, socket.remoteAddress, socket._httpMessage ?? "no message", socket.bytesWritten]),
    heard("a bad version", ["GET / HTTP/9.9\r\n\r\n", ended, fin, logged("socket close")]),
    heard("another protocol", ["GET / SMTP/1.0\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a protocol in small letters", ["GET / http/1.1\r\nHost: a\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a bad name", ["GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a bad value", ["GET / HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a bad target", ["GET /\x01 HTTP/1.1\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a bad length", [request("POST", "/", "Content-Length: x"), ended, fin, logged("socket close")]),
    heard("a length and a coding", [request("POST", "/", "Content-Length: 1", "Transfer-Encoding: chunked"), ended, fin, logged("socket close")]),
    heard("an unknown coding", [request("POST", "/", "Transfer-Encoding: gzip"), ended, fin, logged("socket close")]),
    heard("a bare LF", ["GET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: w\r\n\r\n", ended, fin, logged("socket close")]),
    heard("a head that is too large", [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, ended]),
    heard("the end in the middle of a head", ["GET / HTTP/1.1\r\n", quiet, fin, ended, logged("socket close")]),
    {
        name: "every piece that follows is as wrong, and told of",
        setup: (server, { log }) => {
            let left = 3;
            server.on("clientError", (error, socket) => {
                log("clientError", error.code, error.rawPacket.toString("latin1"), socket.listenerCount("error"));
                left -= 1;
                if (left === 0) socket.end("HTTP/1.1 400 Mine\r\n\r\n");
            });
        },
        script: [BAD, logged("clientError"), "more", logged("clientError", 2), get(), logged("clientError", 3), ended],
    },
    heard("after a good request", [get(), reply, BAD, ended, fin, logged("socket close")]),
    heard("right behind a good request", [get("/1") + BAD, ended, fin, logged("socket close")]),
    heard("a reset by the client", [get(), reply, quiet, (s) => s.peer.reset(), logged("clientError"), logged("socket close")], (error, socket) => [error.code, error.syscall, socket.writable]),
    heard("a reset by the client that waits for its reply", [get(), logged("request"), (s) => s.peer.reset(), logged("clientError"), logged("socket close"), logged("res close")], (error, socket) => [error.code, error.syscall, error.message, socket.writable], {
        handle(req, res, { log, spy }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close", "error");
            log("request");
        },
    }),
    heard("a reset by the client in the middle of its body", [post("/", "body").slice(0, -1), logged("request"), quiet, (s) => s.peer.reset(), logged("clientError"), logged("socket close"), logged("res close")], (error, socket) => [error.code, error.syscall, error.message, socket.writable], {
        handle(req, res, { log, spy }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close", "error");
            req.resume();
            log("request");
        },
    }),
    {
        name: "no Host is no client error",
        handle: (req, res, { log }) => log("never"),
        setup: (server, { log }) => server.on("clientError", () => log("never")),
        script: ["GET / HTTP/1.1\r\n\r\n", reply, ended],
    },
    {
        name: "in the middle of a body",
        handle(req, res, { spy, log }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close");
            req.on("data", (part) => log("data", part));
        },
        setup: (server, { log }) => server.on("clientError", (error, socket) => {
            log("clientError", error.code, socket.writable);
            socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
        }),
        script: [`${chunkedPost()}2\r\nab\r\n`, logged("data"), "zz\r\n", ended, fin, logged("req close")],
    },
    {
        name: "a listener that destroys the socket",
        setup: (server, { log, spy }) => server.on("clientError", (error, socket) => {
            spy("socket", socket, "close");
            log(error.code);
            socket.destroy();
        }),
        script: [BAD, ended, logged("socket close")],
    },
    {
        name: "a listener that destroys with the error",
        setup: (server, { spy }) => server.on("clientError", (error, socket) => {
            spy("socket", socket, "close", "error");
            socket.destroy(error);
        }),
        script: [BAD, ended, logged("socket close")],
    },
    {
        name: "a listener that does nothing leaves the connection",
        setup: (server, { log }) => server.on("clientError", (error) => log(error.code)),
        script: [BAD, logged("HPE"), quiet],
    },
    {
        name: "a listener that answers later",
        setup: (server, { when }) => server.on("clientError", (error, socket) => when("answer", () => socket.end("HTTP/1.1 499 Later\r\n\r\n"))),
        script: [BAD, quiet, (s) => s.actions.get("answer")(), until("Later"), ended],
    },
    {
        name: "emitting clientError by hand",
        handle: (req, res, { log }) => {
            const server = req.socket.server;
            log(server.emit("clientError", new Error("mine"), req.socket));
        },
        setup: (server, { log }) => server.on("clientError", (error, socket) => {
            log(error.message);
            socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
        }),
        script: [get(), ended],
    },
    {
        name: "without a listener the socket gets the error",
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "error", "close")),
        script: [BAD, ended, logged("socket close")],
    },
    {
        name: "two bad connections are two errors",
        setup: (server, { log }) => server.on("clientError", (error, socket) => {
            log(error.code);
            socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
        }),
        script: [BAD, ended, (s) => s.via(1, [BAD, ended])],
    },
];
