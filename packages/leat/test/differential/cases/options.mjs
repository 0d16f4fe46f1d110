// Every option of createServer, given well and badly.
import { ended, get, logged, over, post, quiet, reply, request } from "../script.mjs";

const served = (name, options, script = [get(), reply], handle = (req, res) => res.end("x")) => ({ name, options, handle, script });

/** Logs what createServer says to each of the options. */
const judged = (name, ...tried) => ({
    name,
    program({ http, attempt }) {
        for (const options of tried) attempt(Object.entries(options ?? {}).map(([key, value]) => `${key}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`).join(" "), () => http.createServer(options));
    },
});

export const cases = [
    served("none", {}),
    {
        name: "a listener alone, options alone, neither",
        program({ http, log }) {
            log(http.createServer(() => {}).listenerCount("request"), http.createServer({}).listenerCount("request"), http.createServer().listenerCount("request"), http.createServer(null).listenerCount("request"), http.createServer({}, () => {}).listenerCount("request"), http.createServer(undefined, () => {}).listenerCount("request"));
        },
    },
    {
        name: "options that are none",
        program({ http, attempt }) {
            attempt("string", () => http.createServer("x"));
            attempt("number", () => http.createServer(5));
            attempt("array", () => http.createServer([]));
            attempt("true", () => http.createServer(true));
            attempt("listener", () => http.createServer({}, "x"));
        },
    },
    judged("headersTimeout", { headersTimeout: 0 }, { headersTimeout: -1 }, { headersTimeout: "5" }, { headersTimeout: 1.5 }, { headersTimeout: 400_000 }, { headersTimeout: 400_000, requestTimeout: 0 }, { headersTimeout: 5, requestTimeout: 5 }),
    judged("requestTimeout", { requestTimeout: 0 }, { requestTimeout: -1 }, { requestTimeout: "5" }, { requestTimeout: NaN }, { requestTimeout: 5 }),
    judged("keepAliveTimeout", { keepAliveTimeout: 0 }, { keepAliveTimeout: -1 }, { keepAliveTimeout: "x" }),
    judged("connectionsCheckingInterval", { connectionsCheckingInterval: 10 }, { connectionsCheckingInterval: -1 }, { connectionsCheckingInterval: "x" }),
    judged("maxHeaderSize", { maxHeaderSize: 100 }, { maxHeaderSize: -1 }, { maxHeaderSize: "x" }, { maxHeaderSize: 0 }),
    judged("insecureHTTPParser", { insecureHTTPParser: true }, { insecureHTTPParser: 1 }, { insecureHTTPParser: "x" }),
    judged("requireHostHeader", { requireHostHeader: false }, { requireHostHeader: 0 }, { requireHostHeader: "x" }),
    judged("joinDuplicateHeaders", { joinDuplicateHeaders: true }, { joinDuplicateHeaders: 1 }),
    judged("rejectNonStandardBodyWrites", { rejectNonStandardBodyWrites: true }, { rejectNonStandardBodyWrites: 1 }),
    judged("keepAlive, keepAliveInitialDelay, noDelay, highWaterMark", { keepAlive: true, keepAliveInitialDelay: 1000 }, { noDelay: false }, { highWaterMark: 1000 }, { highWaterMark: -1 }, { keepAliveInitialDelay: "x" }),
    judged("uniqueHeaders", { uniqueHeaders: ["a"] }, { uniqueHeaders: [] }),
    {
        name: "timeouts as the server shows them",
        program({ http, log }) {
            const shown = (options) => {
                const server = http.createServer(options);
                return [server.headersTimeout, server.requestTimeout, server.keepAliveTimeout, server.connectionsCheckingInterval, server.maxHeaderSize, server.insecureHTTPParser, server.requireHostHeader, server.joinDuplicateHeaders, server.rejectNonStandardBodyWrites];
            };
            log(shown({}));
            log(shown({ headersTimeout: 1, requestTimeout: 2, keepAliveTimeout: 3, connectionsCheckingInterval: 4, maxHeaderSize: 5, insecureHTTPParser: false, requireHostHeader: false, joinDuplicateHeaders: true, rejectNonStandardBodyWrites: true }));
            log(shown({ requestTimeout: 1000 }));
            log(shown({ requestTimeout: 0 }));
        },
    },
    served("requireHostHeader: false", { requireHostHeader: false }, ["GET / HTTP/1.1\r\n\r\n", reply, get(), reply]),
    served("requireHostHeader set later", {}, ["GET / HTTP/1.1\r\n\r\n", reply, ended]),
    served("joinDuplicateHeaders joins all", { joinDuplicateHeaders: true }, [get("/", "User-Agent: a", "User-Agent: b", "X-A: 1", "X-A: 2", "Cookie: c", "Cookie: d", "Set-Cookie: e"), reply], (req, res, { log }) => {
        log(req.headers, req.joinDuplicateHeaders);
        res.end();
    }),
    served("maxHeaderSize that is small", { maxHeaderSize: 200 }, [get("/", "X: short"), reply, get("/", `X: ${"x".repeat(300)}`), ended]),
    served("maxHeaderSize of a megabyte, and a head behind the long one", { maxHeaderSize: 1_000_000 }, [get("/1", `X: ${"x".repeat(300_000)}`, `Y: ${"y".repeat(500_000)}`) + get("/2"), reply, reply, get("/3", `X: ${"x".repeat(1_000_001)}`), ended]),
    served("maxHeaderSize that is large", { maxHeaderSize: 100_000 }, [get("/", `X: ${"x".repeat(60_000)}`), reply]),
    {
        name: "maxHeadersCount keeps the first",
        handle(req, res, { log }) {
            log(req.rawHeaders, req.headers);
            res.end();
        },
        setup: (server) => void (server.maxHeadersCount = 3),
        script: [get("/", "A: 1", "B: 2", "C: 3", "D: 4"), reply, over],
    },
    {
        name: "maxHeadersCount of nought is no limit",
        handle(req, res, { log }) {
            log(req.rawHeaders.length);
            res.end();
        },
        setup: (server) => void (server.maxHeadersCount = 0),
        script: [get("/", ...Array.from({ length: 1200 }, (_, at) => `H${at}: x`)), reply],
    },
    {
        name: "more than a thousand fields",
        handle(req, res, { log }) {
            log(req.rawHeaders.length, Object.keys(req.headers).length);
            res.end();
        },
        script: [get("/", ...Array.from({ length: 1200 }, (_, at) => `H${at}: x`)), reply, over],
    },
    {
        name: "own IncomingMessage and ServerResponse",
        options({ http }) {
            class Request extends http.IncomingMessage {
                get path() {
                    return this.url.split("?")[0];
                }
            }
            class Response extends http.ServerResponse {
                json(value) {
                    this.setHeader("Content-Type", "application/json");
                    return this.end(JSON.stringify(value));
                }
            }
            return { IncomingMessage: Request, ServerResponse: Response };
        },
        handle(req, res, { http, log }) {
            log(req.constructor.name, res.constructor.name, req instanceof http.IncomingMessage, res instanceof http.ServerResponse);
            res.json({ path: req.path });
        },
        script: [get("/a?b"), reply, post("/c", "x"), reply],
    },
    {
        name: "own ServerResponse with own writeHead and end",
        options: ({ http, log }) => ({
            ServerResponse: class extends http.ServerResponse {
                writeHead(...args) {
                    log("writeHead", args[0]);
                    this.setHeader("X-Mine", 1);
                    return super.writeHead(...args);
                }

                end(...args) {
                    log("end");
                    return super.end(...args);
                }
            },
        }),
        handle: (req, res) => res.end("x"),
    },
    {
        name: "own IncomingMessage that sees its construction",
        options: ({ http, log }) => ({
            IncomingMessage: class extends http.IncomingMessage {
                constructor(socket) {
                    super(socket);
                    log("made", typeof socket.remotePort, this.url, this.method);
                    this.since = 1;
                }
            },
        }),
        handle(req, res, { log }) {
            log(req.since, req.url, req.method, req.headers.host);
            res.end("x");
        },
    },
    {
        name: "highWaterMark of request and reply",
        options: { highWaterMark: 1234 },
        handle(req, res, { log }) {
            log(req.readableHighWaterMark, res.writableHighWaterMark, req.socket.readableHighWaterMark, req.socket.writableHighWaterMark);
            res.end();
        },
    },
    served("noDelay, keepAlive and its delay are taken", { noDelay: false, keepAlive: true, keepAliveInitialDelay: 500 }),
    served("insecureHTTPParser: false", { insecureHTTPParser: false }, ["GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n", ended]),
    {
        name: "shouldUpgradeCallback decides which requests upgrade",
        node: 25,
        options: { shouldUpgradeCallback: (req) => req.url === "/up" },
        handle: (req, res) => res.end("plain"),
        setup: (server) => server.on("upgrade", (req, socket) => socket.end("up")),
        script: [get("/no", "Connection: upgrade", "Upgrade: x"), reply, get("/up", "Connection: upgrade", "Upgrade: x"), ended],
    },
    {
        name: "optimizeEmptyRequests",
        node: 25,
        options: { optimizeEmptyRequests: true },
        handle(req, res, { log }) {
            req.on("data", () => log("data"));
            req.on("end", () => log("end"));
            log(req.readableEnded, req.complete);
            res.end("x");
        },
        script: [get(), reply, post("/", "x"), reply, quiet],
    },
    {
        name: "keepAliveTimeoutBuffer as the server shows it",
        node: 24,
        program: ({ http, log }) => log(http.createServer().keepAliveTimeoutBuffer, http.createServer({ keepAliveTimeoutBuffer: 5 }).keepAliveTimeoutBuffer),
    },
    {
        name: "events of a whole exchange on every object",
        handle(req, res, { spy }) {
            spy("req", req, "end", "close", "resume", "pause", "error", "aborted");
            spy("res", res, "finish", "prefinish", "close", "error", "socket", "drain", "pipe");
            req.resume();
            res.end("x");
        },
        setup(server, { spy }) {
            spy("server", server, "connection", "request", "close", "error", "clientError", "timeout", "checkContinue", "upgrade");
            server.on("connection", (socket) => spy("socket", socket, "close", "end", "finish", "error", "timeout"));
        },
        script: [post("/", "x"), reply, request("GET", "/", "Connection: close"), reply, ended, (s) => s.peer.fin(), logged("socket close")],
    },
];
