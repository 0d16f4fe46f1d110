// Handlers that return promises: caught by 5, and not by 4.
import { get, post, tells, told } from "../shapes.mjs";

/** A handler's rejection; nobody catches it on 4, which then never answers. */
const rejects = (name, build, path = "/") => ({
    name,
    app(express, t) {
        const app = express();
        build(app, t, express);
        app.use(tells(t));
        return app;
    },
    requests: (version) => [get(path, {}, version === 4 ? { abortAfter: Infinity, wait: "uncaught" } : {})],
    throws: true,
});
const both = (name, build, requests = [get()], more = {}) => ({
    name,
    app(express, t) {
        const app = express();
        build(app, t, express);
        app.use(tells(t));
        return app;
    },
    requests,
    ...more,
});
const turn = () => new Promise((resolve) => void setImmediate(resolve));

export default [
    rejects("a rejected middleware", (app) => app.use(async () => {
        throw new Error("rejected");
    })),
    rejects("a rejected route", (app) => app.get("/", async () => {
        throw new TypeError("rejected");
    })),
    rejects("a rejected route, later", (app) => app.get("/", async () => {
        await turn();
        throw new Error("rejected later");
    })),
    rejects("a rejection with a status", (app) => app.get("/", () => Promise.reject(Object.assign(new Error("teapot"), { status: 418 })))),
    rejects("a rejection with undefined", (app) => app.get("/", () => Promise.reject())),
    rejects("a rejection with null", (app) => app.get("/", () => Promise.reject(null))),
    rejects("a rejection with text", (app) => app.get("/", () => Promise.reject("text"))),
    rejects("a rejection with 'route'", (app) => {
        app.get("/", () => Promise.reject("route"));
        app.get("/", (req, res) => res.end("next route"));
    }),
    rejects("a rejection with 'router'", (app) => {
        app.get("/", () => Promise.reject("router"));
        app.get("/", (req, res) => res.end("same router"));
    }),
    rejects("a rejection with 0", (app) => app.get("/", () => Promise.reject(0))),
    rejects("a rejected param", (app) => {
        app.param("id", async () => {
            throw new Error("from the param");
        });
        app.get("/:id", (req, res) => res.end());
    }, "/5"),
    rejects("a rejection in a router of a mounted app", (app, t, express) => {
        const inner = express();
        const router = express.Router();
        router.get("/", async () => {
            throw new Error("deep");
        });
        inner.use("/b", router);
        inner.use((error, req, res, next) => {
            t.log(`inner ${error.message}`);
            next(error);
        });
        app.use("/a", inner);
    }, "/a/b"),
    rejects("a rejection in an array of handlers", (app) => app.get("/", [(req, res, next) => next(), async () => {
        throw new Error("second");
    }])),
    rejects("a rejected error handler", (app, t) => {
        app.use(() => {
            throw new Error("first");
        });
        app.use(async (error, _req, _res, _next) => {
            t.log(error.message);
            throw new Error("second");
        });
    }),
    both("a thenable is no promise", (app, t) => {
        app.get("/", (req, res) => {
            res.end("answered");
            return { then: () => t.log("then was called") };
        });
    }),
    both("a class derived from Promise", (app, t) => {
        class Own extends Promise {
            then(...args) {
                t.log("then was called");
                return super.then(...args);
            }
        }
        app.get("/", (req, res) => {
            res.end("answered");
            return Own.resolve();
        });
    }),
    both("an async handler that answers", (app) => app.get("/", async (req, res) => {
        await turn();
        res.json({ async: true });
    })),
    both("an async handler that calls next", (app) => {
        app.use(async (req, res, next) => {
            await turn();
            next();
        });
        app.get("/", (req, res) => res.end("next"));
    }),
    both("an async handler that calls next with an error", (app) => app.get("/", async (req, res, next) => {
        await turn();
        next(new Error("given"));
    })),
    both("what a handler returns is ignored", (app) => app.get("/", (req, res) => {
        res.end("x");
        return Promise.resolve("route");
    })),
    both("an await of next: order", (app, t) => {
        app.use(async (req, res, next) => {
            t.log("one in");
            await next();
            t.log("one out");
        });
        app.use(async (req, res, next) => {
            t.log("two in");
            await next();
            t.log("two out");
        });
        app.get("/", async (req, res) => {
            t.log("handler");
            await turn();
            res.end("x");
            t.log("answered");
        });
    }, [get()], { ends: "answered" }),
    both("what next returns", (app, t) => {
        app.use((req, res, next) => t.log(`${String(next())}`));
        app.get("/", (req, res) => {
            res.end("x");
            return 5;
        });
    }),
    both("a rejection after next", (app, t) => {
        app.use(async (req, res, next) => {
            next();
            throw new Error("after next");
        });
        app.get("/", (req, res) => res.end("answered"));
        app.use((error, req, res, next) => {
            t.log(`${told(error)} ${res.headersSent}`);
            next();
        });
    }, [get()], { throws: true, ends: "after next" }),
    both("a rejection after the answer", (app) => app.get("/", async (req, res) => {
        res.end("answered");
        throw new Error("after the answer");
    }), [get()], { throws: true, ends: "after the answer" }),
    both("a throw and next both", (app) => {
        app.use((req, res, next) => {
            next();
            throw new Error("after next");
        });
        app.get("/", (req, res) => res.end("answered"));
    }, [get()], { ends: "after next" }),
    both("next called twice", (app, t) => {
        let times = 0;
        app.use((req, res, next) => {
            next();
            next();
        });
        app.use((req, res) => {
            times += 1;
            t.log(`handler ${times}`);
            if (times === 1) res.end("x");
        });
    }),
    both("next called twice, asynchronously", (app, t) => {
        app.use((req, res, next) => {
            next();
            setImmediate(next);
        });
        app.get("/", (req, res) => {
            t.log("handler");
            res.end("x");
        });
        app.use(() => t.log("behind"));
    }, [get()], { ends: "behind" }),
    both("a handler that throws after a turn", (app) => app.get("/", () => void setImmediate(() => {
        throw new Error("in no handler");
    })), [get("/", {}, { abortAfter: Infinity, wait: "uncaught" })], { throws: true }),
    both("an async handler behind a parser", (app, t, express) => {
        app.use(express.json());
        app.post("/", async (req, res) => {
            await turn();
            res.json(req.body);
        });
    }, [post("application/json", '{"a":1}')]),
    both("an async generator as a handler is never run", (app, t) => {
        app.use((req, res, next) => {
            t.log("asked");
            next();
        });
        app.get("/", async function* (req, res) {
            t.log("run");
            yield res.end();
        });
    }, [get("/", {}, { abortAfter: Infinity, wait: "asked" })]),
    both("res.format with async callbacks", (app) => app.get("/", (req, res) => void res.format({ json: async () => {
        await turn();
        res.json({ a: 1 });
    } })), [get("/", { Accept: "application/json" })]),
    both("a rejection in sendFile's callback's time", (app, t) => app.get("/", async (req, res) => {
        const problem = await new Promise((resolve) => void res.sendFile(`${t.dir}/static/missing.txt`, resolve));
        t.log(told(problem));
        res.status(404).end("told");
    })),
    both("a handler that calls next and then rejects, and an error handler that ends what is answered", (app, t) => {
        app.get("/", async (req, res, next) => {
            next();
            throw new Error("late");
        });
        app.use((req, res) => void res.end("answered"));
        app.use((error, req, res, _next) => {
            t.log(told(error));
            res.write("more");
            res.end("again");
        });
    }, [get()], { only: 5 }),
];
