// What becomes of errors: thrown, rejected, passed on; with and without somebody who handles them; after the head was sent.
import { built, passing, telling } from "../built.mjs";

const handled = (name, handler, more = {}) => built(name, (app, t) => {
    app.get("/", (req, res, next) => handler(req, res, next, t));
    app.use(telling(t));
}, ["/"], more);

/** Nobody handles it but Express itself, as a developer and in production. */
const unhandled = (name, handler, requests = ["/"], more = {}) => ["development", "production", "test"].map((env) => built(`${name}, in ${env}`, (app, t) => {
    app.use((req, res, next) => handler(req, res, next, t));
}, requests, { env, ...more }));

const failing = (make) => (req, res, next) => next(make());
const withFacts = (facts, message = "boom") => () => Object.assign(new Error(message), facts);

export default [
    ...unhandled("an Error thrown", () => {
        throw new Error("boom");
    }, ["/", "POST /"]),
    // A HEAD shows the length of a page that holds the stack.
    ...unhandled("an Error whose stack is known, to HEAD", failing(withFacts({ stack: "Error: boom\n    at nowhere" })), ["HEAD /"]),
    ...unhandled("an Error passed on", failing(() => new TypeError("passed <on> & \"quoted\""))),
    ...unhandled("a status of 4xx", failing(withFacts({ status: 422 }))),
    ...unhandled("a text thrown", () => {
        throw "just text";
    }),
    ...unhandled("undefined thrown", () => {
        throw undefined;
    }),
    ...unhandled("an object without a stack", failing(() => ({ message: "plain", status: 409 }))),
    ...unhandled("an error with fields", failing(withFacts({ status: 401, headers: { "WWW-Authenticate": "Basic", "X-Own": ["a", "b"] } }))),
    ...unhandled("nobody answers", (req, res, next) => next(), ["/", "/a<b>&\"c\"", "/%zz", "HEAD /x", "POST /y?z", "/caf%C3%A9", "OPTIONS /x", "//x"]),
    ...[400, 404, 418, 499, 500, 503, 599, 600, 399, 200, 302, 0, -1, 99, 1000, "404", "nonsense", null, NaN, 404.5].map((status) => built(`err.status of ${JSON.stringify(status)} (${typeof status})`, (app) => app.use(failing(withFacts({ status }))), ["/"], { env: "production" })),
    built("err.statusCode", (app) => app.use(failing(withFacts({ statusCode: 404 }))), ["/"], { env: "production" }),
    built("err.status before err.statusCode", (app) => app.use(failing(withFacts({ status: 403, statusCode: 404 }))), ["/"], { env: "production" }),
    built("a bad err.status and a good err.statusCode", (app) => app.use(failing(withFacts({ status: 200, statusCode: 404 }))), ["/"], { env: "production" }),
    built("res.statusCode where the error has none", (app) => app.use((req, res, next) => next(new Error("no"), res.status(Number(req.query.status)))), ["/?status=404", "/?status=503", "/?status=200", "/?status=302", "/?status=600"], { env: "production" }),
    built("err.headers without err.status", (app) => app.use(failing(withFacts({ headers: { "X-Own": "a" } }))), ["/"], { env: "production" }),
    built("err.headers that are none", (app) => app.use(failing(withFacts({ status: 400, headers: "nonsense" }))), ["/"], { env: "production" }),
    built("err.expose does not matter", (app) => app.use(failing(withFacts({ status: 500, expose: true }))), ["/"], { env: "production" }),
    built("fields that were set before an error go", (app) => app.use((req, res, next) => {
        res.set({ "X-Before": "a", "Content-Encoding": "gzip", "Content-Type": "application/json", ETag: '"x"', "Content-Language": "de", "Content-Length": "99" });
        res.cookie("a", "b");
        next(new Error("no"));
    }), ["/"], { env: "production" }),
    built("fields that were set before a 404 go", (app) => app.use((req, res, next) => {
        res.set({ "X-Before": "a", "Content-Type": "application/json" });
        next();
    })),
    built("a status message that was set before an error", (app) => app.use((req, res, next) => {
        res.statusMessage = "Mine";
        next(new Error("no"));
    }), ["/"], { env: "production" }),
    built("an error with a body that was not read", (app) => app.use(failing(() => new Error("no"))), [{ method: "POST", path: "/", body: "x".repeat(2000) }, { method: "POST", path: "/", body: ["a", "b"] }], { env: "production" }),
    built("a 404 for a body that was not read, and another request", () => {}, [{ method: "POST", path: "/", body: "x".repeat(2000), connection: "kept" }, { path: "/next", connection: "kept" }]),
    built("an error after the head was sent", (app) => app.use((req, res, next) => {
        res.write("part");
        next(new Error("late"));
    }), ["/"], { env: "production" }),
    built("an error after the reply has ended", (app) => app.use((req, res, next) => {
        res.end("whole");
        next(new Error("too late"));
    }), ["/"], { env: "production" }),
    built("an error after the reply, on a kept connection", (app) => {
        app.get("/late", (req, res, next) => {
            res.send("whole");
            next(new Error("too late"));
        });
        app.get("/", (req, res) => res.send("fine"));
    }, [{ path: "/late", connection: "kept" }], { env: "production" }),
    built("a 404 after the reply has ended", (app) => app.use((req, res, next) => {
        res.end("whole");
        next();
    })),

    handled("a handler of errors", () => {
        throw new Error("boom");
    }),
    handled("an error with facts", (req, res, next) => next(Object.assign(new Error("no"), { status: 418, expose: false }))),
    handled("a text", (req, res, next) => next("text")),
    handled("an async handler that throws", async () => {
        await null;
        throw new Error("async");
    }, { only: 5 }),
    handled("an async handler that throws at once", async () => {
        throw new Error("async at once");
    }, { only: 5 }),
    handled("a rejected promise of nothing", () => Promise.reject(), { only: 5 }),
    handled("a rejected promise of null", () => Promise.reject(null), { only: 5 }),
    handled("a rejected promise of a text", () => Promise.reject("text"), { only: 5 }),
    handled("a rejected promise of 'route'", () => Promise.reject("route"), { only: 5 }),
    handled("a promise that is fulfilled", async (req, res) => res.send("fulfilled")),
    handled("a promise fulfilled with a value that means nothing", async (req, res) => {
        res.send("fulfilled");
        return new Error("returned");
    }),
    handled("next, and then a rejection", async (req, res, next) => {
        next(new Error("first"));
        throw new Error("second");
    }, { only: 5, env: "production" }),
    handled("an answer, and then a rejection", async (req, res) => {
        res.send("answered");
        throw new Error("after the answer");
    }, { only: 5 }),
    handled("a thenable that is no promise, in 5", () => ({ then: (resolve, reject) => setImmediate(reject, new Error("thenable")) }), { only: 5 }),
    built("an async handler that throws, in 4", (app) => {
        app.get("/", async () => {
            throw new Error("async");
        });
    }, [{ path: "/", abortAfter: Infinity, wait: "uncaught" }], { only: 4, throws: true }),
    built("a throw in a later tick", (app) => {
        app.get("/", () => setImmediate(() => {
            throw new Error("later");
        }));
    }, [{ path: "/", abortAfter: Infinity, wait: "uncaught" }], { throws: true }),
    built("a throw in a listener of the request", (app) => {
        app.post("/", (req) => req.on("end", () => {
            throw new Error("in a listener");
        }).resume());
    }, [{ method: "POST", path: "/", body: "x", abortAfter: Infinity, wait: "uncaught" }], { throws: true }),
    built("a throw in next's callers", (app, t) => {
        app.use((req, res, next) => {
            next();
            t.log("after next");
            throw new Error("after next");
        });
        app.get("/", (req, res) => res.send("answered"));
    }, ["/"], { env: "production" }),
    built("an async middleware around", (app, t) => {
        app.use(async (req, res, next) => {
            t.log("before");
            await next();
            t.log("after");
        });
        app.get("/", async (req, res) => {
            await null;
            t.log("in");
            res.send("answered");
        });
    }),
    built("try around next catches nothing", (app, t) => {
        app.use((req, res, next) => {
            try {
                next();
            } catch (error) {
                t.log("caught", error);
            }
        });
        app.get("/", () => {
            throw new Error("boom");
        });
        app.use(telling(t));
    }),
    built("several handlers of errors", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use((error, req, res, next) => (t.log("first", error), next(error)));
        app.use(passing(t, "never"));
        app.use((error, req, res, next) => (t.log("second", error), next(new Error("two"))));
        app.use(telling(t, "third"));
    }),
    built("a handler of errors that recovers", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use((error, req, res, next) => next());
        app.use(passing(t, "behind"));
        app.use((error, _req, res, _next) => res.end("never"));
        app.use((req, res) => res.end("recovered"));
    }),
    built("a handler of errors that throws", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use((error, _req, _res, _next) => {
            throw new Error(`of ${error.message}`);
        });
        app.use(telling(t));
    }),
    built("an async handler of errors that throws", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use(async (error, _req, _res, _next) => {
            throw new Error(`of ${error.message}`);
        });
        app.use(telling(t));
    }, ["/"], { only: 5 }),
    built("a handler of errors that says 'route'", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use((error, req, res, next) => next("route"));
        app.use(passing(t, "behind"));
        app.use(telling(t));
    }),
    built("handlers of errors under paths", (app, t) => {
        app.use("/a", telling(t, "a's"));
        app.get("/a", () => {
            throw new Error("at a");
        });
        app.get("/b/:id", () => {
            throw new Error("at b");
        });
        app.use("/a", telling(t, "a's again"));
        app.use("/b/:id", telling(t, "b's"));
        app.use(telling(t, "everybody's"));
    }, ["/a", "/b/1", "/c"]),
    built("handlers of errors in a route", (app, t) => {
        app.get("/", (req, res, next) => next(new Error("one")), passing(t, "never"), (error, req, res, next) => (t.log("in the route", error), next(error)), (error, _req, res, _next) => res.end(error.message), ending404);
    }),
    built("handlers of errors in a route that recover", (app, t) => {
        app.get("/", () => {
            throw new Error("one");
        }, (error, req, res, next) => next(), (req, res) => {
            t.log("in the route");
            res.end("recovered");
        });
    }),
    built("handlers of errors in a router", (app, t, express) => {
        const router = express.Router();
        router.get("/x", () => {
            throw new Error("inside");
        });
        router.use((error, req, res, next) => (t.log("router's", error, req.baseUrl), next(error)));
        app.use("/r", router);
        app.use(telling(t, "app's"));
    }, ["/r/x", "/r/y"]),
    built("handlers of errors don't see requests without one", (app, t) => {
        app.use(telling(t));
        app.get("/", (req, res) => res.end("fine"));
    }),
    built("an error before a handler of errors with three arguments", (app, t) => {
        app.use(() => {
            throw new Error("one");
        });
        app.use((error, req, res) => (t.log("not for errors"), res.end()));
    }, ["/"], { env: "production" }),
    built("what Express prints of an error", (app) => app.use(failing(() => Object.assign(new Error("printed"), { stack: undefined }))), ["/"], { env: "production" }),
    built("what Express prints of an error whose stack is its own", (app) => app.use(failing(() => Object.assign(new Error("printed"), { stack: "my own stack\n  of lines" }))), ["/"]),
    built("an error that cannot be turned into text", (app) => app.use(failing(() => ({ toString() {
        throw new Error("no text");
    } }))), ["/"], { env: "production", throws: true }),
    built("an error whose message is empty", (app) => app.use(failing(() => new Error(""))), ["/"]),
    built("an error with newlines and spaces", (app) => app.use(failing(() => Object.assign(new Error("a"), { stack: "one\ntwo  three\n   four" }))), ["/"]),
    built("an AggregateError with a cause", (app) => app.use(failing(() => Object.assign(new AggregateError([new Error("a")], "many", { cause: new Error("why") }), { stack: "AggregateError: many" }))), ["/"]),
    built("env of the app, not of the process", (app) => {
        app.set("env", "production");
        app.use(failing(() => new Error("secret")));
    }),
    built("env test prints nothing", (app) => {
        app.set("env", "test");
        app.use(failing(() => new Error("silent")));
    }),
    built("an app's own last word", (app, t) => {
        const { handle } = app;
        app.handle = (req, res) => handle.call(app, req, res, (error) => {
            t.log("last word", error);
            res.statusCode = 599;
            res.end("mine");
        });
    }, ["/none"]),
    built("console.error replaced", (app, t) => {
        const { error } = console;
        app.use((req, res, next) => {
            console.error = (...values) => {
                console.error = error;
                t.log("console.error", ...values.map((value) => String(value).split("\n")[0]));
            };
            next(new Error("printed"));
        });
    }, ["/"], { ends: "console.error" }),
];

function ending404(req, res) {
    res.status(404).end();
}
