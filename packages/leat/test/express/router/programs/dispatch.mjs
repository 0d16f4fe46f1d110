// Order, `next` and its words, how the stack is left.
import { answer, caught, forward, mended, pass } from "./handlers.mjs";

export const dispatch = [
    { name: "an empty router", make: ({ router }) => router(), requests: ["/", "/a", "", "*", "OPTIONS /"] },
    { name: "middleware and a route", make: ({ router }) => router().use(pass("one")).use(pass("two")).get("/a", answer("a")).use(pass("last")), requests: ["/a", "/a/", "/A", "/b", "POST /a", "/a?x=1", "/a#b"] },
    {
        name: "the last layer goes on, and so does one before it",
        make: ({ router }) => router().get("/a", pass("a")).get("/b", pass("b")).get("/c", pass("c")),
        requests: ["/a", "/b", "/c", "/d"],
    },
    {
        name: "next('route') and next('router')",
        make: ({ router }) => {
            const inner = router().get("/x", forward("x1", "route"), pass("x2")).get("/x", pass("x3")).get("/y", forward("y", "router"), pass("y2")).get("/y", pass("y3"));
            return router().use("/in", inner).use(forward("mid", "route")).get("/in/x", pass("after")).get("/z", forward("z", "router")).get("/z", pass("never")).use(caught("errors"));
        },
        requests: ["/in/x", "/in/y", "/z", "/"],
    },
    {
        name: "next('router') in middleware of a router with others behind it",
        make: ({ router }) => router().use(router().use(forward("leave", "router"), pass("never"))).use(pass("after")).get("/", answer("done")),
        requests: ["/"],
    },
    {
        name: "errors go to handlers of four only",
        make: ({ router }) =>
            router()
                .use(caught("early"))
                .get("/a", forward("a", new Error("first")), pass("never"))
                .use(pass("no"))
                .use(caught("late"))
                .use("/a", mended("mend"))
                .get("/a", answer("a again")),
        requests: ["/a", "/b"],
    },
    {
        name: "falsy and odd errors",
        make: ({ router }) => {
            const all = router();
            for (const [at, value] of [0, "", null, undefined, false, "x", 1, "Route", {}].entries()) all.get(`/${at}`, forward(String(at), value), pass("on"));
            return all.use(caught("errors"));
        },
        requests: ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"],
    },
    {
        name: "errors within a route",
        make: ({ router }) => router().get("/a", forward("one", new Error("x")), pass("no"), caught("in"), mended("mend"), pass("on"), forward("again", new Error("y"))).use(caught("out")),
        requests: ["/a"],
    },
    {
        name: "next twice",
        make: ({ router }) =>
            router()
                .use((req, res, next) => {
                    next();
                    req.log("again");
                    next();
                })
                .get("/a", pass("a1"), pass("a2"))
                .get("/a", pass("b")),
        requests: ["/a"],
    },
    {
        name: "next twice in a route",
        make: ({ router }) =>
            router()
                .get(
                    "/a",
                    (req, res, next) => {
                        next();
                        next();
                    },
                    pass("a2"),
                    pass("a3"),
                )
                .get("/a", pass("b"))
                .use(pass("c")),
        requests: ["/a"],
    },
    {
        name: "later, by promises, ticks and immediates",
        make: ({ router }) =>
            router()
                .use((req, res, next) => void Promise.resolve().then(() => next()))
                .use((req, res, next) => process.nextTick(next))
                .use((req, res, next) => setImmediate(next))
                .get("/a", answer("a")),
        requests: ["/a", "/b"],
    },
    {
        name: "many layers that go on at once",
        make: ({ router }) => {
            const all = router();
            let depth = 0;
            for (let at = 0; at < 350; at++) {
                all.use((req, res, next) => {
                    depth += 1;
                    if (at % 10 === 0) req.log(at, depth);
                    next();
                    depth -= 1;
                });
            }
            return all.get("/a", answer("a"));
        },
        requests: ["/a", "/b"],
    },
    {
        name: "many handlers of one route",
        make: ({ router }) => {
            let depth = 0;
            const many = Array.from({ length: 350 }, (_, at) => (req, res, next) => {
                depth += 1;
                if (at % 10 === 0) req.log(at, depth);
                next();
                depth -= 1;
            });
            return router().get("/a", many).post("/a", many).all("/a", answer("a"));
        },
        requests: ["/a", "HEAD /a", "POST /a", "PUT /a"],
    },
    {
        name: "many routes of other methods on one path",
        make: ({ router }) => {
            const route = router();
            const one = route.route("/a");
            for (let at = 0; at < 250; at++) one.post(pass("post"));
            one.get(answer("a"));
            return route;
        },
        requests: ["/a"],
    },
    {
        name: "a changed URL",
        make: ({ router }) =>
            router()
                .use((req, res, next) => {
                    req.log(req.url);
                    if (req.url === "/a") req.url = "/b?from=a";
                    next();
                })
                .get("/a", answer("a"))
                .get("/b", (req, res, next) => {
                    req.url = "/c";
                    next();
                })
                .get("/a", answer("never"))
                .get("/c", answer("c")),
        requests: ["/a", "/b", "/c"],
    },
    {
        name: "a changed method",
        make: ({ router }) =>
            router()
                .use((req, res, next) => {
                    req.method = "DELETE";
                    next();
                })
                .get("/a", answer("get"))
                .delete("/a", answer("delete")),
        requests: ["/a", "OPTIONS /a"],
    },
    {
        name: "what next gives back",
        make: ({ router }) =>
            router()
                .use((req, res, next) => void req.log(next("route")))
                .use((req, res, next) => void req.log(next(), typeof next, next.length, req.next === next))
                .get("/a", (req, res, next) => void req.log(next(), next.length, req.next === next)),
        requests: ["/a", "/b"],
    },
    {
        name: "req.next and req.params are what they were, once it is left",
        make: ({ router }) => {
            const inner = router().get("/b/:c", pass("inner"));
            return router()
                .use("/:a", inner)
                .use((req, res, next) => {
                    req.log(req.params, req.route?.path, req.next === next);
                    next();
                });
        },
        requests: ["/a/b/c", { url: "/a/b/c", params: { old: 1 }, baseUrl: "/base", originalUrl: "/original", next: 5 }],
    },
    {
        name: "URLs that are none",
        make: ({ router }) => router().use(pass("one")).get("/", answer("root")).get("/a", answer("a")),
        requests: ["", "*", "a", "?x", "//", "//a", "///a//", "http://host/a", "http://host", "http://host?x=/a", "x://y/a?z", { url: undefined }, { url: null }, { url: 5 }, "/a b", "/a\tb", "/a#b?c", "http://[/a"],
    },
    {
        name: "no way out",
        make: ({ router, log, version }) => {
            const one = router().get("/a", answer("a"));
            for (const out of version === 5 ? [undefined, null, 0] : [undefined, null, {}]) {
                try {
                    // Express 4 finds out where the stack ends before its last layer.
                    (version === 5 ? one : router().get("/x", pass("x")))({ method: "GET", url: "/a", log }, {}, out);
                } catch (error) {
                    log(error);
                }
            }
            return one;
        },
        requests: ["/a"],
    },
    {
        name: "a router calls itself",
        make: ({ router }) => {
            const one = router();
            let depth = 0;
            one.use((req, res, next) => (depth++ % 4 < 3 ? one(req, res, next) : next()));
            return one.get("/a", pass("a"));
        },
        requests: ["/a"],
    },
    {
        name: "two requests at once",
        make: ({ router }) => {
            const held = [];
            return router()
                .use("/:x", (req, res, next) => {
                    req.log(req.params, held.length);
                    if (held.push(next) === 2) for (const go of held.splice(0)) go();
                    else setImmediate(() => setImmediate(() => held.splice(0).forEach((go) => go())));
                })
                .get("/:x/:y", (req, res) => setImmediate(() => answer("y")(req, res)));
        },
        requests: ["/a/1", "/b/2"],
    },
];
