// The socket behind a request.
import net from "node:net";
import { Duplex } from "node:stream";
import { ended, fin, get, go, logged, post, quiet, replies, reply, until } from "../script.mjs";

const looks = (name, look, script = [get(), reply], more = {}) => ({
    name,
    handle(req, res, ctx) {
        look(req.socket, ctx, req, res);
        if (!res.writableEnded) res.end("x");
    },
    script,
    ...more,
});

export const cases = [
    looks("what it is", (socket, { log }, req, res) => log(socket instanceof net.Socket, socket instanceof Duplex, socket.constructor.name, socket === res.socket, socket === res.connection, req.connection === socket)),
    looks("addresses", (socket, { log }) => log(socket.remoteAddress, socket.remoteFamily, typeof socket.remotePort, socket.localAddress, socket.localFamily, typeof socket.localPort, Object.keys(socket.address()).sort(), socket.address().address)),
    looks("state", (socket, { log }) => log(socket.readable, socket.writable, socket.destroyed, socket.closed, socket.errored, socket.connecting, socket.pending, socket.readyState, socket.encrypted, socket.allowHalfOpen)),
    looks("streams' numbers", (socket, { log }) => log(socket.writableLength, socket.writableHighWaterMark, socket.readableHighWaterMark, socket.writableNeedDrain, socket.writableCorked, socket.timeout)),
    looks("its links", (socket, { log }, req, res) => log(socket.server.constructor.name, socket._httpMessage === res, socket.parser !== null && typeof socket.parser, socket.parser.incoming === req, socket.parser.socket === socket)),
    looks("bytesRead and bytesWritten", (socket, { log, when }) => when("look", () => log(socket.bytesWritten)), [get(), reply, go("look")]),
    looks("setNoDelay, setKeepAlive, ref and unref return it", (socket, { log }) => log(socket.setNoDelay() === socket, socket.setNoDelay(false) === socket, socket.setKeepAlive(true, 1000) === socket, socket.setKeepAlive(false) === socket, socket.ref() === socket, socket.unref() === socket)),
    looks("setEncoding is refused", (socket, { attempt }) => attempt("setEncoding", () => socket.setEncoding("utf8"))),
    looks("the address of a connection that has gone", (socket, { log, when }) => when("look", () => log(socket.remoteAddress, socket.destroyed, socket.readyState, socket.writable)), [get("/", "Connection: close"), reply, ended, fin, quiet, go("look")]),
    {
        name: "destroy before the reply",
        handle(req, res, { spy, log }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close", "error", "end");
            log(req.socket.destroy() === req.socket, req.socket.destroyed);
        },
        script: [get(), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroy with an error",
        handle(req, res, { spy }) {
            spy("req", req, "aborted", "error", "close");
            spy("socket", req.socket, "close", "error");
            req.socket.destroy(new Error("mine"));
        },
        script: [get(), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroy in the middle of a reply",
        handle(req, res, { when, spy }) {
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close");
            res.write("half");
            when("destroy", () => req.socket.destroy());
        },
        script: [get(), until("half"), go("destroy"), ended, logged("socket close")],
    },
    {
        name: "end in place of a reply",
        handle(req, res, { spy }) {
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close", "finish");
            req.socket.end();
        },
        script: [get(), ended, fin, logged("socket close")],
    },
    {
        name: "end with raw bytes in place of a reply",
        handle: (req) => void req.socket.end("HTTP/1.1 299 Raw\r\nContent-Length: 0\r\n\r\n"),
        script: [get(), ended],
    },
    {
        name: "raw bytes written to it",
        handle(req) {
            req.socket.write("HTTP/1.1 200 Raw\r\n");
            req.socket.write("Content-Length: 3\r\n\r\nraw");
        },
        script: [get(), reply],
    },
    {
        name: "an interim head in pieces before the reply",
        handle(req, res, { log }) {
            res._writeRaw("HTTP/1.1 102 Processing\r\n");
            res._writeRaw("X-Step: 1\r\n");
            res._writeRaw("\r\n", () => log("written"));
            res.writeHead(200, { "X-A": "b" });
            res.end("reply");
        },
        script: [get(), replies(2), get(), replies(2), logged("written", 2)],
    },
    {
        name: "an interim head as a buffer before the reply",
        handle(req, res) {
            req.socket.write(Buffer.from("HTTP/1.1 103 Early Hints\r\nX-Step: 1\r\n\r\n"));
            res.end(req.url === "/empty" ? undefined : "reply");
        },
        script: [get(), replies(2), get("/empty"), replies(2)],
    },
    {
        name: "an interim head in pieces before a reply in parts",
        handle(req, res) {
            req.socket.write("HTTP/1.1 103 Early Hints\r\n");
            req.socket.write(Buffer.from("X-Step: 1\r\n\r\n"));
            res.write("one");
            res.end("two");
        },
        script: [get(), replies(2), get("/", "Connection: close"), replies(2), ended],
    },
    {
        name: "raw bytes before the reply",
        handle(req, res) {
            req.socket.write("HTTP/1.1 199 Mine\r\n\r\n");
            res.end("x");
        },
        script: [get(), reply, reply],
    },
    {
        name: "destroy in a handler that has answered",
        handle(req, res, { spy }) {
            spy("req", req, "end", "aborted", "close");
            spy("socket", req.socket, "close");
            res.end("x");
            req.socket.destroy();
        },
        script: [get(), reply, ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroy in a handler that reads",
        handle(req, res, { spy }) {
            spy("req", req, "end", "aborted", "close");
            spy("socket", req.socket, "close");
            req.resume();
            req.socket.destroy();
        },
        script: [get(), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroy in a handler that does not read",
        handle(req, res, { spy }) {
            spy("req", req, "end", "aborted", "error", "close");
            spy("socket", req.socket, "close");
            req.socket.destroy();
        },
        script: [get(), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "destroySoon after a reply",
        handle(req, res, { spy }) {
            spy("socket", req.socket, "close");
            res.end("x");
            req.socket.destroySoon();
        },
        script: [get(), reply, ended, logged("socket close")],
    },
    {
        name: "resetAndDestroy",
        handle: (req) => void req.socket.resetAndDestroy(),
        script: [get(), ended],
    },
    {
        name: "resetAndDestroy and its events",
        handle(req, res, { spy, log }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close", "finish", "error");
            spy("socket", req.socket, "close", "finish", "end", "error");
            log(req.socket.resetAndDestroy() === req.socket, req.socket.destroyed);
        },
        script: [get(), ended, logged("socket close"), logged("req close")],
    },
    {
        name: "resetAndDestroy between two requests",
        handle(req, res, { when, spy }) {
            spy("socket", req.socket, "close", "finish", "error");
            when("reset", () => req.socket.resetAndDestroy());
            res.end("x");
        },
        script: [get(), reply, go("reset"), ended, logged("socket close")],
    },
    {
        name: "resetAndDestroy in the middle of a reply",
        handle(req, res, { when, spy }) {
            spy("socket", req.socket, "close", "error");
            spy("res", res, "close", "finish");
            res.write("half");
            when("reset", () => req.socket.resetAndDestroy());
        },
        script: [get(), until("half"), go("reset"), ended, logged("socket close")],
    },
    {
        name: "resetAndDestroy of what is destroyed",
        handle(req, res, { when, spy }) {
            spy("socket", req.socket, "error", "close");
            when("again", () => req.socket.resetAndDestroy());
            req.socket.destroy();
        },
        script: [get(), ended, logged("socket close"), go("again"), quiet],
    },
    {
        name: "events of a connection that the client ends",
        handle: (req, res) => res.end("x"),
        setup: (server, { spy, log }) => server.on("connection", (socket) => {
            spy("socket", socket, "end", "finish", "close", "error");
            socket.on("close", (hadError) => log("had error:", hadError));
        }),
        script: [get(), reply, fin, ended, logged("had error")],
    },
    {
        name: "events of a connection that the client resets",
        handle: (req, res) => res.end("x"),
        setup: (server, { spy, log }) => server.on("connection", (socket) => {
            spy("socket", socket, "end", "finish", "close", "error");
            socket.on("close", (hadError) => log("had error:", hadError));
        }),
        script: [get(), reply, quiet, (s) => s.peer.reset(), logged("had error")],
    },
    {
        name: "pause and resume of the socket",
        handle(req, res, { when, log }) {
            req.on("data", (part) => log(part));
            req.on("end", () => res.end("x"));
            req.socket.pause();
            when("resume", () => req.socket.resume());
        },
        script: [post("/", "body"), quiet, go("resume"), reply],
    },
    {
        name: "cork and uncork of the socket",
        handle(req, res, { when }) {
            req.socket.cork();
            res.write("a");
            when("uncork", () => {
                req.socket.uncork();
                res.end("b");
            });
        },
        script: [get(), quiet, (s) => s.record.add(s.peer.text.length), go("uncork"), reply],
    },
    {
        name: "detachSocket and assignSocket give a reply to another socket",
        handle(req, res, { http, log }) {
            const socket = req.socket;
            res.detachSocket(socket);
            log(res.socket, socket._httpMessage);
            const other = new http.ServerResponse(req);
            other.assignSocket(socket);
            other.end("other");
            other.on("finish", () => log("finish"));
        },
        script: [get(), reply, logged("finish")],
    },
    {
        name: "assignSocket twice",
        handle(req, res, { http, attempt }) {
            attempt("assign", () => new http.ServerResponse(req).assignSocket(req.socket));
            res.end("x");
        },
    },
    {
        name: "a message's socket after the end",
        handle(req, res, { log }) {
            const { socket } = res;
            res.on("finish", () => log("finish", res.socket === socket));
            res.on("close", () => log("close", res.socket, req.socket === socket));
            res.end("x");
        },
        script: [get(), reply, logged("close")],
    },
];
