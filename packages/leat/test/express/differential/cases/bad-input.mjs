// Programs that do wrong: throws, headers sent twice, bad patterns, bad arguments; by Express's own error handler, in both modes.
import { answers, get, head, post, shown, told } from "../shapes.mjs";

/** A case whose handler's failure goes to Express's own error handler, in development and in production. */
const fails = (name, handler, requests = [get()], more = {}) => ["development", "production", "test"].map((env) => ({
    name: `${name} (${env})`,
    env,
    app(express, t) {
        const app = express();
        app.use((req, res, next) => handler(req, res, next, t));
        return app;
    },
    requests,
    ...more,
}));
const error = (facts, message = "mine") => Object.assign(new Error(message), facts);
/** Logs what each call on an app does. */
const construct = (name, ...acts) => ({
    name,
    app(express, t) {
        for (const act of acts) {
            const app = express();
            try {
                const made = act(app, express);
                t.log(made === app ? "the app" : typeof made);
            } catch (problem) {
                t.log(told(problem));
            }
        }
    },
    requests: [],
});
const noop = (req, res, next) => next();
/** Logs what `act` says on stderr, without its time. */
const deprecating = (name, act, { requests = [get()], ...more } = {}) => answers(name, (req, res, next, t) => {
    const { write } = process.stderr;
    process.stderr.write = (text) => t.log(String(text).replace(/^.* GMT /, "").replace(/at .*\/(cases\/[^:]*):\d+:\d+/, "at $1").trim());
    try {
        act(res, req);
    } catch (problem) {
        t.log(told(problem));
    } finally {
        process.stderr.write = write;
    }
    if (!res.headersSent) res.end();
}, requests, more);

export default [
    ...fails("throws an Error", () => {
        throw new Error("thrown <b>&\n  two lines");
    }, [get(), post("text/plain", "body")]),
    ...fails("a HEAD that fails", (req, res, next) => next(error({ stack: "made up" })), [head()]),
    ...fails("next(error)", (req, res, next) => next(new Error("given"))),
    ...[
        ["status 404", { status: 404 }],
        ["statusCode 403", { statusCode: 403 }],
        ["status and statusCode", { status: 400, statusCode: 403 }],
        ["status below 400", { status: 200 }],
        ["status beyond 599", { status: 600 }],
        ["status as text", { status: "404" }],
        ["status 599, which has no name", { status: 599 }],
        ["status null", { status: null }],
        ["headers", { status: 401, headers: { "WWW-Authenticate": "Basic", "X-Many": ["1", "2"], "Content-Type": "text/x" } }],
        ["headers without status", { headers: { "X-A": "1" } }],
        ["headers that are no object", { status: 400, headers: "text" }],
        ["expose", { status: 500, expose: true }],
        ["no stack", { stack: undefined }],
        ["an empty stack", { stack: "" }],
        ["a stack of its own", { stack: "made up <stack>" }],
    ].flatMap(([name, facts]) => fails(`an error with ${name}`, (req, res, next) => next(error(facts)))),
    ...[["text", "text"], ["a number", 404], ["an object", { status: 418, message: "m" }], ["an object with toString", { toString: () => "told" }], ["true", true], ["an array", [1]], ["a Symbol", Symbol("s")], ["a function", () => {}]].flatMap(([name, value]) => fails(`next with ${name}`, (req, res, next) => next(value))),
    ...fails("next with a bare object", (req, res, next) => next(Object.assign(Object.create(null), { status: 400 })), [get()], { throws: true }),
    ...[["null", null], ["undefined", undefined], ["0", 0], ["an empty text", ""], ["false", false], ["NaN", NaN]].flatMap(([name, value]) => fails(`throws ${name}`, () => {
        throw value;
    })),
    ...fails("a status set before the error", (req, res, next) => {
        res.status(503).set({ "X-A": "1", "Content-Type": "text/x", "Content-Encoding": "gzip", "Content-Language": "en", "Content-Range": "bytes 0-1/2", ETag: '"x"', "Content-Length": "999" });
        res.statusMessage = "Mine";
        next(new Error("late"));
    }),
    ...fails("a status of 200 set before the error", (req, res, next) => next(new Error(String(res.status(200).statusCode)))),
    ...fails("an error after the head was sent", (req, res, next) => {
        res.write("part");
        next(new Error("too late"));
    }),
    ...fails("an error after the end", (req, res, next) => {
        res.end("whole");
        next(new Error("far too late"));
    }),
    ...fails("next after the end", (req, res, next) => {
        res.end("whole");
        next();
    }),
    ...fails("next after the head was sent", (req, res, next) => {
        res.write("part");
        next();
        res.end();
    }),
    ...fails("headers sent twice", (req, res) => {
        res.send("one");
        res.send("two");
    }),
    ...fails("json, then redirect", (req, res) => {
        res.json({ a: 1 });
        res.redirect("/to");
    }),
    ...fails("an invalid status", (req, res) => res.status(42).send("x")),
    ...fails("an invalid statusCode", (req, res) => {
        res.statusCode = 42;
        res.send("x");
    }),
    ...fails("an invalid header", (req, res) => res.set("X-A", "a\nb").send("x")),
    ...fails("an invalid name of a header", (req, res) => res.set("X A", "b").send("x")),
    ...fails("an undefined header", (req, res) => {
        res.setHeader("X-A", undefined);
        res.send("x");
    }),
    ...fails("404", (req, res, next) => next(), [get("/a?b=c"), get("/<script>alert('x')</script>"), get("/%3Cb%3E"), get("/é".replace("é", "%C3%A9")), get("//double/"), post("text/plain", "x"), head("/a"), { method: "OPTIONS", path: "/a" }, { method: "PROPFIND", path: "/a" }]),
    ...fails("404 after headers were set", (req, res, next) => {
        res.status(200).set({ "X-A": "1", "Content-Type": "text/x", "Content-Length": "7", ETag: '"x"' });
        next();
    }),
    ...fails("an unwatched body and an error", (req, res, next) => next(error({ status: 413 })), [post("text/plain", "x".repeat(100_000), { Connection: "keep-alive" }, { connection: "a" }), get("/", {}, { connection: "a" })]),
    {
        name: "an error handler that throws",
        env: "production",
        app(express, t) {
            const app = express();
            app.use(() => {
                throw new Error("first");
            });
            app.use((problem, _req, _res, _next) => {
                t.log(problem.message);
                throw error({ status: 418 }, "second");
            });
            app.use((problem, req, res, next) => {
                t.log(problem.message);
                next(problem);
            });
            return app;
        },
    },
    {
        name: "an error handler that recovers",
        app(express, t) {
            const app = express();
            app.use((req, res, next) => next(new Error("first")));
            app.use((req, res, next) => {
                t.log("skipped?");
                next();
            });
            app.use((problem, req, res, next) => next());
            app.use((req, res) => res.end("recovered"));
            return app;
        },
    },
    {
        name: "console.error gets the error, but not in test",
        app(express, t) {
            const { error: own } = console;
            const app = express();
            app.set("env", "test");
            app.use((req, res, next) => next(new Error(req.path)));
            console.error = (...args) => {
                t.log(`console.error ${args.map((arg) => (arg instanceof Error ? arg.message : shown(arg))).join(" ")}`);
                if (String(args[0]).includes("/last")) console.error = own;
            };
            const outer = express();
            outer.use("/dev", (req, res, next) => next(new Error(req.originalUrl)));
            outer.use(app);
            return outer;
        },
        requests: [get("/dev"), get("/other"), get("/last")],
        ends: "/last",
    },
    deprecating("a deprecation names the program's line, once", (res) => {
        for (let time = 0; time < 3; time += 1) res.vary();
    }),
    deprecating("two deprecations of one call", (res) => {
        for (let time = 0; time < 2; time += 1) res.clearCookie("a", { maxAge: 1000, expires: new Date(0) });
        // What it says of the time is the clock's.
        res.removeHeader("Set-Cookie");
    }, { only: 4 }),
    deprecating("both orders of status and value on one line", (res, req) => {
        res.json(...(req.url === "/" ? [201, { a: 1 }] : [{ a: 1 }, 202]));
    }, { requests: [get(), get("/b"), get()], only: 4 }),
    answers("no deprecation with process.noDeprecation", (req, res, next, t) => {
        process.noDeprecation = true;
        try {
            res.vary();
        } catch (problem) {
            t.log(told(problem));
        } finally {
            delete process.noDeprecation;
        }
        res.end();
    }),

    construct("app.use of nothing", (app) => app.use(), (app) => app.use("/x"), (app) => app.use([]), (app) => app.use("/x", []), (app) => app.use(null), (app) => app.use(undefined), (app) => app.use("/x", null), (app) => app.use("/x", "y"), (app) => app.use(5), (app) => app.use({}), (app) => app.use("/x", {}), (app) => app.use(new Date(0)), (app) => app.use("/", noop, 5)),
    construct("app.get of nothing", (app) => app.get("/x", null), (app) => app.get("/x", undefined), (app) => app.get("/x", "text"), (app) => app.get("/x", []), (app) => app.get("/x", [noop, 5]), (app) => app.get("/x", {}), (app) => app.post("/x"), (app) => app.all("/x"), (app) => app.get(), (app) => app.get(null, noop), (app) => app.get(undefined, noop), (app) => app.get(5, noop), (app) => app.get({}, noop)),
    construct("app.route", (app) => app.route("/x").get(), (app) => app.route("/x").get(5), (app) => app.route("/x").all(), (app) => app.route("/x").all("y"), (app) => app.route(), (app) => app.route(null), (app) => app.route("/x")),
    construct("bad patterns", ...["/:", "/*", "*", "/a*", "/:a:b", "/(", "/a(b", "/[", "/{", "/a?", "/a+", "/(.*)", "/:a(\\d+)", "/:a?", "/:a*", "/:a+", "/a(?:b)", "/\\", "/{a", "/a}", "/:1", "/:é", "/!", "/:a-:b", "//", "", "a", "/**", "/*a*b", "/*a/*b", "/{:a}", "/:a{:b}", '/:"quoted"', '/:"un', "/;@,"].map((path) => (app) => app.get(path, noop))),
    construct("regular expressions", (app) => app.get(/^\/(a|b)$/, noop), (app) => app.get(/(?<n>x)/g, noop), (app) => app.get([/a/, "/b"], noop), (app) => app.get([], noop), (app) => app.get([null], noop), (app) => app.get([["/a"]], noop)),
    construct("app.param", (app) => app.param("id", noop), (app) => app.param("id"), (app) => app.param(), (app) => app.param("id", 5), (app) => app.param(5, noop), (app) => app.param(["a", "b"], noop), (app) => app.param([], noop), (app) => app.param(":id", noop), (app) => app.param(noop)),
    construct("app.set", (app) => app.set("etag", "x"), (app) => app.set("query parser", "x"), (app) => app.set("trust proxy", "x"), (app) => app.set("trust proxy", {}), (app) => app.set("trust proxy", ["1.2.3.4", "x"]), (app) => app.set(), (app) => app.set("x", undefined), (app) => app.set({}, 1), (app) => app.enable(), (app) => app.set("trust proxy", "1.2.3.4/99"), (app) => app.set("trust proxy", () => true), (app) => app.set("trust proxy", -1), (app) => app.set("trust proxy", null), (app) => app.set("query parser", null), (app) => app.set("etag", null)),
    construct("app.del and app.configure", (app) => app.del("/x", noop), (app) => app.configure(noop), (app) => app.configure("production", noop)),
    construct("express.Router", (app, express) => express.Router(), (app, express) => new express.Router(), (app, express) => express.Router(null), (app, express) => express.Router().use(), (app, express) => express.Router().get("/x"), (app, express) => express.Router().get("/x", 5), (app, express) => express.Router().param("x"), (app, express) => express.Router()(), (app, express) => express.Router().handle(), (app, express) => new express.Route("/x").get(noop), (app, express) => express.Route.call({}, "/x")),
    construct("app without a request", (app) => app(), (app) => app({}, {}), (app) => app.handle({}), (app) => app.handle(null, null)),
    construct("listen with bad ports", (app) => app.listen(-1), (app) => app.listen(65_536), (app) => app.listen({ port: "x" }), (app) => app.listen({}), (app) => app.listen(true)),
    {
        name: "a pattern that fails when it is matched",
        app(express, t) {
            const app = express();
            app.get("/:id", (req, res) => res.end(req.params.id));
            app.use((problem, req, res, _next) => {
                t.log(told(problem));
                res.status(problem.status).end(problem.message);
            });
            return app;
        },
        requests: [get("/%zz"), get("/%E0%A4%A"), get("/ok%20"), get("/%00")],
    },
    {
        name: "a handler with too many arguments, and one with none",
        app(express, t) {
            const app = express();
            app.use((a, b, c, d, e) => t.log(`five ${typeof e}`));
            app.use((problem, req, res, next) => {
                t.log("four");
                next(problem);
            });
            app.use((...args) => {
                t.log(`none, given ${args.length}`);
                args[2]();
            });
            app.use((req, res, next = null) => {
                t.log(`default ${typeof next}`);
                res.end();
            });
            return app;
        },
    },
];
