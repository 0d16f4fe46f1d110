// What a mounted app inherits: settings, prototypes, engines, locals; and what its response uses.
import { get, shown, tells, told } from "../shapes.mjs";

/** Apps nested `outer > middle > inner`, mounted at /m and /i; `prepare` gets all three, `act` handles in the innermost. */
const nested = (name, prepare, act, requests = [get("/m/i")], more = {}) => ({
    name,
    app(express, t) {
        const [outer, middle, inner] = [express(), express(), express()];
        prepare?.({ outer, middle, inner, express, t, when: "before" });
        middle.use("/i", inner);
        outer.use("/m", middle);
        prepare?.({ outer, middle, inner, express, t, when: "after" });
        inner.use((req, res, next) => act(req, res, next, t, { outer, middle, inner }));
        outer.use((req, res) => {
            res.status(404);
            act(req, res, () => res.end(), t, { outer, middle, inner });
        });
        outer.use(tells(t));
        return outer;
    },
    requests,
    ...more,
});
const VALUE = { a: "<b>", n: 1 };
const before = (act) => (apps) => apps.when === "before" && act(apps);
const after = (act) => (apps) => apps.when === "after" && act(apps);
const json = (req, res) => res.json(VALUE);

export default [
    ...[["before mounting", before], ["after mounting", after]].flatMap(([when, at]) => [
        nested(`json settings of the outermost, ${when}`, at(({ outer }) => outer.set("json spaces", 2).set("json escape", true)), json),
        nested(`json settings of the middle, ${when}`, at(({ middle }) => middle.set("json spaces", 2)), json, [get("/m/i"), get("/other")]),
        nested(`json settings of the innermost, ${when}`, at(({ inner }) => inner.set("json spaces", 2)), json, [get("/m/i"), get("/other")]),
        nested(`an innermost setting against an outer, ${when}`, at(({ outer, inner }) => {
            outer.set("json spaces", 4).set("json escape", true);
            inner.set("json spaces", 0);
        }), json, [get("/m/i"), get("/other")]),
        nested(`etag off in the outermost, ${when}`, at(({ outer }) => outer.set("etag", false)), json, [get("/m/i"), get("/other")]),
        nested(`etag off in the innermost, ${when}`, at(({ inner }) => inner.set("etag", false)), json, [get("/m/i"), get("/other")]),
        nested(`etag strong in the middle, ${when}`, at(({ middle }) => middle.set("etag", "strong")), json, [get("/m/i"), get("/other")]),
        nested(`x-powered-by off in the outermost, ${when}`, at(({ outer }) => outer.disable("x-powered-by")), json, [get("/m/i"), get("/other")]),
        nested(`x-powered-by off in the innermost, ${when}`, at(({ inner }) => inner.disable("x-powered-by")), json),
        nested(`query parser of the outermost, ${when}`, at(({ outer }) => outer.set("query parser", "extended")), (req, res) => res.json(req.query), [get("/m/i?a[b]=1"), get("/other?a[b]=1")]),
        nested(`query parser of the innermost, ${when}`, at(({ inner }) => inner.set("query parser", (text) => ({ text }))), (req, res) => res.json(req.query), [get("/m/i?a[b]=1"), get("/other?a[b]=1")]),
        nested(`trust proxy of the outermost, ${when}`, at(({ outer }) => outer.set("trust proxy", true)), (req, res) => res.json([req.ip, req.hostname, req.protocol]), [get("/m/i", { "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Host": "h", "X-Forwarded-Proto": "https" })]),
        nested(`trust proxy of the innermost, ${when}`, at(({ outer, inner }) => {
            outer.set("trust proxy", true);
            inner.set("trust proxy", false);
        }), (req, res) => res.json([req.ip, req.hostname, req.protocol]), [get("/m/i", { "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Host": "h", "X-Forwarded-Proto": "https" })]),
        nested(`jsonp's callback name of the outermost, ${when}`, at(({ outer }) => outer.set("jsonp callback name", "cb")), (req, res) => res.jsonp(1), [get("/m/i?cb=x&callback=y"), get("/other?cb=x&callback=y")]),
        nested(`a method on the outermost response, ${when}`, at(({ outer }) => {
            outer.response.own = function () {
                return this.send("outermost");
            };
        }), (req, res) => (res.own === undefined ? res.end("none") : res.own()), [get("/m/i"), get("/other")]),
        nested(`a method on the middle response, ${when}`, at(({ middle }) => {
            middle.response.own = function () {
                return this.send("middle");
            };
        }), (req, res) => (res.own === undefined ? res.end("none") : res.own()), [get("/m/i"), get("/other")]),
        nested(`json replaced in the innermost response, ${when}`, at(({ inner }) => {
            const { json: own } = inner.response;
            inner.response.json = function (value) {
                return own.call(this, { wrapped: value });
            };
        }), json, [get("/m/i"), get("/other")]),
        nested(`send replaced in the outermost response, ${when}`, at(({ outer }) => {
            const { send } = outer.response;
            outer.response.send = function (body) {
                return send.call(this, `[${body}]`);
            };
        }), json, [get("/m/i"), get("/other")]),
        nested(`a getter on the outermost request, ${when}`, at(({ outer }) => Object.defineProperty(outer.request, "own", { configurable: true, get() {
            return `own of ${this.url}`;
        } })), (req, res) => res.end(String(req.own)), [get("/m/i?x"), get("/other")]),
    ]),
    nested("res.app and req.app", undefined, (req, res, next, t, { outer, middle, inner }) => {
        const which = (app) => (app === outer ? "outer" : app === middle ? "middle" : app === inner ? "inner" : "another");
        t.log(`${which(req.app)} ${which(res.app)} ${req.app.mountpath} ${req.app.path()} ${req.baseUrl} ${req.url} ${req.originalUrl} ${which(req.app.parent)}`);
        res.end();
    }, [get("/m/i"), get("/m/i/x?y"), get("/other")]),
    nested("prototypes of the messages in each app", ({ outer, middle, when, t }) => {
        const log = (name, app) => app.use((req, res, next) => {
            t.log(`${name} ${Object.getPrototypeOf(req) === app.request} ${Object.getPrototypeOf(res) === app.response}`);
            next();
        });
        if (when === "before") {
            log("outer", outer);
            log("middle", middle);
        } else {
            middle.use((req, res, next) => {
                t.log(`middle again ${Object.getPrototypeOf(req) === middle.request} ${req.app === middle}`);
                next();
            });
            outer.use((req, res, next) => {
                t.log(`outer again ${Object.getPrototypeOf(req) === outer.request} ${req.app === outer}`);
                next();
            });
        }
    }, (req, res, next, t, { inner }) => {
        t.log(`inner ${Object.getPrototypeOf(req) === inner.request} ${Object.getPrototypeOf(res) === inner.response}`);
        next();
    }),
    nested("an error in the innermost restores the outer prototypes", ({ outer, when, t }) => when === "after" && outer.use((error, req, res, next) => {
        t.log(`${error.message} ${req.app === outer} ${Object.getPrototypeOf(res) === outer.response}`);
        next(error);
    }), (req, res, next) => (req.path === "/" ? next(new Error("inner")) : res.end())),
    nested("res.send after the innermost called next", ({ outer, when }) => when === "after" && outer.set("json spaces", 3), (req, res, next, t, { inner }) => {
        if (req.app === inner) next();
        else res.json(VALUE);
    }),
    nested("an asynchronous answer of the outer app when the inner has the request", ({ outer, when, t }) => {
        if (when !== "before") return;
        outer.set("json spaces", 1);
        outer.use((req, res, next) => {
            const { json: own } = res;
            res.json = function (value) {
                t.log(String(res.app === outer));
                return own.call(this, value);
            };
            next();
        });
    }, json),
    nested("locals are each app's own", ({ outer, middle, inner, when }) => {
        if (when !== "before") return;
        outer.locals.a = "outer";
        middle.locals.b = "middle";
        inner.locals.c = "inner";
    }, (req, res) => {
        res.locals.d = "res";
        res.json([Object.keys(req.app.locals).filter((name) => name !== "settings"), res.locals]);
    }),
    nested("settings seen from within", ({ outer, when }) => when === "after" && outer.set("own", "outer").enable("flag"), (req, res, next, t) => {
        const { app } = req;
        t.log(`${app.get("own")} ${app.enabled("flag")} ${app.disabled("flag")} ${Object.hasOwn(app.settings, "own")} ${"own" in app.settings} ${app.get("env")} ${app.get("subdomain offset")}`);
        t.log(Object.keys(app.settings).sort().join());
        res.end();
    }),
    nested("a setting put to undefined within", ({ outer, inner, when }) => {
        if (when !== "after") return;
        outer.set("json spaces", 2);
        inner.set("json spaces", undefined);
    }, json),
    nested("a setting deleted within", ({ outer, inner, when }) => {
        if (when !== "after") return;
        outer.set("etag", "strong");
        delete inner.settings["etag fn"];
        delete inner.settings.etag;
    }, json),
    nested("'mount' events", ({ outer, middle, inner, when, t }) => {
        if (when !== "before") return;
        inner.on("mount", (parent) => t.log(`inner on ${parent === middle}`));
        middle.on("mount", (parent) => t.log(`middle on ${parent === outer}`));
    }, json),
    nested("render in the innermost with the outermost's engine", ({ outer, when, t }) => when === "before" && outer.engine("tmpl", (path, options, done) => done(null, `${path.replace(t.dir, "")} ${options.x}`)).set("view engine", "tmpl").set("views", `${t.dir}/views`), (req, res, next, t, { inner }) => {
        inner.set("views", `${t.dir}/views`);
        try {
            res.render("plain", { x: 1 });
        } catch (error) {
            t.log(told(error));
            res.end();
        }
    }),
    // From the next request on: one that is under way in a mounted app may keep the prototypes it came with.
    ...["inner", "middle", "outer"].flatMap((which) => [
        nested(`a method put on the ${which} response between requests`, undefined, (req, res, next, t, apps) => {
            if (req.path === "/add") apps[which].response.own = () => which;
            if (req.path === "/remove") delete apps[which].response.own;
            res.end(["/add", "/remove"].includes(req.path) ? "changed" : `${res.own?.()} ${typeof req.app.response.own}`);
        }, ["/m/i", "/m/i/add", "/m/i", "/other", "/m/i/remove", "/m/i"].map((path) => get(path, { Connection: "keep-alive" }, { connection: "a" }))),
        nested(`json replaced in the ${which} response between requests`, undefined, (req, res, next, t, apps) => {
            if (req.path === "/add") {
                const { json: own } = apps[which].response;
                apps[which].response.json = function (value) {
                    return own.call(this, { wrapped: value });
                };
                res.end("changed");
            } else res.json(VALUE);
        }, ["/m/i", "/m/i/add", "/m/i", "/other"].map((path) => get(path))),
        nested(`a getter put on the ${which} request between requests`, undefined, (req, res, next, t, apps) => {
            if (req.path === "/add") Object.defineProperty(apps[which].request, "own", { configurable: true, get: () => which });
            res.end(req.path === "/add" ? "changed" : String(req.own));
        }, ["/m/i", "/m/i/add", "/m/i", "/other"].map((path) => get(path))),
        nested(`the ${which} response replaced between requests`, undefined, (req, res, next, t, apps) => {
            if (req.path === "/add") apps[which].response = Object.create(apps[which].response, { own: { value: () => which } });
            res.end(req.path === "/add" ? "changed" : String(res.own?.()));
        }, ["/m/i", "/m/i/add", "/m/i", "/other"].map((path) => get(path))),
        nested(`a setting of the ${which} app between requests`, undefined, (req, res, next, t, apps) => {
            if (req.path === "/add") apps[which].set("json spaces", 1).set("etag", false).disable("x-powered-by");
            res.json(VALUE);
        }, ["/m/i", "/m/i/add", "/m/i", "/other"].map((path) => get(path))),
    ]),
    {
        name: "one app mounted twice",
        app(express, t) {
            const [outer, other, inner] = [express(), express(), express()];
            inner.use((req, res) => res.json([req.baseUrl, shown(req.app.mountpath), inner.path(), res.app.get("json spaces")]));
            outer.set("json spaces", 1);
            other.set("json spaces", 2);
            outer.use("/a", inner);
            other.use("/b", inner);
            outer.use("/o", other);
            t.log(`${inner.mountpath} ${inner.path()} ${inner.parent === other}`);
            return outer;
        },
        requests: [get("/a"), get("/o/b")],
    },
    {
        name: "an app in a router",
        app(express, t) {
            const [outer, inner] = [express(), express()];
            const router = express.Router();
            inner.use((req, res) => {
                t.log(`${shown(inner.parent)} ${inner.mountpath} ${inner.path()} ${req.app === inner}`);
                res.json(VALUE);
            });
            outer.set("json spaces", 2);
            router.use("/r", inner);
            outer.use(router);
            outer.use((req, res) => {
                t.log(String(req.app === outer));
                res.end();
            });
            return outer;
        },
        requests: [get("/r"), get("/x")],
    },
    {
        name: "an app as the handler of a route",
        app(express, t) {
            const [outer, inner] = [express(), express()];
            inner.set("json spaces", 2);
            inner.get("/x", (req, res) => res.json([req.app === inner, req.url]));
            outer.get("/x", inner);
            outer.use((req, res) => {
                t.log(`${req.app === outer} ${Object.getPrototypeOf(res) === outer.response}`);
                res.json(VALUE);
            });
            return outer;
        },
        requests: [get("/x"), get("/y")],
    },
    {
        name: "an app called by hand in a middleware, which then goes on",
        app(express, t) {
            const [outer, inner] = [express(), express()];
            inner.set("json spaces", 2);
            outer.use((req, res, next) => inner(req, res, next));
            outer.use((req, res) => {
                t.log(`${req.app === outer} ${req.app === inner}`);
                res.json(VALUE);
            });
            return outer;
        },
    },
    {
        name: "an app mounted while requests come",
        app(express) {
            const outer = express();
            outer.use("/add", (req, res) => {
                const inner = express();
                inner.set("json spaces", 2);
                inner.use((innerReq, innerRes) => innerRes.json(VALUE));
                outer.use("/new", inner);
                res.end("added");
            });
            return outer;
        },
        requests: [get("/new"), get("/add"), get("/new")],
    },
    {
        name: "an app's response prototype is changed while requests come",
        app(express) {
            const app = express();
            app.get("/change", (req, res) => {
                app.response.json = function (value) {
                    return this.send(`changed ${JSON.stringify(value)}`);
                };
                res.end();
            });
            app.get("/replace", (req, res) => {
                app.response = Object.create(app.response, { own: { value: "yes" } });
                res.end();
            });
            app.use((req, res) => res.set("X-Own", String(res.own)).json(VALUE));
            return app;
        },
        requests: [get("/"), get("/change"), get("/"), get("/replace"), get("/")].map((one) => ({ ...one, headers: { Connection: "keep-alive" }, connection: "a" })),
    },
    {
        name: "express.response is changed, for all apps",
        app(express) {
            const app = express();
            app.get("/add", (req, res) => {
                express.response.shared = () => "shared";
                express.request.shared = () => "asked";
                res.end();
            });
            app.get("/remove", (req, res) => {
                delete express.response.shared;
                delete express.request.shared;
                res.end();
            });
            app.use((req, res) => res.end(`${res.shared?.()} ${req.shared?.()}`));
            return app;
        },
        requests: [get("/"), get("/add"), get("/"), get("/remove"), get("/")],
    },
];
