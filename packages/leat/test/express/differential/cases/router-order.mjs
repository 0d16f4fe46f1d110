// Which layers see a request, in which order, and how they hand it on.
import { attempt, built, ending, logged, passing, telling } from "../built.mjs";

/** Express 5 and 4 write "everything" in two ways. */
const everything = (t) => (t.version === 5 ? "/{*rest}" : "*");

export default [
    built("layers run in the order they were given", (app, t) => {
        app.use(passing(t, "one"));
        app.get("/a", passing(t, "two"));
        app.use("/a", passing(t, "three"));
        app.all("/a", passing(t, "four"));
        app.get(/^\/a$/, passing(t, "five"));
        app.get("/:any", passing(t, "six"));
        app.get(everything(t), passing(t, "seven"));
        app.use(ending("end"));
    }, ["/a", "/b", "POST /a", "/a/b", "/"]),
    built("static, parameter and wildcard routes by turns", (app, t) => {
        app.get("/:x", passing(t, "param first"));
        app.get("/a", passing(t, "static"));
        app.get("/:y", passing(t, "param second"));
        app.get("/a", ending("static again"));
    }, ["/a", "/b"]),
    built("many static routes around one parameter", (app, t) => {
        for (let at = 0; at < 30; at += 1) app.get(`/s${at}/x`, ending(`static ${at}`));
        app.get("/:x/x", passing(t, "param"));
        for (let at = 0; at < 30; at += 1) app.get(`/s${at}/x`, ending(`shadowed ${at}`));
        for (let at = 30; at < 40; at += 1) app.get(`/s${at}/x`, ending(`late ${at}`));
    }, ["/s0/x", "/s29/x", "/s30/x", "/s39/x", "/s40/x", "/S3/x", "/s3/x/", "/s3"]),
    built("routes added while serving", (app, t) => {
        app.get("/add", (req, res) => {
            app.get("/added", ending("added"));
            res.end("added it");
        });
        app.get("/first", ending("first"));
        t.log("built");
    }, ["/added", "/add", "/added", "/first"]),
    built("a layer added while the same request is under way", (app, t) => {
        app.get("/", (req, res, next) => {
            app.use((later, answer) => answer.end("the layer that was added"));
            next();
        });
        app.use(passing(t, "behind"));
    }, ["/", "/"]),
    built("layers taken out of the stack while serving", (app, t) => {
        const stack = () => (t.version === 5 ? app.router : app._router).stack;
        app.get("/a", function first(req, res) {
            stack().splice(stack().findIndex((layer) => layer.route?.path === "/a"), 1);
            res.end("first");
        });
        app.get("/a", (req, res) => res.end("second"));
    }, ["/a", "/a", "/a"]),
    built("layers put to the front of the stack", (app, t) => {
        const stack = () => (t.version === 5 ? app.router : app._router).stack;
        app.get("/a", (req, res) => res.end("first"));
        app.get("/a", (req, res) => res.end("second"));
        stack().unshift(stack().pop());
    }, ["/a"]),
    built("the whole stack replaced", (app, t) => {
        const router = () => (t.version === 5 ? app.router : app._router);
        app.get("/a", (req, res) => res.end("a"));
        app.get("/b", (req, res) => res.end("b"));
        router().stack = router().stack.filter((layer) => layer.route?.path !== "/a");
    }, ["/a", "/b"]),
    built("the length of the stack cut", (app, t) => {
        const router = () => (t.version === 5 ? app.router : app._router);
        app.get("/a", (req, res) => res.end("a"));
        app.get("/b", (req, res) => res.end("b"));
        router().stack.length -= 1;
    }, ["/a", "/b"]),
    built("a handler added to a route later", (app, t) => {
        const route = app.route("/a").get(passing(t, "first"));
        app.get("/add", (req, res) => {
            route.get(ending("added"));
            route.post(ending("posted"));
            res.end();
        });
    }, ["/a", "POST /a", "/add", "/a", "POST /a", "OPTIONS /a"]),
    built("a layer's handle replaced", (app, t) => {
        app.get("/a", (req, res) => res.end("a"));
        const { stack } = t.version === 5 ? app.router : app._router;
        const layer = stack.at(-1).route.stack[0];
        const { handle } = layer;
        layer.handle = function wrapped(req, res, next) {
            t.log("wrapped", handle.length);
            return handle.call(this, req, res, next);
        };
    }, ["/a"]),
    built("next('route') leaves the route", (app, t) => {
        app.get("/a", passing(t, "one", "route"), passing(t, "never"));
        app.get("/a", ending("second route"));
    }, ["/a"]),
    built("next('route') in app.use goes to the next layer", (app, t) => {
        app.use(passing(t, "one", "route"));
        app.use(ending("two"));
    }, ["/a"]),
    built("next('route') among several handlers of use", (app, t) => {
        app.use(passing(t, "one", "route"), passing(t, "two"));
        app.use(ending("three"));
    }, ["/a"]),
    built("next('router') leaves the router", (app, t, express) => {
        const router = express.Router();
        router.use(passing(t, "in router", "router"));
        router.get("/x", passing(t, "never"));
        app.use("/r", router);
        app.use(ending("behind"));
        app.use(telling(t));
    }, ["/r/x"]),
    built("next('router') from a route", (app, t, express) => {
        const router = express.Router();
        router.get("/x", passing(t, "in route", "router"), passing(t, "never"));
        router.use(passing(t, "never either"));
        app.use("/r", router);
        app.use(ending("behind"));
    }, ["/r/x", "/r/y"]),
    built("next('router') in the app itself ends in 404", (app, t) => {
        app.use(passing(t, "one", "router"));
        app.use(passing(t, "never"));
    }, ["/a"]),
    ...[["null", null], ["undefined", undefined], ["false", false], ["nought", 0], ["an empty text", ""], ["a text", "oops"], ["a number", 42], ["an object", { status: 418, message: "teapot" }], ["true", true], ["an array", ["route"]]].map(([what, value]) => built(`next of ${what}`, (app, t) => {
        app.get("/", (req, res, next) => next(value), passing(t, "second"));
        app.use(passing(t, "behind"));
        app.use((error, req, res, _next) => {
            t.log("error", error);
            res.end(`error ${typeof error}`);
        });
    }, ["/"])),
    built("next called twice", (app, t) => {
        app.get("/", (req, res, next) => {
            next();
            next();
        });
        app.get("/", (req, res) => {
            t.log("reached", res.headersSent);
            if (!res.headersSent) res.end("once");
        });
        app.use(passing(t, "fell through"));
        app.use((error, _req, _res, _next) => t.log("error", error));
    }),
    built("next after the reply", (app, t) => {
        app.get("/", (req, res, next) => {
            res.end("done");
            next();
        });
        app.use((req, res) => t.log("behind", res.headersSent, res.writableEnded));
    }),
    built("next later", (app, t) => {
        app.use((req, res, next) => setImmediate(next));
        app.use((req, res, next) => process.nextTick(next));
        app.use((req, res, next) => void Promise.resolve().then(() => next()));
        app.use(passing(t, "here"));
        app.use(ending("end"));
    }, ["/a?b"]),
    built("nothing but layers that go on, two thousand of them", (app, t) => {
        let seen = 0;
        for (let at = 0; at < 2000; at += 1) {
            app.use((req, res, next) => {
                seen += 1;
                next();
            });
        }
        app.use((req, res) => res.end(String(seen)));
        t.log("built");
    }),
    built("two thousand handlers in one route", (app) => {
        app.get("/", Array.from({ length: 2000 }, () => (req, res, next) => next()), ending("end"));
    }),
    built("two thousand routes that don't match", (app) => {
        for (let at = 0; at < 2000; at += 1) app.get(`/${at}/:id`, ending(String(at)));
        app.get("/end", ending("end"));
    }, ["/end", "/1999/x", "/0/x", "/2000/x"]),
    built("handlers in nested lists", (app, t) => {
        app.use([passing(t, "a"), [passing(t, "b"), [passing(t, "c")]]], passing(t, "d"));
        app.get("/", [passing(t, "e"), [passing(t, "f")]], [[ending("g")]]);
    }),
    built("a list of paths", (app) => {
        app.get(["/a", "/b/:id", /^\/c(\d)$/], ending("listed"));
        app.use(["/d", ["/e"]], ending("used"));
    }, ["/a", "/b/1", "/c2", "/d/x", "/e/x", "/f"]),
    built("a list of paths of which several match", (app, t) => {
        app.get(["/:x", "/a", "/:y"], passing(t, "seen"), ending("listed"));
    }, ["/a"]),
    built("an empty list of paths", (app, t) => {
        attempt(t, "use", () => app.use([], ending("used")) === app);
    }, ["/a"]),
    built("use without a path, with and without a slash", (app, t) => {
        app.use(passing(t, "none"));
        app.use("", passing(t, "empty"));
        app.use("/", passing(t, "slash"));
        app.use(ending("end"));
    }, ["/", "/a/b", "*"].map((path) => (path === "*" ? { method: "OPTIONS", path } : path))),
    built("get of an empty path", (app) => app.get("", ending("empty")), ["/", "/a"]),
    built("the same router twice", (app, t, express) => {
        const router = express.Router();
        router.use(passing(t, "router"));
        app.use("/a", router);
        app.use(router);
        app.use(ending("end"));
    }, ["/a/b"]),
    built("a router in itself", (app, t, express) => {
        const router = express.Router();
        router.get("/end", ending("end"));
        router.use("/in", router);
        app.use(router);
    }, ["/end", "/in/end", "/in/in/in/end", "/in/in"]),
    logged("what use refuses", (app, t, express) => {
        const wrong = { none: [], path: ["/a"], null: [null], undefined: ["/a", undefined], text: ["/a", "/b"], number: [1], object: [{}], list: [[]], mixed: [() => {}, 5], regexp: [/a/] };
        for (const [what, args] of Object.entries(wrong)) {
            attempt(t, `app.use of ${what}`, () => typeof app.use(...args));
            attempt(t, `router.use of ${what}`, () => typeof express.Router().use(...args));
        }
    }),
    logged("what get, all and route refuse", (app, t, express) => {
        const wrong = { path: ["/a"], null: ["/a", null], undefined: ["/a", undefined], text: ["/a", "/b"], number: ["/a", 1], object: ["/a", {}], list: ["/a", []], mixed: ["/a", () => {}, 5] };
        for (const [what, args] of Object.entries(wrong)) {
            attempt(t, `app.post of ${what}`, () => typeof app.post(...args));
            attempt(t, `app.all of ${what}`, () => typeof app.all(...args));
            attempt(t, `router.get of ${what}`, () => typeof express.Router().get(...args));
            attempt(t, `router.all of ${what}`, () => typeof express.Router().all(...args));
            attempt(t, `route.get of ${what}`, () => typeof app.route("/x").get(...args.slice(1)));
            attempt(t, `route.all of ${what}`, () => typeof app.route("/x").all(...args.slice(1)));
        }
    }),
    logged("what use and get return", (app, t, express) => {
        const router = express.Router();
        const handler = () => {};
        t.log(app.use(handler) === app, app.get("/a", handler) === app, app.all("/a", handler) === app, app.param("a", handler) === app);
        t.log(router.use(handler) === router, router.get("/a", handler) === router, router.all("/a", handler) === router, router.param("a", handler));
        const route = app.route("/b");
        t.log(route.constructor === express.Route, route.get(handler) === route, route.all(handler) === route, route.path, route.stack.length, Object.keys(route), JSON.stringify(route.methods));
    }),
    logged("the shape of a stack", (app, t, express) => {
        const router = express.Router({ mergeParams: true, strict: true, caseSensitive: true });
        router.use("/used", function used() {});
        router.get("/got/:id", function got() {}, function gotAgain() {});
        router.all("/all", function all() {});
        router.route("/two").get(function one() {}).post(function two() {});
        router.use((error, req, res, next) => next);
        t.log(Object.keys(router).sort().join(", "), typeof router, router.mergeParams, router.strict, router.caseSensitive);
        for (const layer of router.stack) {
            t.log(layer.constructor.name, layer.name, JSON.stringify(layer.keys?.map?.(({ name }) => name)), layer.path, JSON.stringify(layer.params), typeof layer.handle, layer.handle.length, layer.route?.path, JSON.stringify(layer.route?.methods), layer.route?.stack.map((each) => `${each.name} ${each.method}`).join(", "));
        }
    }),
    logged("names on a router", (app, t, express) => {
        const router = express.Router();
        t.log(router.name, router.length, typeof router.handle, typeof router.process_params, typeof router._process_params, Object.getPrototypeOf(router) === express.Router, Object.getPrototypeOf(router) === express.Router.prototype);
        const methods = [];
        for (const name in router) if (typeof router[name] === "function") methods.push(name);
        t.log(methods.sort().join(", "));
        t.log(router instanceof express.Router, Object.keys(express.Router).sort().join(", ").slice(0, 300));
        attempt(t, "new", () => new express.Router().stack);
    }),
    logged("handle of a router called without a request", (app, t, express) => {
        const router = express.Router();
        attempt(t, "no callback", () => router.handle({ method: "GET", url: "/" }, {}));
        attempt(t, "with a callback", () => router.handle({ method: "GET", url: "/" }, {}, (error) => t.log("out", error)));
        attempt(t, "without an url", () => router.handle({ method: "GET", url: "" }, {}, (error) => t.log("out", error)));
        attempt(t, "as a function", () => router({ method: "GET", url: "/" }, {}, (error) => t.log("out", error)));
    }, { throws: true }),
    built("this in handlers", (app, t) => {
        app.use(function mine(req, res, next) {
            t.log(this === undefined, this === app, typeof this);
            next();
        });
        app.get("/", function mine(req, res, next) {
            t.log(this === undefined, this === app, typeof this);
            next();
        });
        app.use(function mine(error, req, res, _next) {
            t.log(this === undefined, typeof this);
            res.end();
        });
    }),
    built("how many arguments a handler names", (app, t) => {
        app.use(function none(...args) {
            t.log("none", args.length);
            args[2]();
        });
        app.use((req, res, next, extra) => t.log("four are for errors", extra));
        app.use((a, b, c, d, e) => t.log("five never", e));
        app.get("/", (req, res, next, more) => t.log("four in a route", more), (req, res) => res.end("two"));
    }),
    built("defaults and rest don't count as arguments", (app, t) => {
        app.use((req, res, next, ...rest) => {
            t.log("rest", rest.length);
            next();
        });
        app.use((req, res, next, more = "default") => {
            t.log(more);
            next();
        });
        app.use((first, second, third, ...rest) => {
            t.log("no error handler", typeof third, rest.length);
            third();
        });
        app.use((req, res) => res.end("end"));
    }),
];
