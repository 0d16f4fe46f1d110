// ETags by every setting, and 304 by every condition, for what res.send and res.json send.
import { WHEN_TEXT } from "../files.mjs";
import { answers, get, head, shown, told } from "../shapes.mjs";

const sends = (name, settings, requests = [get("/text"), get("/json"), get("/buffer"), get("/empty"), get("/long"), head("/text")]) => answers(`etag ${name}`, (req, res) => {
    if (req.path === "/text") res.send("hello é");
    else if (req.path === "/json") res.json({ a: 1 });
    else if (req.path === "/buffer") res.send(Buffer.from("bytes"));
    else if (req.path === "/empty") res.send("");
    else res.send("x".repeat(5000));
}, requests, { settings });
const WEAK = 'W/"5-qvTGHdzF6KLavt4PO0gs2a6pQ00"';
/** `hello` under conditions. */
const asked = (name, ...headers) => answers(`conditions: ${name}`, (req, res) => res.send("hello"), headers.map((one) => get("/", one)));

export default [
    sends("by default", {}),
    sends("weak", { etag: "weak" }),
    sends("strong", { etag: "strong" }),
    sends("true", { etag: true }),
    sends("false", { etag: false }),
    sends("by a function", { etag: (body) => `"${body.length}"` }),
    sends("by a function that gives nothing", { etag: () => undefined }),
    sends("by a function that gives text without quotes", { etag: () => "bare" }),
    sends("by a function that gives a number", { etag: () => 5 }),
    sends("by a function that gives bad text", { etag: () => "a\nb" }),
    sends("by a function that throws", {
        etag: () => {
            throw new Error("from the etag function");
        },
    }),
    answers("etag function's arguments", (req, res, next, t) => {
        req.app.set("etag", (...args) => {
            t.log(args.map(shown).join(" "));
            return '"x"';
        });
        if (req.path === "/text") res.send("é");
        else if (req.path === "/long") res.send("é".repeat(600));
        else if (req.path === "/buffer") res.send(Buffer.from("b"));
        else if (req.path === "/bytes") res.send(new Uint8Array([1]));
        else if (req.path === "/none") res.send();
        else res.json({ a: 1 });
    }, ["/text", "/long", "/buffer", "/bytes", "/none", "/json"].map((path) => get(path))),
    answers("etag set to what is unknown", (req, res, next, t) => {
        for (const value of ["nonsense", 5, null, undefined, {}]) {
            try {
                req.app.set("etag", value);
                t.log(`fine ${shown(req.app.get("etag"))} ${typeof req.app.get("etag fn")}`);
            } catch (error) {
                t.log(told(error));
            }
        }
        res.send("x");
    }),
    answers("'etag fn' set by itself", (req, res) => res.send("x"), [get()], { settings: { "etag fn": () => '"direct"' } }),
    answers("etag by enable and disable", (req, res, next, t) => {
        if (req.path === "/off") req.app.disable("etag");
        if (req.path === "/on") req.app.enable("etag");
        t.log(`${shown(req.app.get("etag"))} ${typeof req.app.get("etag fn")}`);
        res.send("x");
    }, [get("/"), get("/off"), get("/"), get("/on"), get("/")]),
    answers("ETag set before", (req, res) => res.set("ETag", '"mine"').send("hello"), [get(), get("/", { "If-None-Match": '"mine"' }), get("/", { "If-None-Match": 'W/"mine"' })]),
    answers("an empty ETag set before", (req, res) => res.set("ETag", "").send("hello")),
    answers("Last-Modified set before", (req, res) => res.set("Last-Modified", WHEN_TEXT).send("hello"), [
        get("/", { "If-Modified-Since": WHEN_TEXT }),
        get("/", { "If-Modified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }),
        get("/", { "If-Modified-Since": "Fri, 03 Jan 2020 00:00:00 GMT" }),
        get("/", { "If-Modified-Since": "nonsense" }),
        get("/", { "If-None-Match": WEAK, "If-Modified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }),
        get("/", { "If-None-Match": '"other"', "If-Modified-Since": WHEN_TEXT }),
    ]),
    answers("Last-Modified set before, no ETag", (req, res) => res.set("Last-Modified", WHEN_TEXT).send("hello"), [get("/", { "If-Modified-Since": WHEN_TEXT }), get("/", { "If-None-Match": "*" }), get("/", { "If-None-Match": '"x"', "If-Modified-Since": WHEN_TEXT })], { settings: { etag: false } }),
    asked("none", {}),
    asked("the weak tag", { "If-None-Match": WEAK }),
    asked("the same tag, strong", { "If-None-Match": WEAK.slice(2) }),
    asked("another tag", { "If-None-Match": '"other"' }),
    asked("any tag", { "If-None-Match": "*" }),
    asked("any tag and another", { "If-None-Match": '*, "x"' }),
    asked("lists of tags", { "If-None-Match": `"a", ${WEAK}` }, { "If-None-Match": `"a",${WEAK},"b"` }, { "If-None-Match": `  "a" ,  ${WEAK}  ` }, { "If-None-Match": '"a", "b"' }, { "If-None-Match": ["\"a\"", WEAK] }),
    asked("an empty tag", { "If-None-Match": "" }),
    asked("a tag without quotes", { "If-None-Match": "5-qvTGHdzF6KLavt4PO0gs2a6pQ00" }),
    asked("a tag in lower case w/", { "If-None-Match": WEAK.replace("W", "w") }),
    asked("Cache-Control: no-cache", { "If-None-Match": WEAK, "Cache-Control": "no-cache" }, { "If-None-Match": WEAK, "Cache-Control": "max-age=0, no-cache" }, { "If-None-Match": WEAK, "Cache-Control": "no-cache=x" }, { "If-None-Match": WEAK, "Cache-Control": "NO-CACHE" }, { "If-None-Match": WEAK, "Cache-Control": "no-cached" }, { "If-None-Match": WEAK, "Cache-Control": "max-age=0" }),
    asked("Pragma: no-cache", { "If-None-Match": WEAK, Pragma: "no-cache" }),
    asked("If-Match has no say", { "If-Match": '"other"' }, { "If-Unmodified-Since": "Wed, 01 Jan 2020 00:00:00 GMT" }),
    asked("Range has no say", { Range: "bytes=0-1" }),
    answers("304 by HEAD", (req, res) => res.send("hello"), [head("/", { "If-None-Match": WEAK })]),
    answers("no 304 by other methods", (req, res) => res.send("hello"), ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"].map((method) => ({ method, path: "/", headers: { "If-None-Match": WEAK } }))),
    ...[201, 204, 205, 299, 300, 302, 304, 400, 404, 500].map((code) => answers(`a condition with ${code}`, (req, res) => res.status(code).send("hello"), [get("/", { "If-None-Match": "*" })])),
    answers("a 304 keeps other headers", (req, res) => res.set({ "X-A": "1", "Cache-Control": "max-age=5", "Content-Encoding": "identity", "Content-Language": "en", Expires: WHEN_TEXT, Vary: "Accept" }).cookie("a", "1").send("hello"), [get("/", { "If-None-Match": WEAK })]),
    answers("a 304 of json, sendStatus and jsonp", (req, res) => {
        if (req.path === "/json") res.json({ a: 1 });
        else if (req.path === "/status") res.sendStatus(200);
        else res.jsonp({ a: 1 });
    }, ["/json", "/status", "/jsonp?callback=x"].map((path) => get(path, { "If-None-Match": "*" }))),
    answers("a 304 with a status message of its own", (req, res) => {
        res.statusMessage = "Mine";
        res.send("hello");
    }, [get("/", { "If-None-Match": WEAK })]),
    answers("a 304 on a kept connection", (req, res) => res.send("hello"), [1, 2, 3].map(() => get("/", { "If-None-Match": WEAK, Connection: "keep-alive" }, { connection: "a" }))),
    answers("req.fresh before and after the headers", (req, res, next, t) => {
        t.log(`${req.fresh} ${req.stale}`);
        res.set("ETag", '"x"');
        t.log(`${req.fresh} ${req.stale}`);
        res.status(404);
        t.log(`${req.fresh} ${req.stale}`);
        res.end();
    }, [get("/", { "If-None-Match": '"x"' }), head("/", { "If-None-Match": '"x"' }), { method: "POST", path: "/", headers: { "If-None-Match": '"x"' } }]),
    answers("a replaced req.fresh", (req, res) => {
        Object.defineProperty(req, "fresh", { value: true });
        res.send("hello");
    }),
    answers("req.method changed to HEAD and from HEAD", (req, res) => {
        req.method = req.method === "HEAD" ? "GET" : "HEAD";
        res.send("hello");
    }, [get(), head()]),
    answers("res.req replaced", (req, res) => {
        res.req = { method: "HEAD", fresh: true, headers: {} };
        res.send("hello");
    }),
    answers("res.app is looked up at each send", (req, res, next, t, express) => {
        const other = express();
        other.set("etag", false).set("json spaces", 3);
        Object.defineProperty(res, "app", { value: other });
        res.json({ a: 1 });
    }),
];
