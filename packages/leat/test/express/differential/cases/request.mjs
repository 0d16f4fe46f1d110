// What a request tells of itself: fields, content negotiation, types, ranges, queries, freshness.
import { attempt, built, shows } from "../built.mjs";

const get = (headers, path = "/") => ({ path, headers });
const post = (type, body = "x", headers = {}) => ({ method: "POST", path: "/", body, headers: { ...(type === null ? {} : { "Content-Type": type }), ...headers } });

/** The same question to the request under each of many values of one field. */
const under = (name, field, values, select, more = {}) => shows(name, select, values.map((value) => get(value === null ? {} : { [field]: value })), more);

const ACCEPTS = [null, "", "*/*", "text/html", "application/json", "text/*", "text/html;q=0.5, application/json", "text/html, application/json;q=0.9, */*;q=0.1", "text/plain;q=0", "text/html;level=1", "text/html; level=1; q=0.3, text/html;q=0.7", "nonsense", "text", "*", "application/vnd.api+json", "application/*;q=0.2, image/*;q=0.8", "text/html;q=abc", "TEXT/HTML", "a/b,c/d,,e/f", "*/*;q=0"];
const ENCODINGS = [null, "", "gzip", "gzip, deflate", "*", "identity;q=0", "gzip;q=0.5, deflate;q=0.8", "br", "gzip;q=0", "*;q=0", "GZIP"];
const LANGUAGES = [null, "", "en", "en-US, en;q=0.8, de;q=0.5", "*", "de", "de-AT", "en;q=0", "EN-us", "xx"];
const CHARSETS = [null, "", "utf-8", "utf-8;q=0.5, iso-8859-1", "*", "utf-8;q=0", "UTF-8"];

const query = (name, parser, more = {}) => shows(`query: ${name}`, (req) => req.query, [
    "/", "/?", "/?a", "/?a=", "/?=a", "/?a=1", "/?a=1&b=2", "/?a=1&a=2", "/?a[]=1&a[]=2", "/?a[b]=1", "/?a[b][c]=1&a[b][d]=2", "/?a[0]=x&a[1]=y", "/?a[5]=x", "/?a[100]=x", "/?a.b=1",
    "/?a=b%20c+d", "/?a=%zz", "/?%61=1", "/?a=%E2%82%AC", "/?a=%FF", "/?a;b=1", "/?a=1;b=2", "/?a==b", "/?a&&b", "/?__proto__=1", "/?__proto__[x]=1&constructor[prototype][y]=1", "/?toString=1&hasOwnProperty=2", "/?a[b", "/?a]b=1", "/?[]=1", "/?[a]=1", "/?a=1?b=2", "/?a[b][c][d][e][f][g][h]=1", "/?a=1,2,3", "/?utf8=%E2%9C%93&a=%26", "/?a=null&b=undefined",
], { setup: (app) => parser !== undefined && app.set("query parser", parser), ...more });

export default [
    shows("get and header", (req) => ["host", "Host", "x-a", "X-B", "referer", "referrer", "Referrer", "content-type", "cookie", "none", "set-cookie"].map((name) => [name, req.get(name), req.header(name)]), [
        get({ "X-A": "1", "x-b": ["2", "3"], Referer: "there", Cookie: ["a=1", "b=2"] }),
        get({ Referrer: "there" }),
        get({ Referrer: "one", Referer: "two" }),
        get({ Host: "other:80", "X-A": "" }),
        get([["X-A", "1"], ["x-a", "2"], ["X-a", ""]]),
    ]),
    built("get without a name, and of what is no text", (app, t) => {
        app.use((req, res) => {
            for (const [what, name] of Object.entries({ undefined, null: null, empty: "", number: 5, object: {}, list: ["host"] })) attempt(t, what, () => req.get(name));
            res.end();
        });
    }),
    under("accepts of a list of types", "Accept", ACCEPTS, (req) => [req.accepts(), req.accepts("html"), req.accepts("json"), req.accepts("html", "json"), req.accepts(["json", "html"]), req.accepts("text/html", "text/plain"), req.accepts("image/png"), req.accepts("text/*"), req.accepts("*/*"), req.accepts([]), req.accepts("nonsense"), req.accepts("json", "nonsense", "text/html;level=1")]),
    under("acceptsEncodings", "Accept-Encoding", ENCODINGS, (req) => [req.acceptsEncodings(), req.acceptsEncodings("gzip"), req.acceptsEncodings("gzip", "deflate"), req.acceptsEncodings(["deflate", "identity"]), req.acceptsEncodings("none")]),
    under("acceptsLanguages", "Accept-Language", LANGUAGES, (req) => [req.acceptsLanguages(), req.acceptsLanguages("en"), req.acceptsLanguages("de", "en"), req.acceptsLanguages(["en-US", "fr"]), req.acceptsLanguages("zz")]),
    under("acceptsCharsets", "Accept-Charset", CHARSETS, (req) => [req.acceptsCharsets(), req.acceptsCharsets("utf-8"), req.acceptsCharsets("utf-8", "iso-8859-1"), req.acceptsCharsets(["us-ascii"])]),
    under("the singular forms of 4", "Accept-Encoding", [null, "gzip"], (req) => [req.acceptsEncoding?.("gzip"), req.acceptsCharset?.("utf-8"), req.acceptsLanguage?.("en")], { only: 4 }),
    shows("the singular forms are gone in 5", (req) => [typeof req.acceptsEncoding, typeof req.acceptsCharset, typeof req.acceptsLanguage, typeof req.param], ["/"], { only: 5 }),
    shows("is", (req) => [req.is("json"), req.is("html"), req.is("text/*"), req.is("*/*"), req.is("application/json"), req.is(["html", "json"]), req.is("html", "urlencoded", "multipart"), req.is("+json"), req.is("*/json"), req.is(), req.is("nonsense"), req.is("application/*", "text/html"), req.is("bin")], [
        post("application/json"), post("application/json; charset=utf-8"), post("text/html"), post("TEXT/HTML"), post("application/vnd.api+json"), post("application/x-www-form-urlencoded"), post("multipart/form-data; boundary=x"), post("nonsense"), post(""), post(null), post("application/json", ""), post("application/json;"), post("application/octet-stream"),
        get({ "Content-Type": "application/json" }), get({ "Content-Type": "application/json", "Content-Length": "0" }), { method: "POST", path: "/", body: [], headers: { "Content-Type": "application/json" } }, get({}),
    ]),
    under("range", "Range", [null, "", "bytes=0-49", "bytes=0-", "bytes=-50", "bytes=50-20", "bytes=0-0,50-99,-1", "bytes=0-500", "bytes=200-", "items=0-5", "bytes", "bytes=abc", "bytes=0-4,90-99,5-75,100-199,101-102", "bytes=-500", "bytes= 0-1 , 3-4", "BYTES=0-1"], (req) => {
        const told = (ranges) => (Array.isArray(ranges) ? { type: ranges.type, ranges: [...ranges] } : ranges);
        return [told(req.range(100)), told(req.range(100, { combine: true })), told(req.range(0)), told(req.range(Infinity))];
    }),
    query("as it comes", undefined),
    query("simple", "simple"),
    query("extended", "extended"),
    query("true", true),
    query("false", false),
    query("a function", (text) => ({ given: text ?? null })),
    shows("query: a parser that fails", (req) => req.query, ["/?a=1", "/"], { setup: (app) => app.set("query parser", () => {
        throw Object.assign(new Error("no query"), { status: 400 });
    }) }),
    shows("query: a parser that returns nothing", (req) => req.query, ["/?a=1"], { setup: (app) => app.set("query parser", () => undefined) }),
    shows("query: many pairs", (req) => [Object.keys(req.query).length, req.query.p0, req.query.p999, req.query.p1001], [`/?${Array.from({ length: 1100 }, (_, at) => `p${at}=${at}`).join("&")}`]),
    shows("query: a long list", (req) => [Array.isArray(req.query.a), req.query.a.length], [`/?${Array.from({ length: 50 }, (_, at) => `a=${at}`).join("&")}`, `/?${Array.from({ length: 30 }, (_, at) => `a[${at}]=${at}`).join("&")}`].map((path) => path), { setup: (app) => app.set("query parser", "extended") }),
    shows("query: the same object each time", (req) => {
        const first = req.query;
        first.added = "mine";
        return [first === req.query, req.query.added, Object.getPrototypeOf(first) === null];
    }, ["/?a=1"]),
    built("query: assigned", (app, t) => {
        app.use((req, res, next) => {
            attempt(t, "assign", () => {
                "use strict";
                req.query = { mine: 1 };
                return JSON.stringify(req.query);
            });
            Object.defineProperty(req, "query", { value: { defined: 1 }, configurable: true });
            next();
        });
        app.use((req, res) => res.json(req.query));
    }, ["/?a=1"], { throws: true }),
    shows("query: after the url was rewritten", (req) => {
        const before = { ...req.query };
        req.url = "/?b=2";
        return [before, { ...req.query }];
    }, ["/?a=1"]),
    built("query: the parser changed while serving", (app) => {
        app.get("/set/:value", (req, res) => {
            app.set("query parser", req.params.value);
            res.end();
        });
        app.use((req, res) => res.json(req.query));
    }, ["/?a[b]=1", "/set/extended", "/?a[b]=1", "/set/simple", "/?a[b]=1"]),
    shows("path", (req) => [req.path, req.url, req.originalUrl], ["/", "/a/b?c=d", "/a%20b", "/a//b/", "/?", "//host/path", "http://test/abs?q"]),
    shows("xhr", (req) => req.xhr, [get({}), get({ "X-Requested-With": "XMLHttpRequest" }), get({ "X-Requested-With": "xmlhttprequest" }), get({ "X-Requested-With": "other" }), get({ "X-Requested-With": "" })]),
    built("fresh and stale", (app, t) => {
        app.use((req, res) => {
            if (req.query.etag !== undefined) res.set("ETag", req.query.etag);
            if (req.query.modified !== undefined) res.set("Last-Modified", req.query.modified);
            if (req.query.status !== undefined) res.status(Number(req.query.status));
            t.log(req.fresh, req.stale);
            res.end("body");
        });
    }, ["GET", "HEAD", "POST"].flatMap((method) => [
        ["/", {}], ['/?etag="a"', { "If-None-Match": '"a"' }], ['/?etag="a"', { "If-None-Match": '"b"' }], ['/?etag="a"', { "If-None-Match": 'W/"a"' }], ['/?etag=W/"a"', { "If-None-Match": '"x", "a"' }], ['/?etag="a"', { "If-None-Match": "*" }], ['/?etag="a"', { "If-None-Match": '"a"', "Cache-Control": "no-cache" }],
        ["/?modified=Wed,%2021%20Oct%202015%2007:28:00%20GMT", { "If-Modified-Since": "Wed, 21 Oct 2015 07:28:00 GMT" }], ["/?modified=Wed,%2021%20Oct%202015%2007:28:01%20GMT", { "If-Modified-Since": "Wed, 21 Oct 2015 07:28:00 GMT" }], ["/?modified=nonsense", { "If-Modified-Since": "nonsense" }],
        ['/?etag="a"&status=500', { "If-None-Match": '"a"' }], ['/?etag="a"&status=304', { "If-None-Match": '"a"' }], ['/?etag="a"&status=299', { "If-None-Match": '"a"' }], ['/?etag="a"', { "If-None-Match": "" }], ["/", { "If-None-Match": "*" }],
    ].map(([path, headers]) => ({ method, path: path.replaceAll('"', "%22"), headers })))),
    built("send answers 304 where it is fresh", (app) => {
        app.get("/text", (req, res) => res.send("text"));
        app.get("/json", (req, res) => res.json({ a: 1 }));
        app.get("/own", (req, res) => res.set("ETag", '"own"').set("Content-Type", "text/plain").set("X-Kept", "yes").send("own"));
        app.get("/status", (req, res) => res.status(201).send("text"));
    }, [get({}, "/text"), get({ "If-None-Match": 'W/"4-NywEFIS7dlCCf/YfQvQjE8W0BhE"' }, "/text"), get({ "If-None-Match": "*" }, "/json"), get({ "If-None-Match": "*", "Cache-Control": "no-cache" }, "/json"), get({ "If-None-Match": '"own"' }, "/own"), { ...get({ "If-None-Match": '"own"' }, "/own"), method: "HEAD" }, get({ "If-None-Match": "*" }, "/status"), get({ "If-None-Match": "*" }, "/none")]),
    shows("cookies without a parser", (req) => [req.cookies, req.signedCookies, req.secret, req.headers.cookie], [get({ Cookie: "a=1; b=2" })]),
    built("cookies with cookie-parser", (app, t) => {
        app.use(t.require("cookie-parser")("secret"));
        app.use((req, res) => res.cookie("s", "v", { signed: true }).json([req.cookies, req.signedCookies, req.secret]));
    }, [get({ Cookie: "a=1; b=j:{\"x\":1}; c=%20" }), get({ Cookie: "s=s%3Av.DlYMIQ0MbtGBBp5TLoIBNHlmpYBPV7DN2tzMvJo%2Bm6o; t=s%3Av.wrong" }), get({})]),
    shows("body without a parser", (req) => [typeof req.body, "body" in req], [post("application/json", "{}")]),
    shows("what a request holds of its message", (req) => [req.method, req.httpVersion, req.headers, req.rawHeaders, req.complete, req.aborted, req.socket.remoteAddress, req.connection === req.socket, req.statusCode, typeof req.setTimeout, typeof req.pipe], [
        { path: "/", headers: { "X-Mixed-Case": "1", Accept: ["a/b", "c/d"], "Set-Cookie": ["a", "b"] } },
        { path: "/", http: "1.0" },
        { method: "POST", path: "/", body: "abc" },
    ]),
    shows("param of 4", (req) => [req.param("a"), req.param("b"), req.param("c", "default"), req.param("toString")], ["/?a=1"], { only: 4 }),
    built("res.vary, res.format and req.accepts together", (app) => {
        app.get("/", (req, res) => res.format({ text: () => res.send("text"), html: () => res.send("<p>"), json: () => res.json({}) }));
    }, ["text/plain", "text/html", "application/json", "image/png", "*/*", "text/*;q=0.1, application/json", ""].map((accept) => get({ Accept: accept }))),
];
