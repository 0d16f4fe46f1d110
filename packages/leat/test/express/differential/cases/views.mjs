// res.render, app.render, app.engine and the settings of views.
import { readFileSync } from "node:fs";
import { answers, get, shown, tells, told } from "../shapes.mjs";

/** An engine that puts `name` in, and logs that it was called. */
const engine = (t) => (path, options, done) => {
    t.log(`engine ${path.replace(t.dir, "")}`);
    done(null, readFileSync(path, "utf8").replace("{name}", String(options.name)));
};

/** An app with views, the engine above for .tmpl and .txt, and a handler under every path. */
const views = (name, act, { settings = {}, requests = [get()], engines, env, only, throws, setup } = {}) => ({
    name,
    app(express, t) {
        const app = express();
        app.set("views", `${t.dir}/views`);
        if (engines === undefined) app.engine("tmpl", engine(t)).engine(".txt", engine(t));
        else engines(app, t);
        for (const [setting, value] of Object.entries(typeof settings === "function" ? settings(t) : settings)) app.set(setting, value);
        setup?.(app, t, express);
        app.use((req, res, next) => act(res, req, t, next, app));
        app.use(tells(t));
        return app;
    },
    requests,
    ...(env === undefined ? {} : { env }),
    ...(only === undefined ? {} : { only }),
    ...(throws === undefined ? {} : { throws }),
});
const render = (name, args, more) => views(`render ${name}`, (res) => res.render(...args), more);
/** Express 5 calls back in a later tick, where nobody catches. */
const THROWN = (version) => [version === 5 ? get("/", {}, { abortAfter: Infinity, wait: "uncaught" }) : get()];
const withEjs = (app, t) => app.engine("ejs", t.require("ejs").__express).engine("html", t.require("ejs").renderFile);
const constructed = (name, act) => views(name, (res, req, t, next, app) => {
    try {
        t.log(shown(act(app, t) === app));
    } catch (error) {
        t.log(told(error));
    }
    res.end();
});

export default [
    render("by a name with extension", ["plain.tmpl", { name: "ann" }]),
    render("by the view engine", ["plain", { name: "ann" }], { settings: { "view engine": "tmpl" } }),
    render("by a view engine with a dot", ["plain", { name: "ann" }], { settings: { "view engine": ".tmpl" } }),
    render("an extension before the view engine's", ["bare.txt", { name: "ann" }], { settings: { "view engine": "tmpl" } }),
    render("a folder's index", ["folder", { name: "ann" }], { settings: { "view engine": "tmpl" } }),
    render("in a folder", ["section/other", { name: "ann" }], { settings: { "view engine": "tmpl" } }),
    render("a name with two dots", ["a.b.tmpl", { name: "ann" }]),
    render("a name with a dot and no extension", ["a.b", { name: "ann" }], { settings: { "view engine": "tmpl" } }),
    render("out of the folder", ["../views2/only.tmpl", { name: "ann" }]),
    views("render an absolute path", (res, req, t) => res.render(`${t.dir}/views2/only.tmpl`, { name: "ann" })),
    render("without options", ["plain.tmpl"]),
    render("with null options", ["plain.tmpl", null]),
    render("a missing view", ["nowhere.tmpl"]),
    render("a missing view by the view engine", ["nowhere"], { settings: { "view engine": "tmpl" } }),
    render("a name without extension and engine", ["plain"]),
    render("an engine that is not installed", ["lonely.nosuchengine"]),
    render("a module that is no engine", ["x.path"]),
    render("a module that has __express", ["hello.ejs", { name: "ann" }], { only: 5 }),
    render("of nothing", []),
    render("of undefined", [undefined]),
    render("of null", [null]),
    render("of a number", [5]),
    render("of an empty name", [""], { settings: { "view engine": "tmpl" } }),
    render("of an object", [{}]),
    render("with two folders", ["both", { name: "ann" }], { settings: (t) => ({ "view engine": "tmpl", views: [`${t.dir}/views2`, `${t.dir}/views`] }) }),
    render("in the second of two folders", ["plain", { name: "ann" }], { settings: (t) => ({ "view engine": "tmpl", views: [`${t.dir}/views2`, `${t.dir}/views`] }) }),
    render("in neither of two folders", ["nowhere"], { settings: (t) => ({ "view engine": "tmpl", views: [`${t.dir}/views2`, `${t.dir}/views`] }) }),
    render("in neither of three folders", ["nowhere"], { settings: { "view engine": "tmpl", views: ["/a", "/b", "/c"] } }),
    render("in a list of one folder", ["nowhere"], { settings: { "view engine": "tmpl", views: ["/a"] } }),
    render("in an empty list of folders", ["nowhere"], { settings: { "view engine": "tmpl", views: [] } }),
    render("with views undefined", ["nowhere.tmpl"], { settings: { views: undefined } }),

    views("render with a callback", (res, req, t) => res.render("plain.tmpl", { name: "ann" }, (error, text) => {
        t.log(`${shown(error)} ${text}`);
        res.send(`mine: ${text}`);
    })),
    views("render(name, callback)", (res, req, t) => res.render("plain.tmpl", (error, text) => {
        t.log(`${shown(error)} ${text}`);
        res.end();
    })),
    views("render of a missing view with a callback", (res, req, t) => res.render("nowhere.tmpl", (error, text) => {
        t.log(`${told(error)} ${shown(text)} ${error.view.name} ${error.view.ext} ${shown(error.view.path)} ${Object.keys(error.view)}`.replaceAll(t.dir, ""));
        res.end();
    })),
    views("render returns nothing", (res, req, t) => t.log(shown(res.render("plain.tmpl", { name: 1 })))),
    views("render under a type and status", (res) => res.status(418).type("text/plain").render("plain.tmpl", { name: "é" })),
    views("render to HEAD", (res) => res.render("plain.tmpl", { name: "é" }), { requests: [{ method: "HEAD", path: "/" }] }),
    views("render with If-None-Match", (res) => res.render("plain.tmpl", { name: "é" }), { requests: [get("/", { "If-None-Match": "*" })] }),
    views("render twice", (res, req, t) => {
        res.render("plain.tmpl", { name: "one" }, (error, text) => {
            t.log(text);
            res.render("plain.tmpl", { name: "two" });
        });
    }),
    views("render after the head was sent", (res) => {
        res.write("a");
        res.render("plain.tmpl", { name: "one" });
    }, { throws: true, requests: THROWN }),
    views("a render callback that throws", (res) => res.render("plain.tmpl", {}, () => {
        throw new Error("from the callback");
    }), { throws: true, requests: THROWN }),
    views("order: sync engine, async callback", (res, req, t) => {
        res.render("plain.tmpl", { name: 1 }, () => {
            t.log("rendered");
            res.end();
        });
        t.log("after render");
    }),

    ...[
        ["throws", () => {
            throw new Error("from the engine");
        }],
        ["gives an error", (path, options, done) => done(new Error("given"))],
        ["gives an error later", (path, options, done) => void setImmediate(done, new Error("given later"))],
        ["gives an error that is no Error", (path, options, done) => done("text")],
        ["gives text later", (path, options, done) => void setImmediate(done, null, "later")],
        ["gives a Buffer", (path, options, done) => done(null, Buffer.from("buffer"))],
        ["gives an object", (path, options, done) => done(null, { a: 1 })],
        ["gives a number", (path, options, done) => done(null, 204)],
        ["gives nothing", (path, options, done) => done()],
        ["gives null", (path, options, done) => done(null, null)],
        ["gives undefined for error", (path, options, done) => done(undefined, "fine")],
        ["returns a promise", async (path, options, done) => done(null, "by promise")],
    ].map(([name, own]) => views(`an engine that ${name}`, (res) => res.render("plain.tmpl"), { engines: (app) => app.engine("tmpl", own) })),
    views("an engine that calls back twice", (res) => res.render("plain.tmpl", {}, (error, text) => {
        if (!res.headersSent) res.end(text);
    }), { engines: (app) => app.engine("tmpl", (path, options, done) => {
        done(null, "one");
        done(null, "two");
    }) }),
    views("what an engine is given", (res, req, t, next, app) => {
        app.locals.fromApp = "a";
        app.locals.over = "app";
        res.locals.fromRes = "r";
        res.locals.over = "res";
        res.render("plain.tmpl", { own: 1, over: "own" });
    }, {
        engines: (app, t) => app.engine("tmpl", function (path, options, done) {
            const { settings, ...rest } = options;
            t.log(`${JSON.stringify(rest)} ${settings === app.settings} ${Object.getPrototypeOf(options) === Object.prototype} ${this?.constructor?.name} ${this.name} ${this.ext} ${this.defaultEngine} ${arguments.length}`);
            done(null, "x");
        }),
        settings: { "view engine": "tmpl" },
    }),
    views("the view's own fields", (res) => res.render("plain.tmpl"), {
        engines: (app, t) => app.engine("tmpl", function (path, options, done) {
            t.log(`${Object.keys(this).sort().join()} ${String(this.root).replace(t.dir, "")} ${this.path === path}`);
            done(null, "x");
        }),
    }),
    views("options are not changed by render in 5, and how in 4", (res, req, t) => {
        const options = { own: 1 };
        res.render("plain.tmpl", options, () => {
            t.log(Object.keys(options).join());
            res.end();
        });
    }),
    views("inherited options", (res, _req, _t) => res.render("plain.tmpl", Object.create({ name: "inherited" }))),
    views("option _locals given", (res) => res.render("plain.tmpl", { _locals: { name: "mine" } })),
    views("res.locals by a getter that throws", (res) => {
        Object.defineProperty(res.locals, "name", { enumerable: true, get() {
            throw new Error("from the getter");
        } });
        res.render("plain.tmpl");
    }),
    views("res.locals replaced by null", (res) => {
        res.locals = null;
        res.render("plain.tmpl", { name: 1 });
    }),

    ...[{ cache: true }, { cache: false }, { cache: 0 }, { cache: null }].map((options) => views(`option ${JSON.stringify(options)}`, (res, req, t, next, app) => res.render("plain.tmpl", { name: 1, ...options }, (error, text) => {
        t.log(`${Object.keys(app.cache).join()} ${text}`);
        res.end();
    }), { requests: [get(), get()] })),
    views("'view cache' keeps a view when its file is another", (res, req, t, next, app) => {
        if (req.path === "/2") app.set("views", `${t.dir}/views2`);
        res.render("both.tmpl", { name: req.path });
    }, { settings: { "view cache": true }, requests: [get("/1"), get("/2")] }),
    views("without 'view cache' the other file", (res, req, t, next, app) => {
        if (req.path === "/2") app.set("views", `${t.dir}/views2`);
        res.render("both.tmpl", { name: req.path });
    }, { requests: [get("/1"), get("/2")] }),
    views("'view cache' is on in production", (res, req, t, next, app) => {
        t.log(`${app.get("view cache")} ${app.enabled("view cache")} ${app.get("env")}`);
        res.render("plain.tmpl", { name: 1 }, (error, text) => {
            t.log(Object.keys(app.cache).join());
            res.send(text);
        });
    }, { env: "production" }),
    views("a missing view is not cached", (res, req, t, next, app) => res.render("nowhere.tmpl", (error) => {
        t.log(`${error.message.replaceAll(t.dir, "")} ${Object.keys(app.cache).join()}`);
        res.end();
    }), { settings: { "view cache": true }, requests: [get(), get()] }),
    views("a view put into the cache", (res, req, t, next, app) => {
        app.cache.made = { render: (options, done) => done(null, `made of ${options.name}`) };
        res.render("made", { name: 1 });
    }, { settings: { "view cache": true } }),

    views("app.render", (res, req, t, next, app) => app.render("plain.tmpl", { name: "app" }, (error, text) => res.send(text))),
    views("app.render(name, callback)", (res, req, t, next, app) => {
        app.locals.name = "by locals";
        app.render("plain.tmpl", (error, text) => res.send(text));
    }),
    views("app.render of a missing view", (res, req, t, next, app) => app.render("nowhere.tmpl", {}, (error) => res.send(error.message.replaceAll(t.dir, "")))),
    views("app.render without a callback", (res, req, t, next, app) => app.render("nowhere.tmpl", {})),
    views("app.render of an engine missing throws", (res, req, t, next, app) => app.render("lonely.nosuchengine", {}, (error) => res.send(error.message))),
    views("app.render returns nothing", (res, req, t, next, app) => t.log(shown(app.render("plain.tmpl", { name: 1 }, () => res.end())))),
    views("app.locals and settings in a view", (res, req, t, next, app) => {
        app.set("title", "Titled");
        app.locals.from = "app";
        res.locals.local = "res";
        res.render("locals.ejs");
    }, { engines: withEjs }),
    views("ejs", (res) => res.render("hello", { name: "<ann>" }), { engines: withEjs, settings: { "view engine": "ejs" } }),
    views("ejs under another extension", (res) => res.render("page", { name: "ann" }), { engines: withEjs, settings: { "view engine": "html" } }),
    views("ejs with an include", (res) => res.render("includes.ejs"), { engines: withEjs }),
    views("ejs with an error in the view", (res, req, t) => res.render("throws.ejs", (error) => {
        t.log(`${error.name} ${error.message.split("\n").at(-1)}`);
        res.end();
    }), { engines: withEjs }),
    views("ejs with a cache", (res) => res.render("hello.ejs", { name: "ann", cache: true }), { engines: withEjs, requests: [get(), get()] }),

    constructed("app.engine returns the app", (app) => app.engine("x", () => {})),
    constructed("app.engine without a function", (app) => app.engine("x")),
    constructed("app.engine with an object", (app) => app.engine("x", { __express: () => {} })),
    constructed("app.engine without an extension", (app) => app.engine(undefined, () => {})),
    constructed("app.engine with an empty extension", (app, t) => {
        const returned = app.engine("", () => {});
        t.log(Object.keys(app.engines).join());
        return returned;
    }),
    constructed("app.engines", (app, t) => {
        app.engine("x", () => {}).engine(".y", () => {});
        t.log(`${Object.keys(app.engines).sort().join()} ${Object.getPrototypeOf(app.engines)}`);
        return app;
    }),
    views("another class as 'view'", (res) => res.render("anything", { name: "x" }), {
        settings: {
            "view engine": "tmpl",
            view: class Own {
                constructor(name, options) {
                    this.name = name;
                    this.path = "/made/up";
                    this.told = `${options.defaultEngine} ${typeof options.root} ${Object.keys(options.engines).sort().join()}`;
                }
                render(options, done) {
                    done(null, `${this.name} ${this.told} ${options.name}`);
                }
            },
        },
    }),
    views("another class as 'view' that finds nothing", (res) => res.render("anything"), {
        settings: {
            view: class Own {
                constructor() {
                    this.root = "made up";
                }
            },
        },
    }),
    views("another class as 'view' whose render throws", (res) => res.render("anything"), {
        settings: {
            view: class Own {
                path = "x";
                render() {
                    throw new Error("from render");
                }
            },
        },
    }),
    views("'view' set to nothing", (res) => res.render("plain.tmpl"), { settings: { view: undefined } }),
    views("the class 'view' extended", (res) => res.render("only.tmpl", { name: "x" }), {
        setup(app, t) {
            const View = app.get("view");
            t.log(`${View.name} ${View.length} ${Object.keys(View.prototype).sort().join()}`);
            app.set("view", class extends View {
                lookup(name) {
                    t.log(`lookup ${name}`);
                    return `${t.dir}/views2/${name}`;
                }
            });
        },
    }),
    views("res.render in a mounted app uses the mounted app's views", (res, req, t, next) => next(), {
        setup(app, t, express) {
            const inner = express();
            inner.set("views", `${t.dir}/views2`);
            inner.locals.name = "inner local";
            app.locals.name = "outer local";
            inner.use((req, res) => res.render("both.tmpl"));
            app.use("/in", inner);
            app.use((req, res) => res.render("both.tmpl"));
        },
        requests: [get("/in"), get("/")],
    }),
    views("engines are inherited by a mounted app, and its own go before", (res, req, t, next) => next(), {
        setup(app, t, express) {
            const inner = express();
            inner.engine("txt", (path, options, done) => done(null, "inner engine"));
            app.use("/in", inner);
            inner.use((req, res) => {
                t.log(`${inner.get("views") === app.get("views")} ${Object.keys(inner.engines).join()} ${typeof inner.engines[".tmpl"]}`);
                inner.set("views", `${t.dir}/views`);
                res.render(req.query.v, { name: "in" });
            });
        },
        requests: [get("/in?v=plain.tmpl"), get("/in?v=bare.txt")],
    }),
    views("req.next is what gets the error of a view", (res, req, t) => {
        req.next = (error) => {
            t.log(`own next ${error.message.split(" in ")[0]}`);
            res.end("own");
        };
        res.render("nowhere.tmpl");
    }),
    views("render calls a replaced send and app.render", (res, req, t, next, app) => {
        const { send } = res;
        const { render: own } = app;
        res.send = function (body) {
            t.log(`send ${body}`);
            return send.call(this, body);
        };
        app.render = function (name, options, done) {
            t.log(`app.render ${name} ${Object.keys(options).join()} ${typeof done}`);
            return own.call(this, name, options, done);
        };
        res.render("plain.tmpl", { name: 1 });
    }),
    {
        name: "a missing view by the default error handler, in production",
        env: "production",
        app(express, t) {
            const app = express();
            app.set("views", `${t.dir}/views`).set("view engine", "tmpl").engine("tmpl", () => {});
            app.use((req, res) => res.render("nowhere"));
            return app;
        },
    },
    answers("'views' by default", (req, res, next, t) => {
        t.log(`${req.app.get("views") === `${process.cwd()}/views`} ${shown(req.app.get("view engine"))} ${req.app.get("view").name}`);
        res.end();
    }),
];
