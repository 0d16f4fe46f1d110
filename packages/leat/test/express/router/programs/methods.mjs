// Methods: HEAD, OPTIONS, all, and those that nobody knows.
import { answer, caught, forward, mended, pass } from "./handlers.mjs";

export const methods = [
    {
        name: "HEAD falls to GET",
        make: ({ router }) => router().head("/a", answer("head")).get("/a", answer("get a")).get("/b", answer("get b")).head("/b", answer("head b")).post("/c", answer("post")).route("/d").post(pass("d")).all(pass("all d")) && router().get("/e", answer("e")),
        requests: ["HEAD /e", "HEAD /a", "GET /e"],
    },
    {
        name: "HEAD of routes with and without GET",
        make: ({ router }) => router().post("/a", pass("post")).get("/a", pass("get")).head("/a", pass("head")).put("/b", pass("put")).all("/b", answer("all")),
        requests: ["HEAD /a", "HEAD /b", "GET /a", "PUT /b", "DELETE /b", "head /a", "Get /a"],
    },
    {
        name: "OPTIONS is answered",
        make: ({ router }) => router().get("/a", answer("get")).post("/a", answer("post")).get("/a/:b", answer("b")).get("/b", answer("b")).options("/b", answer("options")).all("/c", answer("all")).use("/d", pass("d")),
        requests: ["OPTIONS /a", "OPTIONS /b", "OPTIONS /c", "OPTIONS /d", "OPTIONS /e", "OPTIONS /a/x", "OPTIONS *"],
    },
    {
        name: "OPTIONS of nested routers, and with errors",
        make: ({ router }) => {
            const inner = router().put("/b", answer("put")).get("/b", answer("get"));
            return router().get("/a/b", answer("outer")).use("/a", inner).delete("/a/b", answer("delete")).use("/e", forward("e", new Error("e"))).get("/e", answer("e"));
        },
        requests: ["OPTIONS /a/b", "OPTIONS /a/c", "OPTIONS /e"],
    },
    {
        name: "OPTIONS of a route without handlers, and of two routes",
        make: ({ router }) => {
            const one = router();
            one.route("/a");
            one.route("/b").get(answer("b")).post(answer("b"));
            one.route("/b").put(answer("b")).head(answer("b"));
            return one;
        },
        requests: ["OPTIONS /a", "OPTIONS /b", "/a", "HEAD /b"],
    },
    {
        name: "OPTIONS whose reply fails",
        make: ({ router }) =>
            router()
                .use((req, res, next) => {
                    res.end = () => {
                        throw new Error("cannot end");
                    };
                    next();
                })
                .get("/a", answer("a")),
        requests: ["OPTIONS /a"],
    },
    {
        name: "all, with others around it",
        make: ({ router }) => {
            const one = router();
            one.route("/a").all(pass("all")).get(pass("get")).all(pass("all 2")).post(answer("post"));
            return one.all("/a", answer("end"));
        },
        requests: ["/a", "POST /a", "M-SEARCH /a", "PURGE /a", "FOO /a"],
    },
    { name: "methods that are none", make: ({ router }) => router().get("/a", answer("a")).all("/b", answer("b")), requests: ["FOO /a", "FOO /b", { url: "/a", method: undefined }, { url: "/a", method: null }, { url: "/b", method: 5 }, { url: "/a", method: "constructor" }, { url: "/a", method: "__proto__" }, { url: "/a", method: "_ALL" }] },
    {
        name: "methods in one route, in their order",
        make: ({ router }) => {
            const one = router();
            one.route("/a").get(pass("1")).post(pass("2")).get(forward("3", new Error("x"))).post(caught("4")).get(caught("5")).get(mended("6")).get(pass("7"));
            return one.use(caught("out"));
        },
        requests: ["/a", "POST /a", "HEAD /a"],
    },
];
