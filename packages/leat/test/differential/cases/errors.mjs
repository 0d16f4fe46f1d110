// Programs that go wrong: what they throw, what they hear, and what the client gets.
import { ended, get, go, logged, post, quiet, reply, until } from "../script.mjs";

const BOOM = new Error("boom");

/** Runs by itself, since its exceptions are the process'. */
const uncaught = (name, handle, script = [get(), logged("uncaught"), quiet], more = {}) => ({ name, serial: true, handle, script, ...more });
const wrong = (name, handle, script) => ({ name, handle, ...(script && { script }) });

export const cases = [
    uncaught("a handler that throws leaves the client waiting", () => {
        throw BOOM;
    }),
    uncaught("a handler that throws after a write", (req, res) => {
        res.write("begun");
        throw BOOM;
    }),
    uncaught("a handler that throws after the end", (req, res) => {
        res.end("whole");
        throw BOOM;
    }, [get(), reply, logged("uncaught"), quiet]),
    uncaught("a handler that throws something else", () => {
        throw "text";
    }),
    uncaught("a handler that throws undefined", () => {
        throw undefined;
    }),
    uncaught("a handler that rejects", async () => {
        throw BOOM;
    }),
    uncaught("a throw in a timer", () => void setTimeout(() => {
        throw BOOM;
    }, 1)),
    uncaught("a throw in a listener of data", (req) => {
        req.on("data", () => {
            throw BOOM;
        });
    }, [post("/", "x"), logged("uncaught"), quiet]),
    uncaught("a throw in a listener of end", (req) => {
        req.resume();
        req.on("end", () => {
            throw BOOM;
        });
    }, [post("/", "x"), logged("uncaught"), quiet]),
    uncaught("a throw in a listener of finish", (req, res) => {
        res.on("finish", () => {
            throw BOOM;
        });
        res.end("x");
    }, [get(), reply, logged("uncaught"), quiet]),
    uncaught("a throw in a listener of close", (req, res) => {
        res.on("close", () => {
            throw BOOM;
        });
        res.end("x");
    }, [get(), reply, logged("uncaught"), get(), reply]),
    uncaught("a throw in a write's callback", (req, res) => {
        res.write("x", () => {
            throw BOOM;
        });
        res.end();
    }, [get(), reply, logged("uncaught")]),
    uncaught("a throw in the listener of connection", (req, res) => res.end("x"), [logged("uncaught"), get(), reply], {
        setup: (server) => server.on("connection", () => {
            throw BOOM;
        }),
    }),
    uncaught("a throw in the listener of upgrade", () => {}, [get("/", "Connection: upgrade", "Upgrade: x"), logged("uncaught"), quiet], {
        setup: (server) => server.on("upgrade", () => {
            throw BOOM;
        }),
    }),
    uncaught("a throw in the listener of clientError", () => {}, ["nonsense\r\n\r\n", logged("uncaught"), quiet], {
        setup: (server) => server.on("clientError", () => {
            throw BOOM;
        }),
    }),
    uncaught("one of two requests throws, the other is answered", (req, res) => {
        if (req.url === "/bad") throw BOOM;
        res.end("good");
    }, [get("/bad"), logged("uncaught"), async (s) => s.via(1, [get("/good"), reply])]),
    uncaught("write after end without a listener", (req, res) => {
        res.end("x");
        res.write("y");
    }, [get(), reply, logged("uncaught"), quiet]),
    uncaught("writes after end without a listener, once a promise goes on", async (req, res, { log }) => {
        res.end("x");
        await null;
        log("write", res.write("y"));
        log("end", res.end("z") === res);
        res.end();
    }, [get(), reply, quiet]),
    uncaught("writes after end without a listener, two ticks later", (req, res, { log }) => {
        const late = () => {
            log("write", res.write("y"));
            res.end("z");
        };
        res.end("x");
        process.nextTick(() => process.nextTick(late));
    }, [get(), reply, quiet]),
    uncaught("writes after an end that came late, once a promise goes on", (req, res, { log }) => {
        setImmediate(async () => {
            res.end("x");
            await null;
            log("write", res.write("y"));
            res.end("z");
        });
    }, [get(), reply, quiet]),
    uncaught("writes right after an end that came late, without a listener", (req, res) => {
        setImmediate(() => {
            res.end("x");
            res.end("z");
        });
    }, [get(), reply, logged("uncaught"), quiet]),
    uncaught("a request ends the reply to another one and writes to it", (() => {
        let first;
        return (req, res, { log }) => {
            if (req.url === "/first") {
                first = res;
                return;
            }
            first.end("x");
            res.end("second");
            Promise.resolve().then(() => log("write", first.write("y")));
        };
    })(), [get("/first"), async (s) => s.via(1, [get("/second"), reply]), reply, quiet]),
    uncaught("an error event without a listener", (req, res) => {
        res.emit("error", BOOM);
    }),
    uncaught("an error of the socket without a listener is nobody's", (req) => {
        req.socket.destroy(BOOM);
    }, [get(), ended, quiet]),
    {
        name: "a throw with nobody to catch it ends the process",
        dies: true,
        handle() {
            throw BOOM;
        },
        script: [get(), reply],
    },
    {
        name: "a rejection with nobody to catch it ends the process",
        dies: true,
        async handle() {
            throw BOOM;
        },
        script: [get(), reply],
    },
    {
        name: "an address in use with no listener ends the process",
        dies: true,
        async program({ http, opened, listening }) {
            const server = http.createServer();
            opened.push(server);
            const { port, host } = await listening(server);
            http.createServer().listen(port, host);
            await new Promise(() => {});
        },
    },
    {
        name: "process.exit in a handler",
        dies: true,
        handle: () => process.exit(7),
        script: [get(), reply],
    },
    {
        name: "captureRejections answers 500",
        serial: true,
        handle: () => {},
        setup: (server) => {
            server[Symbol.for("nodejs.rejection")] = Object.getPrototypeOf(server)[Symbol.for("nodejs.rejection")];
            server.removeAllListeners("request");
            server.on("request", (req, res) => {
                res.setHeader("X-Leak", 1);
                Promise.reject(BOOM).catch((error) => server[Symbol.for("nodejs.rejection")](error, "request", req, res));
            });
        },
        script: [get(), reply],
    },
    wrong("write after end", (req, res, { log }) => {
        res.on("error", (error) => log("res error", error));
        res.end("x");
        log(res.write("y", (error) => log("callback", error)));
    }, [get(), reply, logged("res error"), quiet]),
    wrong("write after end, later", (req, res, { log, when }) => {
        res.on("error", (error) => log("res error", error));
        res.on("close", () => log("close"));
        when("write", () => log(res.write("y", (error) => log("callback", error))));
        res.end("x");
    }, [get(), reply, logged("close"), go("write"), logged("callback"), quiet]),
    wrong("end with a body after end", (req, res, { log }) => {
        res.on("error", (error) => log("res error", error));
        res.end("x");
        res.end("y", (error) => log("callback", error));
    }, [get(), reply, logged("res error"), quiet]),
    wrong("end twice with callbacks", (req, res, { log }) => {
        res.end("x", (error) => log("first", error ?? "well"));
        res.end((error) => log("second", error ?? "well"));
    }, [get(), reply, logged("second")]),
    wrong("end again once it has finished", (req, res, { log }) => {
        res.end("x");
        res.on("close", () => res.end((error) => log(error ?? "well")));
    }, [get(), reply, logged("ERR")]),
    wrong("headers sent twice", (req, res, { attempt }) => {
        res.writeHead(200);
        attempt("writeHead", () => res.writeHead(404));
        attempt("setHeader", () => res.setHeader("X", "y"));
        attempt("_implicitHeader", () => res._implicitHeader());
        res.end("x");
    }),
    wrong("fields after a body has begun", (req, res, { attempt }) => {
        res.write("a");
        attempt("setHeader", () => res.setHeader("X", "y"));
        attempt("writeHead", () => res.writeHead(404));
        attempt("writeEarlyHints", () => res.writeEarlyHints({ "x-y": "z" }));
        res.statusCode = 500;
        res.end("b");
    }),
    wrong("never answers", (req, res, { log, spy }) => {
        spy("res", res, "close", "finish", "error");
        log("got it");
    }, [get(), logged("got it"), quiet]),
    wrong("never answers, and the client goes", (req, res, { log, spy }) => {
        spy("req", req, "aborted", "close", "error");
        spy("res", res, "close", "finish", "error");
        log("got it");
    }, [get(), logged("got it"), (s) => s.peer.reset(), logged("res close"), quiet]),
    wrong("answers after the client has gone", (req, res, { log, when, spy }) => {
        spy("res", res, "close", "finish", "error");
        log("got it");
        when("answer", () => {
            log(res.destroyed, res.writableEnded, req.destroyed, req.aborted, res.socket === null, res.headersSent);
            log(res.write("late", (error) => log("write", error ?? "well")));
            res.end("later", (error) => log("end", error ?? "well"));
            log(res.headersSent, res.writableEnded, res.finished);
        });
    }, [get(), logged("got it"), (s) => s.peer.reset(), logged("res close"), go("answer"), quiet]),
    wrong("sets fields after the client has gone", (req, res, { log, when, attempt }) => {
        log("got it");
        res.on("close", () => log("close"));
        when("answer", () => {
            attempt("setHeader", () => res.setHeader("X-A", 1));
            attempt("writeHead", () => res.writeHead(200));
            attempt("flushHeaders", () => res.flushHeaders());
            attempt("writeContinue", () => res.writeContinue());
            attempt("end", () => res.end());
        });
    }, [get(), logged("got it"), (s) => s.peer.reset(), logged("close"), go("answer"), quiet]),
    wrong("writes on and on after the client has gone", (req, res, { log, when }) => {
        res.on("error", (error) => log("error", error.code));
        res.write("x");
        res.on("close", () => log("close", res.writableFinished, res.writableEnded));
        when("more", () => {
            for (let at = 0; at < 5; at += 1) log(res.write("more"));
        });
    }, [get(), until("x"), (s) => s.peer.reset(), logged("close"), go("more"), quiet]),
    wrong("reads on after the client has gone", (req, res, { log, when }) => {
        res.on("close", () => log("close"));
        req.on("error", (error) => log("error", error.code));
        when("read", () => {
            req.on("data", (part) => log("data", part));
            req.on("end", () => log("end"));
            log(req.read(), req.readable, req.readableAborted);
        });
    }, [post("/", "abc").slice(0, -1), quiet, (s) => s.peer.reset(), logged("close"), go("read"), quiet]),
    wrong("an invalid header in the middle of a good reply", (req, res, { attempt }) => {
        res.setHeader("X-A", "a");
        attempt("bad", () => res.setHeader("X-B", "b\r\nX-C: c"));
        res.end("x");
    }),
    wrong("a status that is none, by statusCode", (req, res, { attempt }) => {
        res.statusCode = "abc";
        attempt("end", () => res.end("x"));
        res.statusCode = 500;
        attempt("end", () => res.end("y"));
    }),
    wrong("a chunk that is none at the end", (req, res, { attempt }) => {
        res.write("a");
        attempt("end", () => res.end({}));
        res.end("b");
    }),
    wrong("destroy twice", (req, res, { log }) => {
        res.on("close", () => log("close"));
        res.destroy();
        res.destroy(new Error("again"));
        log(res.errored ?? "no error");
    }, [get(), ended, logged("close")]),
];
