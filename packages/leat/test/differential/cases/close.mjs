// close, closeAllConnections, closeIdleConnections, getConnections, maxConnections.
import { ended, fin, get, go, logged, over, post, quiet, reply, until } from "../script.mjs";

const serves = (name, setup, script, more = {}) => ({
    name,
    // What is left open once the server is closed ends with this time, and a second that Node adds.
    options: { keepAliveTimeout: 1 },
    handle: (req, res) => res.end(req.url),
    setup,
    script,
    ...more,
});

const connections = (server) => new Promise((resolve) => server.getConnections((error, count) => resolve(error ?? count)));

export const cases = [
    serves("close ends idle connections", (server, { when, log }) => {
        server.on("close", () => log("close event"));
        when("close", () => log(server.close(() => log("closed")) === server, server.listening));
    }, [get(), reply, go("close"), ended, logged("closed")]),
    serves("close waits for the reply under way", (server, { when, log }) => when("close", () => server.close(() => log("closed"))), [get(), logged("request"), go("close"), quiet, go("end"), reply, ended, fin, logged("closed")], {
        handle(req, res, { when, log }) {
            log("request");
            res.on("close", () => log("res close"));
            when("end", () => res.end("last"));
        },
    }),
    serves("close takes no new connection", (server, { when, log }) => {
        when("close", () => {
            const { port } = server.address();
            server.close(() => log("closed"));
            log(server.address(), typeof port);
        });
    }, [get(), reply, go("close"), logged("closed"), ended]),
    serves("close twice", (server, { when, log }) => when("close", () => {
        server.close((error) => log("first", error ?? "well"));
        server.close((error) => log("second", error ?? "well"));
    }), [get(), reply, go("close"), ended, logged("first"), logged("second")]),
    {
        name: "close of a server that never listened",
        async program({ http, log }) {
            const server = http.createServer();
            server.on("close", () => log("close"));
            await new Promise((resolve) => server.close((error) => (log(error ?? "well"), resolve())));
        },
    },
    {
        name: "close without a connection",
        async program({ http, log, listening }) {
            const server = http.createServer();
            server.on("close", () => log("close"));
            await listening(server);
            await new Promise((resolve) => server.close((error) => (log(error ?? "well"), resolve())));
        },
    },
    serves("closeIdleConnections leaves the busy", (server, { when }) => when("idle", () => server.closeIdleConnections()), [get("/idle"), reply, (s) => s.via(1, [get("/busy"), logged("busy")]), go("idle"), ended, (s) => s.via(1, [go("end"), reply])], {
        handle(req, res, { when, log }) {
            if (req.url === "/idle") return void res.end();
            log("busy");
            when("end", () => res.end("busy is well"));
        },
    }),
    serves("closeIdleConnections and a connection without a request", (server, { when }) => when("idle", () => server.closeIdleConnections()), [get(), reply, (s) => s.via(1, []), quiet, go("idle"), ended, (s) => s.via(1, [over])]),
    serves("closeIdleConnections and half a head", (server, { when }) => when("idle", () => server.closeIdleConnections()), ["GET /half HTTP/1.1\r\nHo", quiet, go("idle"), quiet, "st: a\r\nConnection: close\r\n\r\n", reply, ended]),
    serves("closeAllConnections ends half a head that closeIdleConnections left", (server, { when }) => when("both", () => (server.closeIdleConnections(), server.closeAllConnections())), ["GET /half HTTP/1.1\r\nHo", quiet, go("both"), ended]),
    serves("closeAllConnections ends all", (server, { when }) => {
        when("all", () => server.closeAllConnections());
    }, [get("/idle"), reply, (s) => s.via(1, [get("/busy"), logged("busy")]), go("all"), ended, (s) => s.via(1, [ended]), logged("socket close")], {
        handle(req, res, { log, spy }) {
            if (req.url === "/idle") return void res.end();
            spy("res", res, "close", "finish");
            spy("socket", req.socket, "close");
            log("busy");
        },
    }),
    serves("getConnections counts", (server, { when, log }) => when("count", async () => log(await connections(server))), [quiet, go("count"), get(), reply, go("count"), (s) => s.via(1, [get(), reply, go("count")])]),
    serves("getConnections after the end", (server, { when, log, spy }) => {
        server.on("connection", (socket) => spy("socket", socket, "close"));
        when("count", async () => log(await connections(server)));
    }, [get("/", "Connection: close"), reply, ended, fin, logged("socket close"), go("count")]),
    serves("maxConnections drops what is too much", (server, { log }) => {
        server.maxConnections = 1;
        server.on("drop", (data) => log("drop", Object.keys(data).sort(), data.remoteAddress));
    }, [get(), reply, (s) => s.via(1, [ended]), logged("drop"), get(), reply]),
    serves("close while a body comes in", (server, { when, log }) => when("close", () => server.close(() => log("closed"))), [post("/", "ab").slice(0, -1), logged("data"), go("close"), quiet, "b", reply, ended, fin, logged("closed")], {
        handle(req, res, { log }) {
            req.on("data", (part) => log("data", part));
            req.on("end", () => res.end("got it"));
        },
    }),
    serves("what is asked on a kept connection after close", (server, { when, log }) => when("close", () => server.close(() => log("closed"))), [get("/1"), until("begun"), go("close"), quiet, go("end"), reply, ended], {
        handle(req, res, { when }) {
            res.write("begun");
            when("end", () => res.end());
        },
    }),
    serves("asyncDispose closes", (server, { when, log }) => when("dispose", async () => {
        await server[Symbol.asyncDispose]();
        log(server.listening);
    }), [get(), reply, go("dispose"), ended]),
    serves("close in a handler", () => {}, [get(), reply, ended, fin, logged("closed")], {
        handle(req, res, { log }) {
            req.socket.server.close(() => log("closed"));
            res.end("bye");
        },
    }),
    serves("close in a handler that has answered", () => {}, [get("/1"), reply, logged("req close"), get("/2"), reply, ended, fin, logged("closed")], {
        handle(req, res, { log, spy }) {
            if (req.url === "/1") spy("req", req, "end", "close");
            res.on("close", () => log("res close"));
            req.resume();
            res.end(req.url);
            req.socket.server.close((error) => log("closed", error?.code));
        },
    }),
    serves("close at 'finish'", () => {}, [get(), reply, ended, fin, logged("closed")], {
        handle(req, res, { log }) {
            res.on("finish", () => req.socket.server.close(() => log("closed")));
            res.end("bye");
        },
    }),
    serves("closeIdleConnections in a handler that has answered", () => {}, [get("/1"), reply, get("/2"), reply, ended], {
        handle(req, res) {
            res.end(req.url);
            req.socket.server.closeIdleConnections();
        },
    }),
    serves("close in a handler, with Connection: close", () => {}, [get(), reply, ended, fin, logged("closed")], {
        handle(req, res, { log }) {
            req.socket.server.close(() => log("closed"));
            res.setHeader("Connection", "close");
            res.end("bye");
        },
    }),
];
