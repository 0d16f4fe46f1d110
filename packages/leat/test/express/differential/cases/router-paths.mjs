// Paths: what patterns match, in what 5 and 4 share, in what is 5's alone and in what is 4's alone.
import { attempt, built, ending, logged, passing, telling } from "../built.mjs";

/** A pattern as a route and as a mount path, and the urls that are tried on both. */
const pattern = (path, urls, more = {}) => built(`${typeof path === "string" ? JSON.stringify(path) : String(path)}${more.called ? ` (${more.called})` : ""}`, (app, t) => {
    app.use((req, res, next) => {
        t.log(req.url);
        next();
    });
    app.use(path, passing(t, "use"));
    app.get(path, ending("route"));
    app.use(telling(t));
}, urls, more);

const only5 = { only: 5 };
const only4 = { only: 4 };

/** What a pattern of one version throws, at once, in routes and in use. */
const refused = (name, paths, more) => logged(name, (app, t, express) => {
    for (const path of paths) {
        attempt(t, `get ${JSON.stringify(path)}`, () => typeof app.get(path, () => {}));
        attempt(t, `use ${JSON.stringify(path)}`, () => typeof express.Router().use(path, () => {}));
        attempt(t, `route ${JSON.stringify(path)}`, () => typeof app.route(path));
    }
}, more);

export default [
    pattern("/", ["/", "/a", "//", "/?a=b", "/?", "/#"].filter((path) => !path.includes("#"))),
    pattern("/a/b", ["/a/b", "/a/b/", "/a/b//", "/a//b", "/a/b/c", "/A/B", "/a/bc", "/a/b?c", "/a%2Fb", "/a/%62", "/a"]),
    pattern("/a/b/", ["/a/b", "/a/b/", "/a/b//", "/a/b/c"]),
    pattern("a", ["/a", "/", "/xa"]),
    pattern("//a", ["/a", "//a", "///a"]),
    pattern("/a.b", ["/a.b", "/axb", "/a%2Eb"]),
    pattern("/a-b_c~d", ["/a-b_c~d", "/a-b"]),
    pattern("/a b", ["/a%20b", "/a+b"]),
    pattern("/caf\u00e9", ["/caf%C3%A9", "/cafe"]),
    pattern("/:id", ["/1", "/1/", "/", "/1/2", "/a.b", "/a%2Fb", "/%20", "/a;b", "/a,b", "/a@b", "/:id", "/~", "/a?b=c/d"]),
    pattern("/:id/", ["/1", "/1/", "/1//"]),
    pattern("/:a/:b", ["/1/2", "/1", "/1/2/3", "//2", "/1//2"]),
    pattern("/x/:a/y/:b/z", ["/x/1/y/2/z", "/x/1/y/2", "/x/1/y/2/z/", "/x//y/2/z"]),
    pattern("/:a-:b", ["/1-2", "/1-2-3", "/1-", "/-2", "/12"]),
    pattern("/:a.:b", ["/1.2", "/1.2.3", "/file.tar.gz", "/12"]),
    pattern("/:from..:to", ["/1..2", "/1.2", "/1...2"]),
    pattern("/file.:ext", ["/file.txt", "/file.", "/file", "/file.a.b"]),
    pattern("/pre:id", ["/pre1", "/pre", "/pre/1"]),
    pattern("/:id/post", ["/1/post", "/1/post/", "/1/posts", "/post"]),
    pattern("/:a:b", ["/12", "/1"], { throws: true }),
    pattern("/:a/:a", ["/1/2"]),
    pattern("/:_private/:$money".replace(":$money", ":money"), ["/1/2"]),
    pattern("/:id1/:ID1", ["/1/2"]),
    pattern("/%20", ["/%20", "/ ".replace(" ", "%2520")]),
    pattern(/^\/re(\d+)x$/, ["/re12x", "/rex", "/re12x/", "/RE1x"]),
    pattern(/re/i, ["/re", "/a/RE/b", "/x"]),
    pattern(/^\/sticky/y, ["/sticky", "/sticky/x", "/sticky"]),
    pattern(/^\/global/g, ["/global", "/global", "/global/x"]),
    pattern(/.*/, ["/", "/a/b"]),
    pattern(/^\/(?<name>\w+)\/(\w+)$/, ["/a/b", "/a"]),
    pattern(/^\/a|\/b$/, ["/a", "/b", "/x/b", "/ax"]),
    pattern(/^$/, ["/", "/a"]),
    pattern(/\/(a)?$/, ["/", "/a", "/b"], { called: "a group that is not there" }),
    pattern(["/a", "/b/:c"], ["/a", "/b/1", "/c"], { called: "a list" }),
    pattern(["/a", /^\/(x+)$/], ["/a", "/xx"], { called: "a list with a RegExp" }),

    // What is written for 5 (path-to-regexp 8).
    pattern("/*rest", ["/a", "/a/b/c", "/", "/a%2Fb/c%20d", "//", "/a//b", "/a/"], only5),
    pattern("/{*rest}", ["/", "/a", "/a/b/c", "/a/"], only5),
    pattern("/files/*path.txt", ["/files/a.txt", "/files/a/b.txt", "/files/a", "/files/.txt"], only5),
    pattern("/a/*one/b/*two", ["/a/1/b/2", "/a/1/2/b/3/4", "/a/b/c"], only5),
    pattern("/a{/b}", ["/a", "/a/b", "/ab", "/a/b/c"], only5),
    pattern("/a{/:b}", ["/a", "/a/1", "/a/1/2", "/a/"], only5),
    pattern("/:file{.:ext}", ["/a", "/a.txt", "/a.tar.gz", "/.txt"], only5),
    pattern("/{:a/}b", ["/b", "/1/b", "/1/2/b"], only5),
    pattern("{/:lang}/page", ["/page", "/en/page", "/en/fr/page"], only5),
    pattern("/a{/b{/c}}", ["/a", "/a/b", "/a/b/c", "/a/c"], only5),
    pattern('/:"quoted name"', ["/1"], only5),
    pattern('/:"with-dash"/*"and rest"', ["/1/2/3"], only5),
    pattern("/\\:id", ["/:id", "/1"], only5),
    pattern("/a\\(b\\)", ["/a(b)", "/ab"], only5),
    pattern("/a\\*", ["/a*", "/abc"], only5),
    pattern("/:\u00e9t\u00e9", ["/1"], only5),
    pattern("*all", ["/a", "/", "/a/b"], only5),
    pattern("/v:major.:minor{-:pre}", ["/v1.2", "/v1.2-beta", "/v1", "/v1.2-"], only5),
    refused("patterns that 5 refuses", ["*", "/*", "/a*", "/:", "/:id?", "/:id*", "/:id+", "/:id(\\d+)", "/(a|b)", "/a+", "/a?", "/[a]", "/!", "/a{b", "/a}b", "/:\"open", "/a\\", "/*/a", "/:a:*", "/{a}{b", "/(.*)"], only5),
    pattern("/{}a", ["/a"], { ...only5, throws: true }),

    // What is written for 4 (path-to-regexp 0.1).
    pattern("*", ["/", "/a", "/a/b?c"], only4),
    pattern("/*", ["/", "/a", "/a/b/c", "/a%20b/c"], only4),
    pattern("/a/*", ["/a", "/a/", "/a/b", "/a/b/c"], only4),
    pattern("/a/*/b", ["/a/b", "/a/x/b", "/a/x/y/b", "/a//b"], only4),
    pattern("/a*", ["/a", "/abc", "/a/b"], only4),
    pattern("/*.html", ["/a.html", "/a/b.html", "/.html", "/a.htm"], only4),
    pattern("/*/*", ["/a/b", "/a/b/c", "/a"], only4),
    pattern("/a?b", ["/b", "/ab", "/aab"], only4),
    pattern("/a+b", ["/ab", "/aab", "/b"], only4),
    pattern("/a(b)?c", ["/ac", "/abc"], only4),
    pattern("/(a|b)", ["/a", "/b", "/c"], only4),
    pattern("/:id?", ["/", "/1", "/1/2"], only4),
    pattern("/a/:id?", ["/a", "/a/", "/a/1", "/a/1/2"], only4),
    pattern("/a/:x?/:y?", ["/a", "/a/1", "/a/1/2"], only4),
    pattern("/:id*", ["/1", "/1/2/3", "/"], only4),
    pattern("/:id+", ["/1", "/1/2", "/"], only4),
    pattern("/:id(\\d+)", ["/1", "/a", "/12/", "/1a"], only4),
    pattern("/:id(\\d+)?", ["/", "/1", "/a"], only4),
    pattern("/:name([a-z]+).:ext(js|css)", ["/app.js", "/app.css", "/app.html", "/1.js"], only4),
    pattern("/:a(\\w+)-:b(\\w+)", ["/x-y", "/x-", "/x-y-z"], only4),
    pattern("/a(.*)", ["/a", "/abc", "/a/b"], only4),
    pattern("/(\\d+)/(\\w+)", ["/1/a", "/a/1"], only4),
    pattern("/:file.:ext?", ["/a", "/a.txt", "/a.tar.gz"], only4),
    pattern("/:id(", ["/1"], { ...only4, throws: true }),
    pattern("/a\\:b", ["/a:b", "/ab"], only4),
    pattern("/a$", ["/a$", "/a"], only4),
    pattern("/[a-c]", ["/a", "/b", "/d"], only4),
    refused("patterns that 4 refuses", ["/(", "/)", "/[", "/:id(", "/++", "/\\", "/:", "/?", "/(?:a"], only4),

    // What is neither text nor RegExp.
    logged("paths that are no paths", (app, t, express) => {
        for (const [what, path] of Object.entries({ number: 5, null: null, undefined: undefined, object: {}, boolean: true, function: () => {}, nan: NaN })) {
            attempt(t, `get of ${what}`, () => typeof app.get(path, () => {}));
            attempt(t, `use of ${what}`, () => typeof express.Router().use(path, () => {}));
            attempt(t, `route of ${what}`, () => typeof app.route(path));
            attempt(t, `all of ${what}`, () => typeof app.all(path, () => {}));
        }
    }),
    built("an url with a query in the path", (app) => {
        app.get("/a", ending("a"));
        app.get("/", ending("root"));
    }, ["/a?/b", "/a?x=/a/b", "/?", "/??", "/a??b", "?a=b".replace("?", "/?")]),
    built("an url in absolute form", (app) => {
        app.get("/a", ending("a"));
        app.use("/b", ending("b"));
        app.get("/", ending("root"));
    }, ["http://test/a", "http://test/a?b=c", "http://test/b/c?d", "http://test", "http://test/"]),
    built("slashes and dots", (app, t) => {
        app.use("/a", passing(t, "a"));
        app.get("/a/b", ending("ab"));
        app.use(ending("end"));
    }, ["/a/../a/b", "/a/./b", "//a/b", "/a//b", "/a/b//", "/a\\b", "/a/b;c", "/a;x/b"]),
    built("mount paths end at a slash or a dot", (app, t) => {
        app.use("/a", passing(t, "use"));
        app.use(ending("end"));
    }, ["/a", "/a/", "/a/b", "/a.b", "/ab", "/a-b", "/a?b", "/a%2Fb", "/A/b", "/a;b", "//a"]),
    built("baseUrl and url where the mount path has another case", (app, t, express) => {
        const router = express.Router();
        router.get("/Inner", ending("inner"));
        app.use("/Outer/:x", router);
    }, ["/oUTER/Y/iNNER?q"]),
    built("url, baseUrl and path at every level", (app, t, express) => {
        const log = (where) => (req, res, next) => (t.log(where, req.url, req.baseUrl, req.path, req.originalUrl), next());
        const router = express.Router();
        router.use(log("router"));
        router.use("/b", log("router at b"));
        router.get("/b/c", log("route in router"));
        app.use(log("app"));
        app.use("/a", log("app at a"), router, log("behind the router"));
        app.use(log("app again"));
        app.use((req, res) => res.end());
    }, ["/a/b/c?x=1", "/a/b", "/a", "/a/?y", "/a?y", "/b"]),
    built("req.url rewritten before routing", (app) => {
        app.use((req, res, next) => {
            if (req.url.startsWith("/old")) req.url = req.url.replace("/old", "/new");
            next();
        });
        app.get("/old", ending("old"));
        app.get("/new", ending("new"));
        app.get("/new/:id", ending("new id"));
    }, ["/old", "/old/1?x=2", "/new"]),
    built("req.url rewritten in a route", (app, t) => {
        app.get("/a", (req, res, next) => {
            req.url = "/b?rewritten=1";
            next();
        }, passing(t, "still in the route"));
        app.get("/a", ending("a"));
        app.get("/b", (req, res) => res.json([req.url, req.originalUrl, req.query, req.path]));
    }, ["/a?x=1"]),
    built("req.url rewritten under a mount path", (app) => {
        app.use("/a", (req, res, next) => {
            req.url = "/changed";
            next();
        });
        app.use("/a", (req, res, next) => (res.set("X-Seen", req.url), next()));
        app.get("/a/changed", ending("changed"));
        app.use(ending("end"));
    }, ["/a/b", "/a"]),
    built("req.url rewritten and the router asked anew", (app) => {
        app.get("/a", (req, res, next) => {
            req.url = "/b";
            if (typeof app.handle === "function") app.handle(req, res, next);
        });
        app.get("/b", ending("b"));
    }, ["/a"]),
    built("req.url emptied", (app, t) => {
        app.use((req, res, next) => {
            req.url = "";
            next();
        });
        app.use(passing(t, "use"));
        app.get("/", ending("root"));
    }, ["/a"]),
    built("req.url without a slash in front", (app, t) => {
        app.use((req, res, next) => {
            req.url = "a/b?c";
            next();
        });
        app.use("/a", passing(t, "use"));
        app.use(ending("end"));
    }, ["/x"]),
    built("baseUrl set by hand", (app) => {
        app.use((req, res, next) => {
            req.baseUrl = "/mine";
            next();
        });
        app.use("/a", ending("a"));
        app.use(ending("end"));
    }, ["/a/b", "/c"]),
    built("originalUrl set by hand", (app) => {
        app.use((req, res, next) => {
            req.originalUrl = "/mine";
            next();
        });
        app.use("/a", ending("a"));
    }, ["/a/b"]),
    ...[[true, undefined], [undefined, true], [true, true], [false, false]].map(([strict, caseSensitive]) => built(`a Router with strict ${strict} and caseSensitive ${caseSensitive}`, (app, t, express) => {
        const router = express.Router({ strict, caseSensitive });
        router.get("/Foo", ending("Foo"));
        router.get("/Bar/", ending("Bar with a slash"));
        router.get("/:Id/x", ending("id"));
        router.use("/Use", ending("use"));
        app.use(router);
    }, ["/Foo", "/foo", "/Foo/", "/foo/", "/Bar", "/bar/", "/Bar/", "/1/X", "/1/x/", "/use/y", "/Use/", "/Use"])),
    built("a Router keeps its own options within the app's", (app, t, express) => {
        app.enable("strict routing");
        app.enable("case sensitive routing");
        const router = express.Router();
        router.get("/Foo", ending("router"));
        app.use("/R", router);
        app.get("/Foo", ending("app"));
    }, ["/R/foo/", "/r/Foo", "/foo", "/Foo/", "/Foo"]),
];
