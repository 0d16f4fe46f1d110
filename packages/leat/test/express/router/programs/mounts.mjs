// Nested routers: what they see of the URL, and what is put back.
import { caught, forward, pass } from "./handlers.mjs";

const nested = ({ router }) => {
    const deep = router().get("/", pass("deep root")).get("/c", pass("c"));
    const inner = router().use("/b", deep).get("/", pass("inner root")).use(pass("inner all"));
    return router().use("/a", inner).use("/A/b", pass("sensitive")).use(pass("all"));
};

export const mounts = [
    { name: "routers in routers", make: nested, requests: ["/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/a/b/c/", "/a/b/c?d=/e", "/a//b", "/ab", "/a.b", "/A/B/C", "/a?x", "/a/?x", "http://host/a/b/c", "http://host:1/a", "/a/b#c"] },
    {
        name: "paths with a slash at their end, and without one at their start",
        make: ({ router }) => router().use("/a/", pass("a/")).use("b", pass("b")).use("", pass("empty")).use("/a//", pass("a//")).use("//c", pass("c")),
        requests: ["/a", "/a/", "/a//", "/a/x", "/a//x", "/b", "b", "//c", "/c", "/"],
    },
    {
        name: "mounted at parameters",
        make: ({ router }) => router().use("/:x", pass("x")).use("/:x/y/", pass("y")).use("/:x/:y", router({ mergeParams: true }).get("/:z", pass("z"))),
        requests: ["/", "/1", "/1/", "/1//", "/1/y", "/1/y/", "/1/Y//z", "/1/2/3", "/%31/%32/%33", "/1/2/3/4", "/%zz/1/2"],
    },
    {
        name: "several paths",
        make: ({ router }) => router().use(["/a", "/b/c", "/"], pass("some")).use(["/a", ["/d", "/:e/f"]], pass("nested")),
        requests: ["/a/x", "/b", "/b/c/d", "/", "/d", "/1/f/g", "//x"],
    },
    {
        name: "a handler writes the URL",
        make: ({ router }) =>
            router()
                .use("/a", (req, res, next) => {
                    req.log(req.url, req.baseUrl);
                    req.url = `/new${req.url}`;
                    next();
                })
                .use("/b", (req, res, next) => {
                    req.url = "/";
                    next();
                })
                .use("/c", (req, res, next) => {
                    req.url = "?only=query";
                    next();
                })
                .use("/d/", (req, res, next) => {
                    req.url = "/x/y";
                    next();
                })
                .use(pass("end")),
        requests: ["/a", "/a/", "/a?x", "/a/b?x", "/b", "/b/c", "/b?x", "/c", "/c/d", "/d", "/d/", "/d/e", "/d?x", "http://host/a/b", "http://host/b"],
    },
    {
        name: "a regular expression as mount path",
        make: ({ router }) => router().use(/^\/a\/(\d+)/, pass("digits")).use(/b$/, pass("b")).use(/^\/x(?=\/y)/, pass("ahead")).use(/\/(?<name>q.)\//, pass("named")),
        requests: ["/a/12/x", "/a/12x", "/a/b", "/b", "/x/y", "/x/z", "/qq/r", "/qq", "/a/%2541"],
    },
    {
        name: "errors pass mounts",
        make: ({ router }) => {
            const inner = router().get("/x", forward("x", new Error("inner"))).use(caught("inner"));
            return router().use("/a", inner).use("/a", caught("a")).use("/b", caught("b")).use(caught("out"));
        },
        requests: ["/a/x", "/a/y"],
    },
    {
        name: "baseUrl that was there before",
        make: ({ router }) => router().use("/a", router().get("/b", pass("b"))),
        requests: [{ url: "/a/b", baseUrl: "/app" }, { url: "/a/b", baseUrl: "/app/" }],
    },
    {
        name: "case and slashes by options",
        make: ({ router }) => {
            const strict = router({ strict: true }).get("/a", pass("a")).get("/b/", pass("b/")).get("/", pass("root")).use("/c", pass("c"));
            const sensitive = router({ caseSensitive: true }).get("/Aa/:Bb", pass("Aa")).use("/Cc", pass("Cc"));
            return router().use("/strict", strict).use("/sensitive", sensitive).use("/both", router({ strict: true, caseSensitive: true }).get("/Xy/", pass("Xy")));
        },
        requests: ["/strict/a", "/strict/a/", "/strict/b", "/strict/b/", "/strict", "/strict/", "/strict/c/", "/strict/A", "/sensitive/Aa/1", "/sensitive/aa/1", "/sensitive/Aa/1/", "/sensitive/Cc", "/sensitive/cc", "/SENSITIVE/Cc/d", "/both/Xy/", "/both/Xy", "/both/xy/"],
    },
    {
        name: "mergeParams",
        make: ({ router }) => {
            const merging = (options) => router(options).get("/:b", pass("b")).get("/:a/same", pass("same")).get(/^\/(\d+)\/(\d+)$/, pass("numbers"));
            return router()
                .use("/one/:a", merging({ mergeParams: true }))
                .use("/two/:a", merging({}))
                .use(/^\/n\/([a-z]+)-([a-z]+)/, merging({ mergeParams: true }))
                .use(/^\/m\/(?<c>[a-z]+)/, merging({ mergeParams: true }));
        },
        requests: ["/one/1/2", "/one/1/2/same", "/two/1/2", "/n/x-y/2", "/n/x-y/1/2", "/m/x/1/2", { url: "/one/1/2", params: { z: 1 } }, { url: "/one/1/2", params: "text" }, { url: "/one/1/2", params: null }],
    },
    {
        name: "mergeParams of a router that is called by hand",
        make: ({ router }) => router({ mergeParams: true }).get("/:a", pass("a")).get(/^\/(.)(.)$/, pass("two")),
        requests: [{ url: "/xy", params: { a: "old", b: 1 } }, { url: "/xy", params: ["0", "1", "2"] }, { url: "/xy", params: 5 }, { url: "/xy", params: null }, "/xy"],
    },
];
