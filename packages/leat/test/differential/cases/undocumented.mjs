// What no manual promises and the ecosystem leans on.
import { EventEmitter } from "node:events";
import { get, go, headReply, logged, post, quiet, reply, request, until } from "../script.mjs";

const answer = (name, act, script, more = {}) => ({ name, handle: (req, res, ctx) => act(res, ctx, req), ...(script && { script }), ...more });

/** As on-headers does: a listener that runs once, just before the head is written. */
function onHeaders(res, listener) {
    const { writeHead } = res;
    let fired = false;
    res.writeHead = function replaced(...args) {
        if (!fired) {
            fired = true;
            listener.call(this);
        }
        return writeHead.apply(this, args);
    };
}

export const cases = [
    answer("_header before and after", (res, { log }) => {
        log(res._header, res._headerSent);
        res.writeHead(200, { Date: "d", "X-A": 1 });
        log(res._header, res._headerSent);
        res.end("x");
        log(res._headerSent, res._hasBody, res._contentLength);
    }),
    answer("_header after end alone", (res, { log }) => {
        res.sendDate = false;
        res.end("x");
        log(res._header, res._headerSent);
    }),
    answer("_implicitHeader writes the head", (res, { log }) => {
        res.statusCode = 202;
        res._implicitHeader();
        log(res.headersSent, res._header.split("\r\n")[0]);
        res.end("x");
    }),
    answer("_implicitHeader replaced", (res, { log }) => {
        const before = res._implicitHeader;
        res._implicitHeader = function replaced() {
            log("implicit");
            this.setHeader("X-Late", 1);
            before.call(this);
        };
        res.end("x");
    }),
    answer("writeHead replaced, end alone", (res) => onHeaders(res, function late() {
        this.setHeader("X-Late", this.statusCode);
    }) ?? res.end("x")),
    answer("writeHead replaced, write and end", (res) => {
        onHeaders(res, function late() {
            this.setHeader("X-Late", 1);
            this.removeHeader("X-Early");
        });
        res.setHeader("X-Early", 1);
        res.write("a");
        res.end("b");
    }),
    answer("writeHead replaced, called with fields", (res) => {
        onHeaders(res, function late() {
            this.setHeader("X-Late", 1);
        });
        res.writeHead(201, { "X-A": 1 });
        res.end();
    }),
    answer("writeHead replaced that changes the status", (res) => {
        const { writeHead } = res;
        res.writeHead = (status, ...rest) => writeHead.call(res, status === 200 ? 203 : status, ...rest);
        res.end("x");
    }),
    answer("writeHead replaced, flushHeaders", (res, { log }) => {
        onHeaders(res, () => log("head"));
        res.flushHeaders();
        res.end();
    }),
    answer("end replaced, as express-session does", (res, { log }) => {
        const { end } = res;
        res.end = function later(...args) {
            log("end", res.headersSent);
            setImmediate(() => end.apply(res, args));
            return res;
        };
        res.end("saved first");
    }),
    answer("write and end replaced, as compression does", (res) => {
        const { write, end } = res;
        res.write = (part) => write.call(res, String(part).toUpperCase());
        res.end = (part) => {
            if (part) res.write(part);
            return end.call(res);
        };
        res.write("loud ");
        res.end("and clear");
    }),
    answer("write replaced is not used by end", (res, { log }) => {
        res.write = () => log("never");
        res.end("x");
    }),
    answer("setHeader replaced", (res, { log }) => {
        const { setHeader } = res;
        res.setHeader = (name, value) => (log("set", name), setHeader.call(res, name, value));
        res.setHeader("X-A", 1);
        res.writeHead(200, { "X-B": 2 });
        res.end();
    }),
    answer("_send and _writeRaw replaced", (res, { log }) => {
        for (const name of ["_send", "_writeRaw"]) {
            const before = res[name];
            res[name] = function replaced(data, ...rest) {
                log(name, data.length > 0);
                return before.call(this, data, ...rest);
            };
        }
        res.write("a");
        res.end("b");
    }),
    answer("_storeHeader replaced", (res, { log }) => {
        const before = res._storeHeader;
        res._storeHeader = function replaced(first, headers) {
            log(first);
            return before.call(this, first, headers);
        };
        res.end("x");
    }),
    answer("emit replaced on the reply", (res, { log }) => {
        const { emit } = res;
        res.emit = function replaced(name, ...rest) {
            log(name);
            return emit.call(this, name, ...rest);
        };
        res.write("a");
        res.end("b");
    }, [get(), reply, logged("close")]),
    answer("emit replaced on the request", (res, { log }, req) => {
        const { emit } = req;
        req.emit = function replaced(name, ...rest) {
            log(name);
            return emit.call(this, name, ...rest);
        };
        req.on("end", () => res.end());
        req.resume();
    }, [post("/", "x"), reply, logged("close")]),
    answer("finished, _last, _removedTE and others", (res, { log }) => {
        log(res.finished, res._last, res.chunkedEncoding, res.shouldKeepAlive, res.useChunkedEncodingByDefault, res._removedConnection, res._removedContLen, res._removedTE, res._hasBody, res._trailer, res.outputSize, res.outputData, res._closed, res._defaultKeepAlive, res._keepAliveTimeout, res.maxRequestsOnConnectionReached);
        res.write("a");
        log(res.finished, res.chunkedEncoding, res._headerSent);
        res.end();
        log(res.finished, res._last);
    }),
    answer("useChunkedEncodingByDefault switched off", (res) => {
        res.useChunkedEncodingByDefault = false;
        res.write("to ");
        res.end("the end");
    }, [get(), until("the end"), async (s) => {
        s.peer.endAwaited = true;
        await s.until(() => s.peer.end !== "open", "the end");
    }]),
    answer("_hasBody switched off", (res) => {
        res._hasBody = false;
        res.end("dropped");
    }, [get(), headReply, quiet]),
    answer("connection is the socket's other name", (res, { log }, req) => {
        log(res.connection === res.socket, req.connection === req.socket, "connection" in res, "connection" in req);
        res.end();
    }),
    answer("res.req and cross links", (res, { log }, req) => {
        log(res.req === req, req.res ?? "none");
        req.res = res;
        res.end();
    }),
    answer("locals and other properties stay", (res, { log, when }, req) => {
        res.locals = { a: 1 };
        req.user = { name: "u" };
        req.body = {};
        when("look", () => log(res.locals, req.user, res.req.user === req.user, req.body));
        res.end("x");
    }, [get(), reply, go("look")]),
    answer("on-finished's view", (res, { log, when }, req) => {
        const finishedRes = () => (typeof res.finished === "boolean" ? Boolean(res.finished || (res.socket && !res.socket.writable)) : undefined);
        const finishedReq = () => (typeof req.complete === "boolean" ? Boolean(req.upgrade || !req.socket || !req.socket.readable || (req.complete && req.readable)) : undefined);
        log(finishedRes(), finishedReq());
        when("look", () => log(finishedRes(), finishedReq()));
        res.end();
        log(finishedRes(), finishedReq());
    }, [get(), reply, go("look")]),
    answer("raw-body's use of the request", (res, { log }, req) => {
        log(req._readableState.encoding, req._readableState.decoder, req.readable, typeof req.unpipe, typeof req.pause, req._decoder);
        const parts = [];
        req.on("aborted", () => {}).on("close", () => log("close")).on("data", (part) => parts.push(part)).on("end", () => {
            req.removeAllListeners("data");
            log(Buffer.concat(parts));
            res.end();
        });
    }, [post("/", "raw"), reply, logged("close")]),
    answer("_dump skips the body", (res, { log }, req) => {
        req.on("data", () => log("never"));
        req.on("end", () => {
            log("end");
            res.end();
        });
        req._dump();
        log(req._dumped, req._consuming);
    }, [post("/", "skipped"), reply]),
    answer("_addHeaderLine adds to the request", (res, { log }, req) => {
        req._addHeaderLine("X-Mine", "1", req.headers);
        log(req.headers["x-mine"]);
        res.end();
    }),
    answer("prototypes swapped, as Express does", (res, { http, log }, req) => {
        const request = Object.create(http.IncomingMessage.prototype, { path: { get() { return this.url; } } });
        const response = Object.create(http.ServerResponse.prototype, { send: { value(text) { this.setHeader("X-Sent", 1); return this.end(text); } } });
        Object.setPrototypeOf(req, request);
        Object.setPrototypeOf(res, response);
        log(req.path, req.headers.host, req instanceof http.IncomingMessage, res instanceof http.ServerResponse);
        res.send("swapped");
    }, [get("/a"), reply, get("/b"), reply, get("/c"), reply]),
    answer("prototypes swapped, a body both ways", (res, { http }, req) => {
        Object.setPrototypeOf(req, Object.create(http.IncomingMessage.prototype));
        Object.setPrototypeOf(res, Object.create(http.ServerResponse.prototype));
        req.pipe(res);
    }, [post("/", "one"), reply, post("/", "two"), reply, post("/", "three"), reply]),
    {
        name: "prototypes of all messages changed for a while",
        serial: true,
        handle: (req, res) => res.json({ url: req.url, kind: req.kind() }),
        setup(server, { http }) {
            http.ServerResponse.prototype.json = function json(value) {
                this.setHeader("Content-Type", "application/json");
                this.end(JSON.stringify(value));
            };
            http.IncomingMessage.prototype.kind = function kind() {
                return this.headers.host;
            };
        },
        script: [get(), reply, () => {
            // The process is shared with the next case.
        }],
    },
    {
        name: "writeHead of all replies replaced for a while",
        serial: true,
        handle(req, res, { http }) {
            const { writeHead } = http.ServerResponse.prototype;
            http.ServerResponse.prototype.writeHead = function traced(...args) {
                this.setHeader("X-Traced", 1);
                return writeHead.apply(this, args);
            };
            try {
                res.end("x");
            } finally {
                http.ServerResponse.prototype.writeHead = writeHead;
            }
        },
    },
    {
        name: "end of all replies replaced for a while",
        serial: true,
        handle(req, res, { http, log }) {
            const { end } = http.OutgoingMessage.prototype;
            http.ServerResponse.prototype.end = function traced(...args) {
                log("end", args.length);
                return end.apply(this, args);
            };
            try {
                res.end("x");
            } finally {
                delete http.ServerResponse.prototype.end;
            }
        },
    },
    {
        name: "server.listeners('request') swapped",
        handle: (req, res) => res.end(`old ${req.url}`),
        setup(server) {
            const [before] = server.listeners("request");
            server.removeAllListeners("request");
            server.on("request", (req, res) => {
                if (req.url.startsWith("/mine")) res.end("new");
                else before.call(server, req, res);
            });
        },
        script: [get("/mine"), reply, get("/other"), reply],
    },
    {
        name: "server.emit overridden",
        handle: (req, res) => res.end(req.url),
        setup(server, { log }) {
            const { emit } = server;
            server.emit = function overridden(name, ...args) {
                log(name, args.length);
                if (name === "request" && args[0].url === "/caught") return void args[1].end("caught");
                return emit.call(this, name, ...args);
            };
        },
        script: [get("/caught"), reply, get("/passed"), reply, request("POST", "/", "Expect: 100-continue", "Content-Length: 0"), reply, reply],
    },
    {
        name: "emit of all servers overridden",
        serial: true,
        handle: (req, res) => res.end("x"),
        setup(server, { log, http }) {
            const { emit } = http.Server.prototype;
            server.once("close", () => delete http.Server.prototype.emit);
            http.Server.prototype.emit = function overridden(name, ...args) {
                if (name === "request") log("seen");
                return emit.call(this, name, ...args);
            };
        },
        script: [get(), reply],
    },
    {
        name: "several listeners of request",
        setup(server, { log }) {
            server.on("request", (req) => log("first", req.url));
            server.once("request", () => log("once"));
            server.prependListener("request", () => log("before"));
            server.on("request", (req, res) => res.end("last"));
        },
        script: [get(), reply, get(), reply],
    },
    {
        name: "listeners added and removed while it serves",
        handle(req, res, { log }) {
            const { server } = req.socket;
            log(server.listenerCount("request"));
            server.prependListener("request", (_, other) => void other.appendHeader("X-Late", "1"));
            res.end("x");
        },
        script: [get(), reply, get(), reply],
    },
    {
        name: "what a server is",
        server({ http, log }) {
            const server = http.createServer((req, res) => res.end());
            log(server instanceof http.Server, server instanceof EventEmitter, server.constructor.name, server.listening, server.maxConnections, server.allowHalfOpen, server.pauseOnConnect, server.httpAllowHalfOpen, server.noDelay);
            log(server.eventNames().sort(), typeof http.Server, http.Server.length, http.createServer.length);
            return server;
        },
    },
    {
        name: "a server made by calling Server, with and without new",
        server({ http, log }) {
            const other = http.Server((req, res) => res.end("other"));
            log(other instanceof http.Server);
            return new http.Server({}, (req, res) => res.end("made by new"));
        },
    },
    {
        name: "a class that extends Server",
        server({ http }) {
            class Mine extends http.Server {
                constructor() {
                    super();
                    this.on("request", (req, res) => res.end(this.word()));
                }

                word() {
                    return "mine";
                }
            }
            return new Mine();
        },
    },
    {
        name: "a Server inherited the old way",
        server({ http }) {
            function Old() {
                http.Server.call(this, (req, res) => res.end("old way"));
            }
            Object.setPrototypeOf(Old.prototype, http.Server.prototype);
            Object.setPrototypeOf(Old, http.Server);
            return new Old();
        },
    },
    {
        name: "names that http exports",
        program({ http, log }) {
            log(Object.keys(http).filter((name) => !["WebSocket", "CloseEvent", "MessageEvent", "https", "metrics", "UnsupportedOptionError"].includes(name)).sort());
            log(http.METHODS.length > 30, http.STATUS_CODES[404], http.maxHeaderSize, typeof http.globalAgent, typeof http.request, typeof http.get);
        },
    },
    {
        name: "a ServerResponse without a server",
        program({ http, log, attempt }) {
            const res = new http.ServerResponse({ method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 });
            res.setHeader("X-A", 1);
            attempt("write", () => res.write("a"));
            res.end("b");
            log(res.outputData.map((part) => String(part.data).replace(/Date: [^\r]*/, "Date")), res.finished, res.writableEnded, res.writableFinished);
        },
    },
    {
        name: "an IncomingMessage without a server",
        async program({ http, log }) {
            const req = new http.IncomingMessage(null);
            req.push("pushed");
            req.push(null);
            req.headers = { a: "b" };
            let text = "";
            req._read = () => {};
            for await (const part of req) text += part;
            log(text, req.headers, req.url, req.method, req.httpVersion);
        },
    },
    {
        name: "inject: a request by hand through the listener, as light-my-request does",
        async program({ http, log }) {
            const server = http.createServer((req, res) => res.end(`hello ${req.url}`));
            const req = new http.IncomingMessage(null);
            Object.assign(req, { method: "GET", url: "/injected", httpVersionMajor: 1, httpVersionMinor: 1 });
            const res = new http.ServerResponse(req);
            server.emit("request", req, res);
            log(res.statusCode, res.finished, String(res.outputData.map((part) => part.data).join("")).replace(/Date: [^\r]*/, "Date"));
        },
    },
];
