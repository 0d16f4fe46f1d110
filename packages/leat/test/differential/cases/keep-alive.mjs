// When a connection lives on, and what it says of that.
import { ended, fin, get, headReply, logged, post, quiet, reply, request } from "../script.mjs";

const served = (name, script, more = {}) => ({
    name,
    handle: (req, res) => res.end(req.url),
    script,
    ...more,
});
const closing = get("/", "Connection: close");

export const cases = [
    served("a connection lives by itself", [get("/1"), reply, get("/2"), reply, post("/3", "x"), reply]),
    served("fifty requests on one connection", Array.from({ length: 50 }, (_, at) => [get(`/${at}`), reply]).flat()),
    served("Connection: close", [closing, reply, ended]),
    served("Connection: Close in another case", [get("/", "connection: CLOSE"), reply, ended]),
    served("Connection: close among others", [get("/", "Connection: keep-alive, close"), reply, ended]),
    served("Connection: keep-alive", [get("/", "Connection: keep-alive"), reply, get(), reply]),
    served("Connection with an unknown member", [get("/", "Connection: x-hop"), reply, get(), reply]),
    served("Connection: close after others", [get(), reply, closing, reply, ended]),
    served("Connection: close with a body", [post("/", "body", "Connection: close"), reply, ended]),
    served("Connection: close and more behind it is not served", [closing + get("/2"), reply, ended]),
    served("keepAliveTimeout shows in the field", [get(), reply], { options: { keepAliveTimeout: 12_345 } }),
    served("keepAliveTimeout of nought", [get(), reply, get(), reply], { options: { keepAliveTimeout: 0 } }),
    served("keepAliveTimeout below a second", [get(), reply], { options: { keepAliveTimeout: 900 } }),
    served("keepAliveTimeout set on the server", [get(), reply], { setup: (server) => void (server.keepAliveTimeout = 61_000) }),
    served("keepAliveTimeout changed between requests", [get(), reply, get(), reply], {
        handle(req, res) {
            req.socket.server.keepAliveTimeout += 1000;
            res.end();
        },
    }),
    served("maxRequestsPerSocket", [get("/1"), reply, get("/2"), reply, quiet], { setup: (server) => void (server.maxRequestsPerSocket = 2) }),
    served("maxRequestsPerSocket of one", [get("/1"), reply, quiet], { setup: (server) => void (server.maxRequestsPerSocket = 1) }),
    served("dropRequest tells of what comes beyond the limit", [get("/1") + get("/2") + get("/3"), reply, reply, quiet], {
        setup(server, { log }) {
            server.maxRequestsPerSocket = 1;
            server.on("dropRequest", (req, socket) => log("dropped", req.url, socket === req.socket));
        },
        handle: (req, res) => void setImmediate(() => res.end(req.url)),
    }),
    served("shouldKeepAlive switched off", [get(), reply, ended], {
        handle(req, res) {
            res.shouldKeepAlive = false;
            res.end("x");
        },
    }),
    served("shouldKeepAlive as the handler finds it", [get(), reply, closing, reply, ended], {
        handle(req, res, { log }) {
            log(res.shouldKeepAlive, res._last, res._defaultKeepAlive);
            res.end("x");
        },
    }),
    served("a reply that says close ends a connection that would live", [get(), reply, ended], {
        handle(req, res) {
            res.setHeader("Connection", "close");
            res.end("x");
        },
    }),
    served("a reply that says keep-alive to a client that says close", [closing, reply, quiet], {
        handle(req, res) {
            res.setHeader("Connection", "keep-alive");
            res.end("x");
        },
    }),
    served("events of the socket over three requests", [get(), reply, get(), reply, closing, reply, ended, fin, logged("socket close")], {
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "end", "close", "timeout", "error", "finish")),
    }),
    served("the socket is the same for all requests of a connection", [get(), reply, get(), reply, (s) => s.via(1, [get(), reply])], {
        setup: (server, ctx) => void (ctx.sockets = []),
        handle(req, res, ctx) {
            if (!ctx.sockets.includes(req.socket)) ctx.sockets.push(req.socket);
            ctx.log(ctx.sockets.indexOf(req.socket));
            res.end();
        },
    }),
    served("listeners on the socket don't pile up", [get(), reply, get(), reply, get(), reply], {
        handle(req, res, { log }) {
            log(["data", "end", "close", "drain", "error", "timeout", "finish"].map((name) => req.socket.listenerCount(name)));
            res.end();
        },
    }),
    served("HEAD, 204 and 304 keep the connection", [request("HEAD", "/"), headReply, get("/204"), reply, get("/304"), reply, get("/200"), reply], {
        handle(req, res) {
            res.statusCode = Number(req.url.slice(1)) || 200;
            res.end("body");
        },
    }),
    served("the client ends its side while the reply is not there yet", [get(), quiet, fin, quiet, (s) => s.actions.get("end")(), ended, logged("close")], {
        handle(req, res, { when, spy, log }) {
            spy("res", res, "close", "finish");
            when("end", () => {
                log(res.writable, res.destroyed, req.destroyed);
                res.end("late");
            });
        },
    }),
    served("httpAllowHalfOpen answers a client that has ended", [get(), quiet, fin, quiet, (s) => s.actions.get("end")(), reply, ended], {
        setup: (server) => void (server.httpAllowHalfOpen = true),
        handle: (req, res, { when }) => when("end", () => res.end("late")),
    }),
    served("a new connection for each", [closing, reply, ended, (s) => s.via(1, [closing, reply, ended]), (s) => s.via(2, [closing, reply, ended])]),
    served("close of an idle connection by the client", [get(), reply, fin, ended, logged("socket close")], {
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "end", "close")),
    }),
    served("Keep-Alive of the client is not looked at", [get("/", "Connection: keep-alive", "Keep-Alive: timeout=1, max=1"), reply, get(), reply]),
    served("Proxy-Connection: close", [get("/", "Proxy-Connection: close"), reply, ended]),
];
