// app.set and its kin: the defaults, what each setting changes that the router and the app read, and the app's own shape.
import { attempt, built, ending, logged, shows } from "../built.mjs";

const DEFAULTS = ["env", "etag", "etag fn", "query parser", "query parser fn", "subdomain offset", "trust proxy", "trust proxy fn", "view", "views", "jsonp callback name", "x-powered-by", "view cache", "case sensitive routing", "strict routing", "json spaces", "json replacer", "json escape", "view engine", "no such setting"];

function told(value) {
    if (typeof value === "function") return "a function";
    return value;
}

const defaults = (name, env) => logged(name, (app, t) => {
    for (const setting of DEFAULTS.filter((each) => each !== "views")) t.log(setting, told(app.get(setting)), app.enabled(setting), app.disabled(setting));
    t.log(app.get("views") === app.settings.views && app.get("views").endsWith("views"));
    t.log(Object.keys(app.settings).join(", "));
}, env === undefined ? {} : { env });

export default [
    defaults("the defaults"),
    defaults("the defaults in production", "production"),
    defaults("the defaults in test", "test"),
    defaults("the defaults where NODE_ENV is empty", ""),
    logged("set returns the app, and get the value", (app, t) => {
        t.log(app.set("title", "mine") === app, app.get("title"), app.set("title"));
        t.log(app.set("gone", undefined) === app, app.get("gone"));
        t.log(app.enable("a") === app, app.disable("b") === app, app.get("a"), app.get("b"));
        t.log(app.enabled("a"), app.disabled("a"), app.enabled("b"), app.disabled("b"));
    }),
    logged("settings that are names of Object.prototype", (app, t) => {
        for (const name of ["constructor", "hasOwnProperty", "toString", "__proto__", "valueOf"]) {
            attempt(t, `get ${name}`, () => app.get(name));
            attempt(t, `enabled ${name}`, () => app.enabled(name));
            attempt(t, `set ${name}`, () => app.set(name, "mine") === app);
            attempt(t, `get ${name} then`, () => app.get(name));
        }
        t.log("polluted", {}.mine, "title" in {});
    }),
    logged("app.get without arguments", (app, t) => attempt(t, "get", () => app.get())),
    ...[
        ["etag", [true, false, "weak", "strong", "none", 1, null, undefined, {}, (body) => String(body)]],
        ["query parser", [true, false, "simple", "extended", "none", 1, null, undefined, {}, (text) => text]],
        ["trust proxy", [true, false, 0, 1, 2, "loopback", "loopback, 10.0.0.1", ["10.0.0.0/8", "linklocal"], "nonsense", "", "10.0.0.0/99", null, undefined, {}, (address) => address]],
    ].map(([setting, values]) => logged(`every value of ${setting}`, (app, t) => {
        for (const value of values) {
            attempt(t, `set ${String(value)}`, () => app.set(setting, value) === app);
            t.log(told(app.get(setting)), told(app.get(`${setting} fn`)), app.enabled(setting));
        }
    })),
    logged("what an app is", (app, t) => {
        t.log(typeof app, app.name, app.length, Object.keys(app).sort().join(", "));
        t.log(app.mountpath, app.path(), app.parent, typeof app.locals, Object.getPrototypeOf(app.locals), Object.keys(app.locals));
        t.log(app.locals.settings === app.settings, Object.keys(app.cache), Object.keys(app.engines));
        t.log(Object.getPrototypeOf(app) === Function.prototype, typeof app.on, typeof app.emit, app.listenerCount("mount"));
        t.log(app.request.app === app, app.response.app === app, Object.keys(app.request), Object.keys(app.response));
        const [of] = [Object.getOwnPropertyDescriptor(app.request, "app")];
        t.log(of.configurable, of.enumerable, of.writable);
    }),
    logged("what express is", (app, t, express) => {
        t.log(typeof express, express.name, express.length, Object.keys(express).sort().join(", "));
        t.log(express.application.constructor === Object, Object.keys(express.application).filter((name) => !/^m-search$/.test(name)).sort().join(", "));
        t.log(typeof express.Router, express.Router.name, express.Router.length, typeof express.Route, express.Route.name);
        for (const name of ["json", "query", "raw", "static", "text", "urlencoded"]) t.log(name, typeof express[name], express[name]?.length);
        t.log(express === express.default, express.version);
    }),
    logged("properties of request and response", (app, t, express) => {
        t.log(Object.keys(express.request).sort().join(", "));
        t.log(Object.keys(express.response).sort().join(", "));
        for (const name of Object.keys(express.request).sort()) {
            const { get, set, value, ...flags } = Object.getOwnPropertyDescriptor(express.request, name);
            t.log(name, typeof get, typeof set, typeof value, value?.length, JSON.stringify(flags));
        }
        for (const name of Object.keys(express.response).sort()) t.log(name, express.response[name].length);
        t.log(express.response.set === express.response.header, express.response.type === express.response.contentType, express.request.get === express.request.header);
    }),
    logged("removed middleware tells of itself", (app, t, express) => {
        for (const name of ["bodyParser", "cookieParser", "session", "logger", "favicon", "multipart", "compress", "vhost"]) attempt(t, name, () => express[name]);
    }),
    logged("removed members of an app", (app, t) => {
        for (const name of ["configure", "router", "del", "param"]) attempt(t, name, () => typeof app[name]);
        attempt(t, "app.router read", () => typeof app.router);
    }),
    logged("app.router in 5 is the router that the app uses", (app, t) => {
        app.get("/a", () => {});
        t.log(app.router === app.router, typeof app.router, app.router.stack.length, app.router.stack.map((layer) => layer.name));
        app.set("strict routing", true);
        t.log(app.router.strict, app.router.caseSensitive);
    }, { only: 5 }),
    logged("app._router in 4 is made at first use", (app, t) => {
        t.log(typeof app._router);
        app.get("/a", function named() {});
        t.log(typeof app._router, app._router.stack.map((layer) => `${layer.name} ${String(layer.regexp)}`));
    }, { only: 4 }),
    built("x-powered-by off", (app) => app.disable("x-powered-by").get("/", ending("it"))),
    built("x-powered-by off later", (app) => app.get("/", (req, res) => (app.set("x-powered-by", false), res.end("it"))), ["/", "/"]),
    built("x-powered-by of another value", (app) => app.set("x-powered-by", "me").get("/", ending("it"))),
    built("x-powered-by on a 404", () => {}),
    ...[true, false].map((on) => built(`case sensitive routing ${on}`, (app, t, express) => {
        app.set("case sensitive routing", on);
        app.get("/Foo", ending("route"));
        app.use("/Bar", ending("use"));
        const router = express.Router();
        router.get("/Baz", ending("in a router"));
        app.use(router);
    }, ["/Foo", "/foo", "/FOO/", "/Bar/x", "/bar/x", "/baz", "/Baz"])),
    ...[true, false].map((on) => built(`strict routing ${on}`, (app, t, express) => {
        app.set("strict routing", on);
        app.get("/foo", ending("route"));
        app.get("/bar/", ending("route with a slash"));
        app.use("/use", ending("use"));
        app.use("/used/", ending("use with a slash"));
        const router = express.Router();
        router.get("/baz", ending("in a router"));
        router.get("/", ending("root of the router"));
        app.use("/router", router);
    }, ["/foo", "/foo/", "/foo//", "/bar", "/bar/", "/use", "/use/", "/use/x", "/used", "/used/", "/used/x", "/router", "/router/", "/router/baz", "/router/baz/"])),
    built("strict routing set after the first route", (app) => {
        app.get("/foo", ending("route"));
        app.set("strict routing", true);
        app.get("/bar", ending("second route"));
    }, ["/foo/", "/bar/", "/bar"]),
    built("case sensitive routing set after the first route", (app) => {
        app.get("/foo", ending("route"));
        app.enable("case sensitive routing");
        app.get("/bar", ending("second route"));
    }, ["/FOO", "/BAR", "/bar"]),
    built("app.locals and res.locals", (app) => {
        app.locals.title = "mine";
        app.use((req, res, next) => {
            res.locals.user = "me";
            next();
        });
        app.get("/", (req, res) => res.json({ app: req.app.locals.title, res: res.locals, same: res.app === req.app, bare: Object.getPrototypeOf(res.locals) === null, own: Object.keys(req.app.locals) }));
    }),
    shows("env names the app's own", (req) => [req.app.get("env"), process.env.NODE_ENV], ["/"], { env: "staging" }),
    built("extending app.request and app.response", (app) => {
        app.request.greet = function greet() {
            return `hello ${this.method}`;
        };
        app.response.shout = function shout(text) {
            return this.send(text.toUpperCase());
        };
        app.get("/", (req, res) => res.shout(req.greet()));
    }, ["/", "HEAD /"]),
    built("extending express.request reaches apps that are there", (app, t, express) => {
        express.request.mine = () => "mine";
        app.get("/", (req, res) => {
            res.send(req.mine());
            delete express.request.mine;
        });
    }),
    built("replacing a method of app.response", (app) => {
        const { send } = app.response;
        app.response.send = function wrapped(body) {
            this.set("X-Wrapped", "yes");
            return send.call(this, body);
        };
        app.get("/", (req, res) => res.json({ a: 1 }));
        app.get("/status", (req, res) => res.sendStatus(201));
    }, ["/", "/status", "HEAD /"]),
    built("a getter on app.request", (app) => {
        Object.defineProperty(app.request, "shout", { configurable: true, get() {
            return this.url.toUpperCase();
        } });
        app.get("/{*rest}", (req, res) => res.send(req.shout));
    }, ["/abc"], { only: 5 }),
    built("replacing app.request whole", (app) => {
        app.request = Object.create(app.request, { extra: { value: "extra", enumerable: true } });
        app.get("/", (req, res) => res.json([req.extra, Object.getPrototypeOf(req) === app.request, req.app === app]));
    }),
    built("prototypes of messages", (app, t, express) => app.get("/", (req, res) => res.json([
        Object.getPrototypeOf(req) === app.request,
        Object.getPrototypeOf(res) === app.response,
        Object.getPrototypeOf(app.request) === express.request,
        Object.getPrototypeOf(app.response) === express.response,
        express.request.isPrototypeOf(req),
        req.res === res,
        res.req === req,
        typeof req.next,
        req.constructor.name,
        res.constructor.name,
        Object.hasOwn(req, "app"),
        "app" in res,
        Object.hasOwn(res, "locals"),
    ]))),
    built("own properties of messages", (app) => app.get("/:id", (req, res) => res.json(["params", "query", "url", "originalUrl", "baseUrl", "next", "res", "route", "body", "_parsedUrl", "app"].map((name) => `${name} ${Object.hasOwn(req, name)} ${typeof req[name]}`))), ["/a?b=c"]),
    built("instances of node's classes", async (app) => {
        const { IncomingMessage, ServerResponse } = await import("node:http");
        app.get("/", (req, res) => res.json([req instanceof IncomingMessage, res instanceof ServerResponse]));
    }),
];
