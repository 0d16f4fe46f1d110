// Timeouts: all short, and none measured; only what they set off.
import { ended, get, logged, post, quiet, reply, request } from "../script.mjs";

// Long enough for a busy machine to have a request delivered before.
const SHORT_MS = 150;
const LONG_MS = 100_000;
const CHECKED = { connectionsCheckingInterval: 20 };

export const cases = [
    {
        name: "headersTimeout answers 408",
        options: { ...CHECKED, headersTimeout: SHORT_MS * 4 },
        handle: (req, res, { log }) => log("never"),
        script: ["GET / HTTP/1.1\r\nHost: a\r\n", ended],
    },
    {
        name: "headersTimeout ends a connection that sends nothing",
        options: { ...CHECKED, headersTimeout: SHORT_MS },
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "close", "error")),
        script: [ended, logged("socket close")],
    },
    {
        name: "headersTimeout tells clientError",
        options: { ...CHECKED, headersTimeout: SHORT_MS * 4 },
        setup: (server, { log }) => server.on("clientError", (error, socket) => {
            log(error.code, error.message, socket.writable);
            socket.end("HTTP/1.1 408 Mine\r\n\r\n");
        }),
        script: ["GET / HTTP/1.1\r\nHost: a\r\n", ended],
    },
    {
        name: "requestTimeout answers 408 before the reply",
        options: { ...CHECKED, requestTimeout: SHORT_MS * 4 },
        handle(req, res, { spy }) {
            spy("req", req, "aborted", "error", "close");
            spy("res", res, "close");
        },
        script: [request("POST", "/", "Content-Length: 5"), ended, logged("req close")],
    },
    {
        name: "requestTimeout does not hurt a request that has come",
        options: { ...CHECKED, requestTimeout: SHORT_MS * 2 },
        handle: (req, res) => void setTimeout(() => res.end("late"), SHORT_MS * 4),
        script: [get(), reply, quiet],
    },
    {
        name: "keepAliveTimeout ends an idle connection",
        options: { keepAliveTimeout: 10 },
        handle: (req, res) => res.end("x"),
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "timeout", "close")),
        script: [get(), reply, ended, logged("socket close")],
    },
    {
        name: "keepAliveTimeout and the listeners of a timeout",
        options: { keepAliveTimeout: 10 },
        handle: (req, res) => res.end("x"),
        setup(server, { spy, log }) {
            server.on("timeout", (socket) => {
                log("server timeout", socket.destroyed, socket.writable);
                socket.destroy();
            });
            server.on("connection", (socket) => spy("socket", socket, "timeout", "end", "finish", "close", "error"));
        },
        script: [get(), reply, ended, logged("socket close")],
    },
    {
        name: "server.timeout destroys a silent connection",
        setup(server, { spy }) {
            server.timeout = SHORT_MS;
            server.on("connection", (socket) => spy("socket", socket, "timeout", "close"));
        },
        handle: (req, res, { spy }) => spy("res", res, "close"),
        script: [get(), ended, logged("socket close")],
    },
    {
        name: "server.setTimeout and its event",
        setup(server, { log }) {
            log(server.setTimeout(SHORT_MS, (socket) => {
                log("timeout", socket.destroyed);
                socket.destroy();
            }) === server, server.timeout, server.listenerCount("timeout"));
        },
        handle() {},
        script: [get(), ended],
    },
    {
        name: "a listener of the server's timeout decides",
        setup(server, { log }) {
            server.setTimeout(SHORT_MS);
            server.on("timeout", () => log("timeout"));
        },
        handle: (req, res, { when }) => when("end", () => res.end("after all")),
        script: [get(), logged("timeout"), (s) => s.actions.get("end")(), reply],
    },
    {
        name: "req.setTimeout",
        handle(req, res, { log, spy }) {
            spy("res", res, "close", "timeout");
            log(req.setTimeout(SHORT_MS, (socket) => {
                log("req timeout", socket === req.socket);
                socket.destroy();
            }) === req);
        },
        script: [request("POST", "/", "Content-Length: 3"), ended, logged("res close")],
    },
    {
        name: "res.setTimeout",
        handle(req, res, { log, spy }) {
            spy("res", res, "close");
            log(res.setTimeout(SHORT_MS, () => {
                log("res timeout");
                res.end("timed out");
            }) === res);
        },
        script: [get(), reply, logged("res close")],
    },
    {
        name: "res.setTimeout without a callback destroys",
        handle(req, res, { spy }) {
            spy("res", res, "close", "finish");
            spy("req", req, "close", "aborted");
            res.setTimeout(SHORT_MS);
        },
        script: [get(), ended, logged("res close")],
    },
    {
        name: "socket.setTimeout destroys whatever its own callback does",
        handle(req, res, { log }) {
            log(req.socket.setTimeout(SHORT_MS, () => {
                log("socket timeout");
                res.end("too late");
            }) === req.socket, req.socket.timeout);
        },
        script: [get(), ended],
    },
    {
        name: "all listeners of a timeout, in order",
        setup: (server, { log }) => server.on("timeout", () => log("server")),
        handle(req, res, { log }) {
            req.socket.setTimeout(SHORT_MS);
            req.socket.on("timeout", () => log("socket"));
            req.on("timeout", () => log("req"));
            res.on("timeout", () => {
                log("res");
                res.end("x");
            });
        },
        script: [get(), reply],
    },
    {
        name: "a timeout that is switched off",
        handle(req, res, { log }) {
            res.setTimeout(SHORT_MS, () => log("never"));
            res.setTimeout(0);
            setTimeout(() => res.end("x"), SHORT_MS * 3);
        },
        script: [get(), reply],
    },
    {
        name: "traffic puts a timeout off",
        handle(req, res, { log }) {
            req.setTimeout(LONG_MS, () => log("never"));
            let count = 5;
            const tick = setInterval(() => {
                res.write(".");
                if ((count -= 1) === 0) {
                    clearInterval(tick);
                    res.end();
                }
            }, 10);
        },
        script: [get(), reply],
    },
    {
        name: "defaults of the server",
        server({ http, log }) {
            const server = http.createServer();
            log(server.timeout, server.headersTimeout, server.requestTimeout, server.keepAliveTimeout, server.maxHeadersCount, server.maxRequestsPerSocket, server.connectionsCheckingInterval, server.keepAliveTimeoutBuffer);
            return server;
        },
        script: [],
    },
    {
        name: "the body of a timed out request",
        options: { ...CHECKED, requestTimeout: SHORT_MS * 4 },
        handle(req, res, { log, spy }) {
            spy("req", req, "aborted", "error", "close");
            res.write("begun");
            req.on("data", (part) => log("data", part));
        },
        script: [`${request("POST", "/", "Content-Length: 50")}part`, ended, logged("req close")],
    },
    {
        name: "an idle connection is not a late head",
        options: { ...CHECKED, headersTimeout: LONG_MS, keepAliveTimeout: LONG_MS },
        handle: (req, res) => res.end("x"),
        script: [post("/", "a"), reply, quiet, quiet, quiet, get(), reply],
    },
];
