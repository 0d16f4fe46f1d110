// Apps in apps, and routers in apps: mountpath, path(), 'mount', whose settings and whose request and response count.
import { built, ending, logged, passing, telling } from "../built.mjs";

const mounted = (name, act, requests = ["/sub/x"], more = {}) => built(name, (app, t, express) => act(app, express(), t, express), requests, more);

export default [
    logged("mountpath, parent and path()", (app, t, express) => {
        const [blog, admin, many] = [express(), express(), express()];
        for (const each of [blog, admin, many]) each.on("mount", (parent) => t.log("mount", parent === app, parent === blog, each.mountpath));
        app.use("/blog", blog);
        blog.use("/admin", admin);
        app.use(["/a", "/b"], many);
        t.log(app.path(), blog.path(), admin.path(), app.mountpath, blog.mountpath, admin.mountpath, many.mountpath, many.path());
        t.log(blog.parent === app, admin.parent === blog);
    }),
    logged("mount without a path", (app, t, express) => {
        const sub = express();
        sub.on("mount", (parent) => t.log("mount", parent === app, sub.mountpath, sub.path()));
        app.use(sub);
    }),
    logged("one app mounted twice", (app, t, express) => {
        const sub = express();
        sub.on("mount", () => t.log("mount", sub.mountpath, sub.path()));
        app.use("/one", sub);
        app.use("/two", sub);
        t.log(sub.mountpath, sub.path());
    }),
    logged("several apps in one use", (app, t, express) => {
        const subs = [express(), express()];
        for (const [at, sub] of subs.entries()) sub.on("mount", () => t.log("mount", at, sub.mountpath));
        t.log(app.use("/x", subs[0], [subs[1]]) === app);
    }),
    logged("a mounted app takes over settings", (app, t, express) => {
        const sub = express();
        app.set("trust proxy", 2).set("title", "parent").set("etag", "strong").set("query parser", "simple");
        sub.set("own", "mine");
        t.log(sub.get("title"), sub.get("trust proxy"), sub.get("etag"), sub.get("query parser"));
        app.use("/sub", sub);
        t.log(sub.get("title"), sub.get("trust proxy"), sub.get("etag"), sub.get("query parser"), sub.get("own"), app.get("own"));
        t.log(Object.getPrototypeOf(sub.settings) === app.settings, sub.get("trust proxy fn") === app.get("trust proxy fn"), sub.get("etag fn") === app.get("etag fn"));
        app.set("later", "yes");
        t.log(sub.get("later"), Object.hasOwn(sub.settings, "later"));
    }),
    logged("a mounted app keeps its own trust proxy", (app, t, express) => {
        const sub = express();
        app.set("trust proxy", 2);
        sub.set("trust proxy", "loopback");
        app.use("/sub", sub);
        t.log(sub.get("trust proxy"), sub.get("trust proxy fn") === app.get("trust proxy fn"));
    }),
    logged("engines of a parent reach a mounted app", (app, t, express) => {
        const sub = express();
        app.engine("x", () => {});
        app.use(sub);
        t.log(Object.keys(sub.engines), Object.hasOwn(sub.engines, ".x"), typeof sub.engines[".x"]);
    }),
    mounted("a route in a mounted app", (app, sub) => {
        sub.get("/x/:id", ending("sub"));
        sub.get("/", ending("root"));
        app.use("/sub", sub);
    }, ["/sub/x/1?q=1", "/sub", "/sub/", "/sub?q=1", "/sub/none", "/SUB/x/1", "/sub/x/1/"]),
    mounted("a mounted app with parameters in its path", (app, sub) => {
        sub.get("/x", ending("sub"));
        app.use("/:tenant/sub", sub);
    }, ["/a%20b/sub/x", "/a/sub/y"]),
    mounted("a mounted app that does not match goes back to its parent", (app, sub, t) => {
        sub.use(passing(t, "in sub"));
        app.use("/sub", sub);
        app.use(passing(t, "in app"));
        app.use(ending("behind"));
    }, ["/sub/x", "/other"]),
    mounted("req.app and prototypes inside, and behind", (app, sub, t) => {
        const look = (where) => (req, res, next) => {
            t.log(where, req.app === app, req.app === sub, res.app === sub, Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(req) === sub.request, Object.getPrototypeOf(res) === sub.response);
            next();
        };
        app.use(look("before"));
        sub.use(look("inside"));
        app.use("/sub", sub);
        app.use(look("behind"));
        app.use((req, res) => res.end("done"));
    }),
    mounted("extensions of the parent's request in a mounted app", (app, sub) => {
        app.request.mine = "parent";
        app.response.hello = function hello() {
            return this.send("parent's");
        };
        sub.get("/x", (req, res) => (res.set("X-Mine", String(req.mine)), res.hello()));
        app.use("/sub", sub);
    }),
    mounted("a mounted app overrides a method", (app, sub) => {
        app.response.hello = function hello() {
            return this.send("parent's");
        };
        sub.response.hello = function hello() {
            return this.send("sub's");
        };
        sub.get("/x", (req, res) => res.hello());
        app.use("/sub", sub);
        app.get("/own", (req, res) => res.hello());
    }, ["/sub/x", "/own"]),
    mounted("settings of the mounted app count inside", (app, sub) => {
        app.set("json spaces", 2);
        sub.set("json spaces", 4);
        sub.get("/x", (req, res) => res.json({ a: 1 }));
        app.use("/sub", sub);
        app.get("/own", (req, res) => res.json({ a: 1 }));
        app.use((req, res) => res.json({ behind: 1 }));
    }, ["/sub/x", "/own", "/sub/none"]),
    mounted("settings that a mounted app inherits count inside", (app, sub) => {
        app.set("json spaces", 2);
        sub.get("/x", (req, res) => res.json({ a: 1 }));
        app.use("/sub", sub);
    }),
    mounted("locals of both", (app, sub) => {
        app.locals.a = "parent";
        sub.locals.b = "sub";
        app.use((req, res, next) => {
            res.locals.c = "res";
            next();
        });
        sub.get("/x", (req, res) => res.json([req.app.locals.a ?? null, req.app.locals.b ?? null, res.locals.c ?? null]));
        app.use("/sub", sub);
    }),
    mounted("x-powered-by of the parent and of the mounted app", (app, sub) => {
        app.disable("x-powered-by");
        sub.get("/x", (req, res) => res.end("x"));
        app.use("/sub", sub);
    }),
    mounted("x-powered-by off in the mounted app alone", (app, sub) => {
        sub.disable("x-powered-by");
        sub.get("/x", (req, res) => res.end("x"));
        app.use("/sub", sub);
    }),
    mounted("an error in a mounted app reaches its own handler", (app, sub, t) => {
        sub.get("/x", () => {
            throw new Error("boom");
        });
        sub.use(telling(t, "sub's"));
        app.use("/sub", sub);
        app.use(telling(t, "parent's"));
    }),
    mounted("an error in a mounted app reaches the parent's handler", (app, sub, t) => {
        sub.get("/x", (req, res, next) => next(new Error("boom")));
        app.use("/sub", sub);
        app.use(telling(t, "parent's"));
    }),
    mounted("error handlers of a mounted app see its own errors only", (app, sub, t) => {
        sub.use(telling(t, "sub's"));
        app.use("/sub", (req, res, next) => next(new Error("before")));
        app.use("/sub", sub);
        app.use(telling(t, "parent's"));
    }),
    mounted("four deep", (app, sub, t, express) => {
        const [third, fourth] = [express(), express()];
        fourth.get("/x/:id", ending("deep"));
        third.use("/c", fourth);
        sub.use("/b", third);
        app.use("/a", sub);
        t.log(fourth.path(), third.path());
    }, ["/a/b/c/x/1?y=2", "/a/b/x/1", "/a/b/c"]),
    mounted("an app called as a function", (app, sub) => {
        sub.get("/x", ending("sub"));
        app.use((req, res, next) => sub(req, res, next));
    }, ["/x", "/y"]),
    mounted("an app's handle called by hand, with a callback", (app, sub, t) => {
        sub.get("/x", ending("sub"));
        app.use((req, res) => sub.handle(req, res, (error) => {
            t.log("out", error);
            res.end("fell out");
        }));
    }, ["/x", "/y"]),
    mounted("app.handle replaced before mounting", (app, sub, t) => {
        const { handle } = sub;
        sub.handle = function wrapped(req, res, next) {
            t.log("handling", req.url, this === sub);
            return handle.call(this, req, res, next);
        };
        sub.get("/x", ending("sub"));
        app.use("/sub", sub);
    }),
    mounted("app.handle replaced on the outer app", (app, sub, t) => {
        const { handle } = app;
        app.handle = function wrapped(req, res, next) {
            t.log("handling", req.url, next === undefined);
            return handle.call(this, req, res, next);
        };
        app.get("/sub/x", ending("app"));
    }),
    mounted("an object with handle and set is taken for an app", (app, sub, t) => {
        const like = { handle: (req, res) => res.end("like an app"), set() {}, emit: (name) => t.log("emit", name) };
        attemptUse(t, () => app.use("/sub", like));
    }),
    mounted("a plain http listener mounted", (app) => app.use("/sub", (req, res) => res.end(`plain ${req.url} ${req.baseUrl}`))),
    mounted("routers and apps by turns", (app, sub, t, express) => {
        const router = express.Router();
        router.use("/c", sub);
        sub.get("/d", ending("sub in a router"));
        app.use("/sub", router);
    }, ["/sub/c/d", "/sub/c", "/sub"]),
    mounted("a router mounted under many paths", (app, sub, t, express) => {
        const router = express.Router();
        router.get("/x", ending("router"));
        app.use(["/sub", "/other", /^\/re(g)ex/], router);
    }, ["/sub/x", "/other/x", "/regex/x", "/none/x"]),
    {
        name: "a Router by itself as the listener",
        app(express) {
            const router = express.Router();
            router.get("/x", (req, res) => res.end("router"));
            return (req, res) => router(req, res, (error) => {
                res.statusCode = error ? 500 : 404;
                res.end(error ? error.message : "none");
            });
        },
        requests: ["/x", "/y", "POST /x"],
    },
];

function attemptUse(t, act) {
    try {
        t.log("use", typeof act());
    } catch (error) {
        t.log("use threw", error);
    }
}
