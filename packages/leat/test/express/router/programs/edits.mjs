// Stacks that change: by more routes, by tools that edit them, before requests and within.
import { answer, caught, pass } from "./handlers.mjs";

const many = (router, count = 12) => {
    const one = router();
    for (let at = 0; at < count; at++) one.get(`/r${at}`, pass(`r${at}`));
    return one;
};

/** Runs `edit` when it is asked for, and answers requests by what is left. */
const edited = (edit) => ({ router, ...tools }) => {
    const one = many(router);
    const calls = new Map();
    return (req, res, out) => {
        if (req.url === "/edit") {
            calls.set("edit", (calls.get("edit") ?? 0) + 1);
            edit(one, { router, ...tools, time: calls.get("edit") });
            req.log(one.stack.map((layer) => layer.route?.path ?? layer.name));
            return out();
        }
        return one(req, res, out);
    };
};

const requests = ["/r0", "/r5", "/r11", "/new", "/edit", "/r0", "/r5", "/r11", "/new", "/none"];

export const edits = [
    { name: "a route is added", make: edited((one) => one.get("/new", pass("new"))), requests },
    { name: "a layer is taken out", make: edited((one) => one.stack.splice(5, 1)), requests },
    { name: "the first and the last change places", make: edited((one) => one.stack.unshift(one.stack.pop())), requests },
    { name: "the stack is reversed", make: edited((one) => one.stack.reverse()), requests },
    { name: "a layer is put in the place of another", make: edited((one, { router }) => (one.stack[5] = router().get("/new", pass("new")).stack[0])), requests },
    { name: "the stack is cut", make: edited((one) => (one.stack.length = 6)), requests },
    {
        name: "another array takes its place, and changes then",
        make: edited((one, { router, time }) => {
            if (time === 1) one.stack = one.stack.filter((layer) => layer.route.path !== "/r5");
            if (time === 2) one.stack.push(router().get("/new", pass("new")).stack[0]);
            if (time === 3) one.stack.reverse();
            if (time === 4) one.get("/new", answer("newest"));
        }),
        requests,
    },
    { name: "two routers have one stack", make: edited((one, { router, time }) => (time === 1 ? (one.other = router()) && (one.other.stack = one.stack) : one.other.get("/new", pass("new")))), requests },
    {
        name: "the handler of a layer is replaced",
        make: edited((one) => {
            for (const layer of one.stack) {
                const { handle } = layer;
                layer.handle = function wrapped(req, res, next) {
                    req.log("wrapped", layer.name);
                    return handle.call(this, req, res, next);
                };
            }
        }),
        requests,
    },
    {
        name: "a route's methods and stack are edited",
        make: edited((one) => {
            one.stack[0].route.post(pass("post"));
            one.stack[5].route.stack.unshift(one.stack[0].route.stack[0]);
            delete one.stack[11].route.methods.get;
        }),
        requests: [...requests, "POST /r0", "OPTIONS /r0", "OPTIONS /r11"],
    },
    {
        name: "layers of another router are moved in",
        make: ({ router }) => {
            const other = many(router).use("/x", pass("x"));
            const one = router().use(pass("own"));
            one.stack.push(...other.stack);
            return one;
        },
        requests: ["/r0", "/r11", "/x/y"],
    },
    {
        name: "a layer with its own match",
        make: ({ router, version }) => {
            const one = many(router);
            const layer = one.stack[3];
            layer.match = function (path) {
                if (!path.startsWith("/own")) return false;
                if (version === 5) return { params: { own: path }, path, keys: ["own"], pattern: "own" };
                this.params = { own: path };
                this.path = path;
                return true;
            };
            return one;
        },
        requests: ["/own", "/r3", "/r4"],
    },
    {
        name: "everything matches by a patched prototype",
        make: ({ router, Layer, version }) => {
            const one = many(router, 5);
            const { match } = Layer.prototype;
            return (req, res, out) => {
                Layer.prototype.match = function (path) {
                    const found = match.call(this, path);
                    if (found) return found;
                    if (version === 5) return { params: {}, path: "", keys: [], pattern: "/" };
                    this.params = {};
                    this.path = "";
                    return true;
                };
                one(req, res, (...all) => {
                    Layer.prototype.match = match;
                    out(...all);
                });
            };
        },
        requests: ["/r1", "/none"],
    },
    {
        name: "a layer that a tool made",
        make: ({ router, version }) => {
            const one = many(router);
            const made = {
                name: "made",
                keys: [],
                params: {},
                path: "",
                match: (path) => (path === "/made" ? (version === 5 ? { params: {}, path: "", keys: [], pattern: "/" } : true) : false),
                handleRequest: (req, res, next) => pass("made")(req, res, next),
                handle_request: (req, res, next) => pass("made")(req, res, next),
            };
            one.stack.splice(4, 0, made);
            return one;
        },
        requests: ["/made", "/r4"],
    },
    {
        name: "routes are added while a request is under way",
        make: ({ router }) => {
            const one = router();
            let added = 0;
            one.use((req, res, next) => {
                one.get("/a", pass(`late ${added++}`));
                next();
            });
            for (let at = 0; at < 6; at++) one.get(`/r${at}`, pass("r"));
            return one.get("/a", pass("a"));
        },
        requests: ["/a", "/r0", "/b"],
    },
    {
        name: "layers go while a request is under way",
        make: ({ router }) => {
            const one = router();
            one.use((req, res, next) => {
                if (one.stack.length > 4) one.stack.splice(1, 1);
                next();
            });
            for (let at = 0; at < 8; at++) one.get("/a", pass(`a${at}`));
            return one;
        },
        requests: ["/a", "/b"],
    },
    {
        name: "the stack is replaced while a request is under way",
        make: ({ router }) => {
            const one = router();
            one.use((req, res, next) => {
                one.stack = [...one.stack, ...router().get("/a", pass("new")).stack].slice(0, 12);
                next();
            });
            return one.get("/a", pass("a")).get("/b", pass("b")).get("/c", pass("c"));
        },
        requests: ["/a", "/b"],
    },
    {
        name: "patched handlers of the prototype",
        make: ({ router, Layer, version }) => {
            const name = version === 5 ? "handleRequest" : "handle_request";
            const failed = version === 5 ? "handleError" : "handle_error";
            const { [name]: request, [failed]: error } = Layer.prototype;
            const one = many(router)
                .get("/fail", () => {
                    throw new Error("fail");
                })
                .use(caught("errors"));
            return (req, res, out) => {
                Layer.prototype[name] = function (...all) {
                    req.log("request", this.name);
                    return request.apply(this, all);
                };
                Layer.prototype[failed] = function (...all) {
                    req.log("error", this.name);
                    return error.apply(this, all);
                };
                one(req, res, (...all) => {
                    Object.assign(Layer.prototype, { [name]: request, [failed]: error });
                    out(...all);
                });
            };
        },
        requests: ["/r1", "/fail"],
    },
    {
        name: "a setter for handle on the prototype",
        make: ({ router, Layer, log }) => {
            Object.defineProperty(Layer.prototype, "handle", {
                configurable: true,
                enumerable: true,
                get() {
                    return this.kept;
                },
                set(fn) {
                    log("set", fn.name, fn.length);
                    this.kept = fn;
                },
            });
            const one = many(router, 3);
            delete Layer.prototype.handle;
            for (const layer of one.stack) for (const each of [layer, ...layer.route.stack]) each.handle = each.kept;
            return one;
        },
        requests: ["/r1"],
    },
    {
        name: "methods of the prototype are patched",
        make: ({ Router, router, log, version }) => {
            const home = version === 5 ? Router.prototype : Router;
            const { use, route, handle } = home;
            home.use = function (...all) {
                log("use", all.length, this.stack.length);
                return use.apply(this, all);
            };
            home.route = function (...all) {
                log("route", all);
                return route.apply(this, all);
            };
            home.handle = function (req, ...all) {
                req.log("handle", this.stack.length);
                return handle.call(this, req, ...all);
            };
            const one = router().use(pass("one")).get("/a", pass("a"));
            return (req, res, out) =>
                one(req, res, (...all) => {
                    Object.assign(home, { use, route, handle });
                    out(...all);
                });
        },
        requests: ["/a"],
    },
];
