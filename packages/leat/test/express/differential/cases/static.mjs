// express.static: every option, every path, and how it falls through.
import { WHEN_TEXT, etagOf } from "../files.mjs";
import { get, head, tells } from "../shapes.mjs";

const HELLO = etagOf(13);
const PATHS = ["/hello.txt", "/", "/index.html", "/sub", "/sub/", "/sub?x=1", "/sub/other.txt", "/bare", "/bare/", "/missing.txt", "/.hidden", "/.dir/file.txt", "/.dir", "/..two", "/noext", "/page", "/page.html"];

/** An app with `express.static(folder, options)` at `mount`, a handler that logs behind it, and `tells`. */
const serves = (name, options, requests = PATHS.map((path) => get(path)), { mount = "/", folder = "static", only, settings = {}, before } = {}) => ({
    name,
    app(express, t) {
        const app = express();
        for (const [setting, value] of Object.entries(settings)) app.set(setting, value);
        if (before !== undefined) app.use(before);
        app.use(mount, express.static(`${t.dir}/${folder}`, typeof options === "function" ? options(t) : options));
        app.use((req, res) => {
            t.log(`fell through ${req.method} ${req.url}`);
            res.status(404).end("fell through");
        });
        app.use(tells(t));
        return app;
    },
    requests,
    ...(only === undefined ? {} : { only }),
});
const constructed = (name, ...args) => ({
    name: `static of ${name}`,
    app(express, t) {
        const app = express();
        try {
            app.use(express.static(...args));
            t.log("constructed");
        } catch (error) {
            t.log(`${error.name}: ${error.message}`);
        }
        app.use((req, res) => res.end("after"));
        return app;
    },
    requests: [get("/hello.txt")],
});

export default [
    serves("without options", undefined),
    serves("every kind of file", {}, ["empty.txt", "style.css", "app.js", "mod.mjs", "mod.wasm", "data.json", "table.csv", "doc.xml", "read.md", "image.svg", "pic.png", "archive.tar.gz", "noext", "unknown.zzz", "upper.HTML", "default.htm", "large.bin"].flatMap((file) => [get(`/${file}`), head(`/${file}`)])),
    serves("names that are encoded", {}, ["/with%20space/a%20file.txt", "/with space/a.txt", "/%C3%BC.txt", "/per%2520cent.txt", "/per%20cent.txt", "/semi;colon.txt", "/semi%3Bcolon.txt", "/a+b&c=d.txt", "/a%2Bb&c=d.txt", "/%68ello.txt", "/hello%2etxt", "/sub%2Fother.txt", "/sub%5Cother.txt", "/hello.txt%00", "/hello.txt%", "/%zz", "/%c3", "/hello.txt?x=%zz"].map((path) => get(path))),
    serves("paths that would leave the folder", {}, ["/../views/hello.ejs", "/sub/../hello.txt", "/sub/../../views/hello.ejs", "/%2e%2e/views/hello.ejs", "/..%2fviews/hello.ejs", "/sub/%2e%2e/hello.txt", "/..\\views\\hello.ejs", "/%2e%2e%5cviews", "/./hello.txt", "//hello.txt", "//sub", "///sub", "/sub//other.txt", "/sub/./other.txt", "/hello.txt/", "/hello.txt/more", "/sub/index.html/", `/${"x".repeat(300)}`, "//evil.example/..", "//evil.example/%2e%2e", "/sub/..", "/sub/%2e%2e"].map((path) => get(path))),
    serves("a target with bytes above 0x7f", {}, [get("/ü.txt")]),
    serves("a target with a fragment", {}, [get("/hello.txt#hash")]),
    serves("a target that names another host", {}, [get("http://other.example/hello.txt")]),
    serves("targets that are no path", {}, [get("http://test/hello.txt"), get("http://test/sub"), get("http://test"), { method: "OPTIONS", path: "*" }, get("hello.txt"), get("?")]),
    serves("every method", {}, ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"].map((method) => ({ method, path: "/hello.txt" }))),
    serves("every method without fallthrough", { fallthrough: false }, ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].map((method) => ({ method, path: "/hello.txt" }))),
    serves("fallthrough off", { fallthrough: false }, [...PATHS, "/%zz", "/../x", "/hello.txt%00", `/${"x".repeat(300)}`].map((path) => get(path))),
    serves("fallthrough on", { fallthrough: true }, ["/%zz", "/../x", "/hello.txt%00"].map((path) => get(path))),
    serves("fallthrough null", { fallthrough: null }, [get("/missing.txt")]),
    serves("redirect off", { redirect: false }, ["/sub", "/sub/", "/bare", "/bare/", "/"].map((path) => get(path))),
    serves("redirect and fallthrough off", { redirect: false, fallthrough: false }, ["/sub", "/sub/", "/bare", "/bare/"].map((path) => get(path))),
    serves("redirects", {}, ["/sub?a=b&c=<d>", "/%73ub", "/with%20space", "/deep/er", "/deep//er", "//sub", "/sub;x"].map((path) => get(path))),
    serves("redirects for HEAD", {}, [head("/sub")]),
    serves("mounted", {}, ["/m", "/m/", "/m?x=1", "/m/hello.txt", "/m/sub", "/m/sub?x=1", "/M/hello.txt", "/m//hello.txt", "/mhello.txt", "/m/../m/hello.txt", "/hello.txt"].map((path) => get(path)), { mount: "/m" }),
    serves("mounted under strict routing", {}, ["/m", "/m/"].map((path) => get(path)), { mount: "/m", settings: { "strict routing": true } }),
    serves("mounted under a parameter", {}, ["/u/ann/hello.txt", "/u/a%20b/sub", "/u/ann"].map((path) => get(path)), { mount: "/u/:name" }),
    serves("mounted at several paths", {}, ["/a/hello.txt", "/b/hello.txt", "/c/hello.txt"].map((path) => get(path)), { mount: ["/a", "/b"] }),
    ...["allow", "deny", "ignore"].map((dotfiles) => serves(`dotfiles ${dotfiles}`, { dotfiles }, ["/.hidden", "/.dir/file.txt", "/.dir", "/.dir/", "/..two", "/.missing", "/sub/.missing"].map((path) => get(path)))),
    ...["deny", "ignore"].map((dotfiles) => serves(`dotfiles ${dotfiles} without fallthrough`, { dotfiles, fallthrough: false }, ["/.hidden", "/.dir/file.txt", "/.missing"].map((path) => get(path)))),
    serves("dotfiles of a wrong value", { dotfiles: "nonsense" }, [get("/hello.txt")]),
    serves("hidden", { hidden: true }, ["/.hidden", "/.dir/file.txt"].map((path) => get(path)), { only: 4 }),
    serves("a root below a dot folder", {}, ["/file.txt"].map((path) => get(path)), { folder: "static/.dir" }),
    serves("index by name", { index: "default.htm" }, ["/", "/sub/"].map((path) => get(path))),
    serves("index by a list", { index: ["nothing.html", "other.txt", "index.html"] }, ["/", "/sub/", "/bare/"].map((path) => get(path))),
    serves("index off", { index: false }, ["/", "/sub/", "/sub", "/index.html"].map((path) => get(path))),
    serves("index empty", { index: [] }, ["/", "/sub/"].map((path) => get(path))),
    serves("index null", { index: null }, ["/", "/sub/"].map((path) => get(path))),
    serves("index of a wrong type", { index: 5 }, [get("/")]),
    serves("index off without fallthrough", { index: false, fallthrough: false }, ["/", "/sub/"].map((path) => get(path))),
    serves("extensions", { extensions: ["html", "txt"] }, ["/page", "/hello", "/page/", "/sub/other", "/noext", "/missing", "/hello.", "/page.txt"].map((path) => get(path))),
    serves("extensions in another order", { extensions: ["txt", "html"] }, ["/page", "/hello"].map((path) => get(path))),
    serves("extensions as text", { extensions: "txt" }, ["/hello", "/page"].map((path) => get(path))),
    serves("extensions with a dot", { extensions: [".txt"] }, ["/hello"].map((path) => get(path))),
    serves("extensions false", { extensions: false }, ["/hello"].map((path) => get(path))),
    serves("extensions without fallthrough", { extensions: ["zip"], fallthrough: false }, ["/hello"].map((path) => get(path))),
    ...[0, 1000, 1999, 3_600_000, 40_000_000_000, Infinity, -1, NaN, "1d", "2 hours", "500", "nonsense", "", null, true].map((maxAge) => serves(`maxAge ${typeof maxAge === "string" ? JSON.stringify(maxAge) : maxAge}`, { maxAge }, [get("/hello.txt")])),
    serves("maxage", { maxage: 5000 }, [get("/hello.txt")]),
    serves("maxAge and maxage", { maxAge: 1000, maxage: 5000 }, [get("/hello.txt")]),
    serves("immutable", { immutable: true, maxAge: "1y" }, [get("/hello.txt")]),
    serves("immutable without maxAge", { immutable: true }, [get("/hello.txt")]),
    serves("cacheControl off", { cacheControl: false, maxAge: 1000 }, [get("/hello.txt")]),
    serves("etag off", { etag: false }, [get("/hello.txt"), get("/hello.txt", { "If-None-Match": HELLO }), get("/hello.txt", { "If-Modified-Since": WHEN_TEXT }), get("/hello.txt", { "If-Match": HELLO })]),
    serves("etag off by the app's setting", {}, [get("/hello.txt")], { settings: { etag: false } }),
    serves("lastModified off", { lastModified: false }, [get("/hello.txt"), get("/hello.txt", { "If-Modified-Since": WHEN_TEXT }), get("/hello.txt", { "If-Unmodified-Since": WHEN_TEXT })]),
    serves("acceptRanges off", { acceptRanges: false }, [get("/ten.txt"), get("/ten.txt", { Range: "bytes=0-1" })]),
    serves("all of that off", { etag: false, lastModified: false, cacheControl: false, acceptRanges: false }, [get("/hello.txt"), head("/hello.txt")]),
    serves("setHeaders", (t) => ({
        setHeaders(res, path, stat) {
            t.log(`${path.replace(t.dir, "")} ${stat.size} ${stat.isFile()} ${res.headersSent} ${JSON.stringify(res.getHeaders())}`);
            res.setHeader("X-A", "1");
            res.set("Cache-Control", "no-store").type("text/x-mine");
        },
    }), [get("/hello.txt"), head("/hello.txt"), get("/"), get("/sub"), get("/missing.txt"), get("/ten.txt", { Range: "bytes=0-1" }), get("/hello.txt", { "If-None-Match": "*" }), get("/ten.txt", { Range: "bytes=99-" })]),
    serves("setHeaders that sets ETag and Last-Modified", { setHeaders: (res) => res.set({ ETag: '"mine"', "Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT", "Accept-Ranges": "none" }) }, [get("/hello.txt"), get("/hello.txt", { "If-None-Match": '"mine"' }), get("/hello.txt", { "If-Modified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }), get("/ten.txt", { Range: "bytes=0-1" })]),
    serves("unknown options", { nonsense: true, root: "/nowhere" }, [get("/hello.txt")]),
    serves("start and end", { start: 2, end: 5 }, [get("/ten.txt"), get("/ten.txt", { Range: "bytes=1-2" })]),
    serves("conditions", {}, [
        get("/hello.txt", { "If-None-Match": HELLO }),
        head("/hello.txt", { "If-None-Match": HELLO }),
        get("/hello.txt", { "If-None-Match": '"x"', "If-Modified-Since": WHEN_TEXT }),
        get("/hello.txt", { "If-Modified-Since": WHEN_TEXT }),
        get("/hello.txt", { "If-Modified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }),
        get("/hello.txt", { "If-Match": '"x"' }),
        get("/hello.txt", { "If-Unmodified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }),
        get("/hello.txt", { "If-None-Match": HELLO, "Cache-Control": "no-cache" }),
        get("/missing.txt", { "If-None-Match": "*" }),
        get("/sub", { "If-None-Match": "*" }),
    ]),
    serves("ranges", {}, ["bytes=0-4", "bytes=-3", "bytes=5-", "bytes=10-", "bytes=0-1,4-5", "bytes=4-1", "lines=0-1"].map((Range) => get("/ten.txt", { Range }))),
    serves("a range out of reach, without fallthrough", { fallthrough: false }, [get("/ten.txt", { Range: "bytes=10-" }), get("/ten.txt", { "If-Match": '"x"' })]),
    serves("several requests on a connection", {}, ["/hello.txt", "/large.bin", "/missing.txt", "/sub", "/ten.txt"].map((path) => get(path, { Connection: "keep-alive" }, { connection: "a" }))),
    serves("HTTP/1.0", {}, [get("/hello.txt", {}, { http: "1.0" }), get("/large.bin", {}, { http: "1.0" })]),
    serves("a status set before", {}, [get("/hello.txt"), get("/hello.txt", { "If-None-Match": HELLO }), get("/sub")], { before: (req, res, next) => void (res.status(404), next()) }),
    serves("headers set before", {}, [get("/hello.txt"), get("/sub"), get("/ten.txt", { Range: "bytes=99-" })], { before: (req, res, next) => void (res.set({ "Content-Type": "text/x", "Cache-Control": "private", ETag: '"b"', "Content-Language": "en" }), next()) }),
    serves("the head sent before", {}, [get("/hello.txt")], { before: (req, res, next) => void (res.write("a"), next()) }),
    serves("a rewritten url", {}, [get("/x"), get("/y")], { before: (req, res, next) => {
        if (req.url === "/x") req.url = "/hello.txt?q";
        else req.url = "/sub";
        next();
    } }),
    serves("a missing folder", {}, [get("/"), get("/hello.txt")], { folder: "nowhere" }),
    serves("a file for a folder", {}, [get("/"), get("/hello.txt")], { folder: "static/hello.txt" }),
    {
        name: "two folders, the second where the first falls through",
        app(express, t) {
            const app = express();
            app.use(express.static(`${t.dir}/static`), express.static(`${t.dir}/second`, { setHeaders: (res) => res.set("X-Second", "1") }));
            return app;
        },
        requests: ["/hello.txt", "/only.txt", "/none.txt", "/sub"].map((path) => get(path)),
    },
    {
        name: "static in a router in a mounted app",
        app(express, t) {
            const app = express();
            const inner = express();
            const router = express.Router();
            router.use("/s", express.static(`${t.dir}/static`));
            inner.use("/r", router);
            app.use("/i", inner);
            return app;
        },
        requests: ["/i/r/s", "/i/r/s/", "/i/r/s/sub", "/i/r/s/sub/", "/i/r/s/hello.txt", "/i/r/s/none"].map((path) => get(path)),
    },
    {
        name: "static called by hand",
        app(express, t) {
            const files = express.static(`${t.dir}/static`);
            const app = express();
            app.get("/f/*splat".slice(0, t.version === 5 ? undefined : 4), (req, res) => {
                req.url = "/hello.txt";
                files(req, res, () => res.end("next"));
            });
            t.log(`${files.name} ${files.length} ${typeof express.static} ${express.static.name} ${express.static.length} ${typeof express.static.mime}`);
            return app;
        },
        requests: [get("/f/x")],
    },
    {
        name: "errors of static by the default error handler",
        env: "production",
        app(express, t) {
            const app = express();
            app.use(express.static(`${t.dir}/static`, { fallthrough: false }));
            return app;
        },
        requests: [get("/missing.txt"), get("/ten.txt", { Range: "bytes=99-" }), get("/hello.txt", { "If-Match": '"x"' }), get("/%zz"), get("/.hidden")],
    },
    constructed("nothing"),
    constructed("null", null),
    constructed("an empty text", ""),
    constructed("a number", 5),
    constructed("an object", {}),
    constructed("setHeaders that is no function", "/x", { setHeaders: "x" }),
    constructed("options of another type", "/nowhere", "text"),
    constructed("null options", "/nowhere", null),
];
