// `param` callbacks.
import { answer, caught, pass } from "./handlers.mjs";

const log = (name) => (req, res, next, value, key) => {
    req.log(name, value, key, req.params);
    next();
};

export const params = [
    {
        name: "callbacks in the order of the path, before the handlers",
        make: ({ router }) => router().param("b", log("b")).param("a", log("a1")).param("a", log("a2")).param("z", log("z")).get("/:a/:b", pass("one")).get("/:b/:a", answer("two")),
        requests: ["/1/2", "/%31/2", "/1"],
    },
    {
        name: "once for each value",
        make: ({ router }) => router().param("a", log("a")).use("/:a", pass("use")).get("/:a/x", pass("x")).get("/:b/:a", pass("other")).get("/:a/y", pass("y")).use("/:a", router().param("a", log("inner")).get("/:a", pass("in"))),
        requests: ["/1/x", "/1/y", "/1/1"],
    },
    {
        name: "a changed value stays",
        make: ({ router }) =>
            router()
                .param("a", (req, res, next, value) => {
                    req.params.a = { was: value };
                    next();
                })
                .param("a", log("then"))
                .use("/:a", pass("use"))
                .get("/:a", pass("get"))
                .get("/:a", pass("get 2")),
        requests: ["/1", "/2"],
    },
    {
        name: "errors",
        make: ({ router }) =>
            router()
                .param("a", (req, res, next, value) => {
                    req.log("a", value);
                    if (value === "throw") throw new Error("thrown");
                    if (value === "route" || value === "router") return next(value);
                    next(value === "ok" ? null : new Error(value));
                })
                .param("a", log("second"))
                .use("/:a", pass("use"))
                .get("/:a", pass("get"))
                .get("/:a", pass("get 2"))
                .use("/:a", caught("errors")),
        requests: ["/ok", "/bad", "/throw", "/route", "/router"],
    },
    {
        name: "later",
        make: ({ router }) =>
            router()
                .param("a", (req, res, next, value) => setImmediate(() => next(value === "bad" ? new Error("late") : undefined)))
                .param("a", log("second"))
                .get("/:a/:b", pass("get"))
                .use("/:a", pass("use"))
                .use(caught("errors")),
        requests: ["/1/2", "/bad/2", "/1"],
    },
    {
        name: "next twice in a callback",
        make: ({ router }) =>
            router()
                .param("a", (req, res, next) => {
                    next();
                    next();
                })
                .param("a", log("a2"))
                .param("b", log("b"))
                .get("/:a/:b", pass("get"))
                .get("/:a/:b", pass("get 2")),
        requests: ["/1/2"],
    },
    {
        name: "callbacks for optional and numbered parameters",
        make: ({ router }) => router().param("0", log("zero")).param("1", log("one")).param("a", log("a")).get(/^\/n\/(.)(.)?$/, pass("numbers")).get(/^\/m\/(?<a>.)/, pass("named")),
        requests: ["/n/x", "/n/xy", "/m/z"],
    },
    {
        name: "callbacks before errors",
        make: ({ router }) =>
            router()
                .use((req, res, next) => next(new Error("before")))
                .param("a", (req, res, next, value) => next(value === "2" ? new Error("param") : undefined))
                .use("/:a", caught("errors"))
                .use(caught("end")),
        requests: ["/1", "/2"],
    },
    {
        name: "many callbacks that go on at once",
        make: ({ router }) => {
            const one = router();
            for (let at = 0; at < 50; at++) one.param("a", log(String(at)));
            for (let at = 0; at < 120; at++) one.use("/:a", at % 20 === 0 ? pass(String(at)) : (req, res, next) => next());
            return one;
        },
        requests: ["/1"],
    },
    {
        name: "names that objects have",
        make: ({ router }) => router().use("/:constructor", pass("use")).get("/:toString/:hasOwnProperty", pass("get")).get("/:valueOf", router().get("/:__proto__", pass("proto"))).get("/x/:__proto__", pass("proto")),
        requests: ["/1", "/1/2", "/x/y"],
    },
    {
        name: "promises of callbacks",
        only: 5,
        make: ({ router }) =>
            router()
                .param("a", async (req, res, next, value) => {
                    await null;
                    if (value === "bad") throw new Error("rejected");
                    if (value === "none") return Promise.reject();
                    next();
                })
                .get("/:a", answer("get"))
                .use(caught("errors")),
        requests: ["/ok", "/bad", "/none"],
    },
    {
        name: "a program's own process_params",
        only: 4,
        make: ({ router }) => {
            const one = router().get("/:a", pass("a")).get("/b", pass("b"));
            const { process_params: old } = one;
            one.process_params = function (layer, called, req, res, done) {
                req.log("process", layer.name, layer.keys, called, layer.params, layer.path);
                return old.call(this, layer, called, req, res, done);
            };
            return one;
        },
        requests: ["/a", "/b"],
    },
    {
        name: "param(fn)",
        only: 4,
        make: ({ router }) => {
            const one = router();
            one.param((name, check) => (check instanceof RegExp ? (req, res, next, value) => (check.test(value) ? next() : next("route")) : undefined));
            one.param("a", /^\d+$/);
            one.param(":b", log("b"));
            return one.get("/:a/:b", pass("get")).get("/:b", pass("b"));
        },
        requests: ["/1/2", "/x/2", "/x"],
    },
];
