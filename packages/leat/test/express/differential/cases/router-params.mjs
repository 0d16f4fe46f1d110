// Parameters: app.param, router.param, mergeParams, decoding, and what req.params holds where.
import { attempt, built, ending, logged, passing, telling } from "../built.mjs";

const seeing = (t, name) => (req, res, next, value, key) => {
    t.log(name, value, key, JSON.stringify(req.params));
    next();
};

export default [
    built("params of one route", (app) => app.get("/:a/:b", ending("ab")), ["/1/2", "/a%20b/c%2Fd", "/1/2/3", "/%E2%82%AC/x", "//2", "/1//"]),
    built("params with bytes above 0x7f", (app) => app.get("/:a/:b", ending("ab")), [{ path: Buffer.from("/é/ü").toString("latin1") }]),
    built("a param that cannot be decoded", (app, t) => {
        app.get("/:a", ending("a"));
        app.use(telling(t));
    }, ["/%zz", "/%E0%A4%A", "/%", "/%25", "/a%2"]),
    built("a param that cannot be decoded, without a handler", (app) => app.get("/:a", ending("a")), ["/%zz"], { env: "production" }),
    built("a bad escape where no param is", (app, t) => {
        app.get("/static", ending("static"));
        app.use(passing(t, "use"));
        app.use(ending("end"));
    }, ["/%zz", "/static?a=%zz"]),
    built("a bad escape behind a route that doesn't have it", (app, t) => {
        app.get("/x/:a", ending("x"));
        app.get("/y/:a", ending("y"));
        app.use("/z/:a", ending("z"));
        app.use(telling(t));
    }, ["/y/%zz", "/z/%zz/more", "/x/%zz"]),
    built("app.param", (app, t) => {
        app.param("id", seeing(t, "first"));
        app.param("id", seeing(t, "second"));
        app.param("other", seeing(t, "other"));
        app.get("/:id/:other", passing(t, "one"), ending("end"));
    }, ["/1/2", "/a%20b/c"]),
    built("app.param of a list", (app, t) => {
        app.param(["a", "b"], seeing(t, "param"));
        app.get("/:b/:a", ending("end"));
    }, ["/1/2"]),
    built("param runs once for a value, whatever the number of layers", (app, t) => {
        app.param("id", seeing(t, "param"));
        app.get("/:id", passing(t, "one"));
        app.get("/:id", passing(t, "two"));
        app.use("/:id", passing(t, "three"));
        app.get("/:id/:more", passing(t, "four"));
        app.use(ending("end"));
    }, ["/1", "/1/2"]),
    built("param runs again for another value", (app, t) => {
        app.param("id", seeing(t, "param"));
        app.get("/:id/*x".replace("*x", t.version === 5 ? "*x" : "*"), passing(t, "one"));
        app.get("/a/:id", passing(t, "two"));
        app.use(ending("end"));
    }, ["/a/b"]),
    built("a param that changes req.params", (app) => {
        app.param("id", (req, res, next, value) => {
            req.params.id = Number(value) * 2;
            next();
        });
        app.get("/:id", (req, res, next) => next());
        app.get("/:id", (req, res) => res.json(req.params));
    }, ["/21"]),
    built("a param that keeps something on the request", (app) => {
        app.param("user", (req, res, next, id) => {
            req.user = { id };
            next();
        });
        app.get("/:user/name", (req, res) => res.json(req.user));
        app.get("/:user", (req, res) => res.json(req.user));
    }, ["/tj/name", "/tj"]),
    built("a param that fails", (app, t) => {
        app.param("id", (req, res, next, value) => next(value === "bad" ? new Error("bad id") : undefined));
        app.get("/:id", ending("one"));
        app.use(telling(t));
    }, ["/bad", "/good"]),
    built("a param that throws", (app, t) => {
        app.param("id", () => {
            throw Object.assign(new Error("thrown"), { status: 422 });
        });
        app.get("/:id", ending("one"));
        app.use(telling(t));
    }, ["/x"]),
    built("a param that fails is not asked again for the same value", (app, t) => {
        app.param("id", (req, res, next) => {
            t.log("param");
            next(new Error("no"));
        });
        app.get("/:id", ending("one"));
        app.use((error, req, res, next) => {
            t.log("handled");
            next();
        });
        app.get("/:id", ending("two"));
        app.use(telling(t));
    }, ["/x"]),
    built("a param that says next('route')", (app, t) => {
        app.param("id", (req, res, next, value) => next(value === "skip" ? "route" : undefined));
        app.get("/:id", passing(t, "one"), ending("first"));
        app.get("/:other", ending("second"));
    }, ["/skip", "/stay"]),
    built("a param that says next('route') and the same param again", (app, t) => {
        app.param("id", (req, res, next) => (t.log("asked"), next("route")));
        app.get("/:id", ending("first"));
        app.get("/:id", ending("second"));
        app.get("/x", ending("third"));
    }, ["/x"]),
    built("a param that says next('router')", (app, t, express) => {
        const router = express.Router();
        router.param("id", (req, res, next) => next("router"));
        router.get("/:id", ending("in the router"));
        app.use(router);
        app.use(ending("behind"));
        app.use(telling(t));
    }, ["/x"]),
    built("a param that answers", (app, t) => {
        app.param("id", (req, res) => res.send("by param"));
        app.get("/:id", passing(t, "never"));
    }, ["/x"]),
    built("a param that goes on later", (app, t) => {
        app.param("id", (req, res, next) => setImmediate(next));
        app.param("id", (req, res, next) => void Promise.resolve().then(() => next()));
        app.get("/:id", passing(t, "one"), ending("end"));
    }, ["/x"]),
    built("a param whose promise is rejected", (app, t) => {
        app.param("id", async () => {
            throw new Error("rejected");
        });
        app.get("/:id", ending("end"));
        app.use(telling(t));
    }, ["/x"], { only: 5 }),
    built("a param's fifth argument", (app, t) => {
        app.param("first-name".replace("-", "_"), (req, res, next, value, name) => {
            t.log(value, name);
            next();
        });
        app.get("/:first_name", ending("end"));
    }, ["/x"]),
    built("params belong to their router", (app, t, express) => {
        const router = express.Router();
        router.param("id", seeing(t, "router's"));
        app.param("id", seeing(t, "app's"));
        router.get("/:id", ending("in the router"));
        app.use("/r", router);
        app.get("/:id", ending("in the app"));
        app.get("/a/:id", ending("in the app"));
    }, ["/r/1", "/a/1", "/x"]),
    built("params of a mount path", (app, t, express) => {
        const router = express.Router();
        app.param("user", seeing(t, "user"));
        router.param("user", seeing(t, "router's user"));
        router.get("/:id", ending("in the router"));
        app.use("/:user", router);
    }, ["/tj/1"]),
    ...[true, false, undefined].map((mergeParams) => built(`mergeParams ${mergeParams}`, (app, t, express) => {
        const router = express.Router({ mergeParams });
        router.get("/:id", ending("in the router"));
        router.get("/", ending("root of the router"));
        router.use((req, res, next) => (t.log(JSON.stringify(req.params)), next()));
        app.use("/:user/x/:id", router);
        app.use((req, res) => res.json(req.params));
    }, ["/tj/x/1", "/tj/x/1/2", "/tj/x/1/2/3"])),
    built("mergeParams through three routers", (app, t, express) => {
        const [a, b, c] = [1, 2, 3].map(() => express.Router({ mergeParams: true }));
        c.get("/:z", ending("deep"));
        b.use("/:y", c);
        a.use("/:x", b);
        app.use("/:w", a);
    }, ["/1/2/3/4"]),
    built("mergeParams with a router between that doesn't", (app, t, express) => {
        const [a, b] = [express.Router(), express.Router({ mergeParams: true })];
        b.get("/:z", ending("deep"));
        a.use("/:y", b);
        app.use("/:x", a);
    }, ["/1/2/3"]),
    built("mergeParams of numbered params", (app, t, express) => {
        const router = express.Router({ mergeParams: true });
        router.get(/^\/(\w)(\w)$/, ending("both by number"));
        router.get("/:name/x", ending("number and name"));
        app.use(/^\/(\d+)\/(\d+)/, router);
    }, ["/1/2/ab", "/1/2/n/x"]),
    built("req.params goes back behind a router", (app, t, express) => {
        const router = express.Router();
        router.get("/:inner", (req, res, next) => {
            req.params.inner = "changed";
            next();
        });
        app.use("/:outer", router, (req, res, next) => (t.log(JSON.stringify(req.params)), next()));
        app.use((req, res) => res.json(req.params ?? null));
    }, ["/a/b"]),
    built("params of each layer replace those before", (app, t) => {
        const log = (req, res, next) => (t.log(JSON.stringify(req.params), Object.getPrototypeOf(req.params) === null), next());
        app.use("/:a", log);
        app.get("/:b", log);
        app.use(log);
        app.get(/^\/(.*)$/, log);
        app.use((req, res) => res.end());
    }, ["/x"]),
    built("a property set on req.params does not last", (app) => {
        app.get("/:a", (req, res, next) => {
            req.params.extra = "mine";
            next();
        });
        app.get("/:a", (req, res) => res.json(req.params));
    }, ["/x"]),
    built("params called __proto__ and constructor", (app) => {
        app.get("/:__proto__/:constructor/:toString", (req, res) => res.json([Object.keys(req.params), req.params.constructor, req.params.toString, {}.polluted ?? null]));
    }, ["/a/b/c"]),
    built("params from named groups", (app) => app.get(/^\/(?<year>\d{4})-(?<month>\d{2})(?:\/(?<rest>.*))?$/, ending("date")), ["/2024-02", "/2024-02/x%20y", "/24-2"]),
    built("params from numbered and optional groups", (app) => app.get(/^\/(a)?(b)?\/(.*)$/, ending("groups")), ["/a/x", "/ab/x", "//x", "/b/"]),
    logged("what param refuses", (app, t, express) => {
        for (const [what, args] of Object.entries({ nothing: [], name: ["a"], text: ["a", "b"], object: ["a", {}], list: [["a", "b"], "c"], number: [1, () => {}] })) {
            attempt(t, `app.param of ${what}`, () => typeof app.param(...args));
            attempt(t, `router.param of ${what}`, () => typeof express.Router().param(...args));
        }
    }),
    // Through a router: for app.param Express takes its own file for the caller, and tells once a process.
    built("a param's name with a colon", (app, t, express) => {
        const router = express.Router();
        router.param(":id", seeing(t, "param"));
        router.get("/:id", ending("end"));
        app.use(router);
    }, ["/x"], { only: 4 }),
    built("router.param of a function, deprecated in 4", (app, t, express) => {
        const router = express.Router();
        router.param((name, test) => (req, res, next, value) => {
            t.log("tested", name, value);
            next(test.test(value) ? undefined : "route");
        });
        router.param("id", /^\d+$/);
        router.get("/:id", ending("number"));
        router.get("/:any", ending("anything"));
        app.use(router);
    }, ["/12", "/ab"], { only: 4 }),
];
