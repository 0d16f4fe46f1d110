// res.set, get, append, type, vary, links, location, attachment, and what node:http's own header methods see of them.
import { answers, get, head, shown, told } from "../shapes.mjs";

const done = (name, act, ...more) => answers(name, (req, res, next, t) => {
    act(res, t, req);
    res.end("x");
}, ...more);
const tried = (name, ...acts) => answers(name, (req, res, next, t) => {
    for (const act of acts) {
        try {
            t.log(`returned ${act(res, req) === res ? "the response" : "something else"}`);
        } catch (error) {
            t.log(told(error));
        }
    }
    res.end("x");
});

export default [
    done("set of text", (res) => res.set("X-A", "1")),
    done("header is set", (res, t) => t.log(String(res.header === res.set)), [get()]),
    done("set of numbers, booleans, dates", (res) => res.set("X-N", 1.5).set("X-B", false).set("X-D", new Date(0)).set("X-Z", 0)),
    done("set of null and undefined", (res) => res.set("X-N", null).set("X-U", undefined)),
    done("set of an object value", (res) => res.set("X-O", { toString: () => "told" })),
    done("set of an array", (res, t) => {
        res.set("X-A", ["1", 2, true]);
        t.log(shown(res.get("X-A")));
    }),
    done("set of an empty array", (res) => res.set("X-A", [])),
    done("set of an object", (res) => res.set({ "X-A": "1", "x-b": [1, 2], "Content-Type": "text/plain" })),
    done("set of an object with inherited names", (res) => res.set(Object.create({ "X-Inherited": "1" }, { "X-Own": { value: "2", enumerable: true }, "X-Hidden": { value: "3" } }))),
    done("set of nothing, null, undefined, a number", (res) => res.set().set(null).set(undefined).set(5)),
    done("set of one name alone", (res) => res.set("X-A"), [get()]),
    done("set with three arguments", (res) => res.set("X-A", "1", "2")),
    done("set of a Map", (res) => res.set(new Map([["X-A", "1"]]))),
    done("set of an array of pairs", (res) => res.set([["X-A", "1"]])),
    done("set twice", (res) => res.set("X-A", "1").set("x-a", "2")),
    tried("set of a bad name", (res) => res.set("X A", "1"), (res) => res.set("", "1"), (res) => res.set("é", "1"), (res) => res.set(5, "1"), (res) => res.set(null, "1"), (res) => res.set(Symbol("s"), "1"), (res) => res.set("X:", "1")),
    tried("set of a bad value", (res) => res.set("X-A", "a\nb"), (res) => res.set("X-A", "a\r\nX-Evil: 1"), (res) => res.set("X-A", "☃"), (res) => res.set("X-A", "a\0"), (res) => res.set("X-A", ["ok", "no\n"]), (res) => res.set("X-A", Symbol("s")), (res) => res.set("X-A", Object.create(null))),
    done("set of latin1 and tabs", (res) => res.set("X-A", "caf\u00e9\t\u00ff")),
    tried("set of Content-Type to an array", (res) => res.set("Content-Type", ["text/a"]), (res) => res.set("content-type", []), (res) => res.set({ "CONTENT-TYPE": ["text/a", "text/b"] })),
    ...["html", "text/html", "text/html; charset=latin1", "text/html;charset=utf-16", "application/json", "image/svg+xml", "image/png", "text/", "text/x-unknown", "nonsense/nothing", "application/javascript", "text/plain; format=flowed", "TEXT/PLAIN", "", "/", "text/html; charset", "application/xml", "application/vnd.api+json", " text/html"].map((type) =>
        tried(`set of Content-Type to ${JSON.stringify(type)}`, (res) => res.set("Content-Type", type)),
    ),
    tried("set of Content-Type to false, null, a number", (res) => res.set("Content-Type", false), (res) => res.set("Content-Type", null), (res) => res.set("Content-Type", 5)),
    ...["html", ".html", "json", "txt", "png", "js", "css", "svg", "xml", "bin", "wasm", "md", "woff2", "mp4", "HTML", "tar.gz", "unknownext", "", ".", "text/html", "application/json; charset=utf-8", "a/b/c", "text/html; charset=latin1"].map((type) =>
        tried(`type(${JSON.stringify(type)})`, (res) => res.type(type)),
    ),
    tried("type of what is no text", (res) => res.type(), (res) => res.type(null), (res) => res.type(5), (res) => res.type(["html"])),
    done("contentType is type", (res, t) => t.log(String(res.contentType === res.type))),
    done("get of what is there and what is not", (res, t) => {
        res.set("X-A", "1").set("X-L", ["a", "b"]);
        res.setHeader("X-N", 5);
        t.log([res.get("x-a"), res.get("X-A"), res.get("X-L"), res.get("X-N"), res.get("x-none"), res.get("X-Powered-By")].map(shown).join(" "));
    }),
    tried("get of a bad name", (res) => res.get(), (res) => res.get(5), (res) => res.get("a b")),
    done("append to nothing", (res) => res.append("X-A", "1")),
    done("append to text", (res, t) => {
        res.append("X-A", "1").append("x-a", "2");
        t.log(shown(res.get("X-A")));
    }),
    done("append to an array", (res, t) => {
        res.set("X-A", ["1", "2"]).append("X-A", "3").append("X-A", ["4", 5]);
        t.log(shown(res.get("X-A")));
    }),
    done("append an array to text", (res, t) => {
        res.set("X-A", "1").append("X-A", ["2", "3"]);
        t.log(shown(res.get("X-A")));
    }),
    done("append to an empty text", (res) => res.set("X-A", "").append("X-A", "1")),
    done("append of Set-Cookie, Link, Warning", (res) => res.append("Set-Cookie", "a=1").append("Set-Cookie", "b=2").append("Link", ["<a>", "<b>"]).append("Warning", "199 x")),
    done("append after a cookie", (res) => res.cookie("a", "1").append("Set-Cookie", "b=2").cookie("c", "3")),
    tried("append of Content-Type", (res) => res.append("Content-Type", "text/plain"), (res) => res.append("Content-Type", "text/html")),
    tried("append of nothing", (res) => res.append(), (res) => res.append("X-A"), (res) => res.append("X-B", undefined), (res) => res.append("X-C", null)),
    tried("append of a bad value", (res) => res.append("X-A", "a\nb"), (res) => res.append("X A", "1")),

    done("vary of a name", (res) => res.vary("Origin")),
    done("vary of several names and again", (res) => res.vary("Origin").vary("origin").vary("User-Agent, Cookie").vary(["A", "b", "ORIGIN"])),
    done("vary of *", (res) => res.vary("Origin").vary("*").vary("Cookie")),
    done("vary to a Vary set before", (res) => res.set("Vary", "A, B").vary("b").vary("C")),
    done("vary to a Vary set as an array", (res) => {
        res.setHeader("Vary", ["A", "B"]);
        res.vary("C").vary("a");
    }),
    tried("vary of nothing", (res) => res.vary(), (res) => res.vary(""), (res) => res.vary([]), (res) => res.vary(null)),
    tried("vary of bad names", (res) => res.vary("a b"), (res) => res.vary("é"), (res) => res.vary(5), (res) => res.vary(["ok", "n\no"])),

    done("links", (res) => res.links({ next: "http://a/?p=2", last: "http://a/?p=5" })),
    done("links twice", (res) => res.links({ next: "/2" }).links({ prev: "/0" })),
    done("links of arrays", (res) => res.links({ pages: ["/1", "/2"], none: [], next: "/3" })),
    done("links of nothing", (res) => res.links({})),
    done("links of odd values", (res) => res.links({ a: undefined, b: null, c: 5, 'd"e': "<x>" })),
    tried("links of what is no object", (res) => res.links(), (res) => res.links(null), (res) => res.links("text"), (res) => res.links({ a: "b\nc" })),
    done("links to a Link set as an array", (res) => {
        res.setHeader("Link", ["<a>", "<b>"]);
        res.links({ next: "/2" });
    }),

    ...["/foo", "../up", "http://example.com/a b", "/é/☃?q=ü#ß", "/%20already%2", "/a%zz", "//double", "back", "", "javascript:alert(1)", '/"quoted"<>', "/a\r\nX-Evil: 1", "/\ud800lone", "http://user:pa ss@host:99/\\back", "/[brackets]|^`{}", "https://bücher.example/"].map((url) =>
        tried(`location(${JSON.stringify(url)})`, (res) => res.location(url)),
    ),
    tried("location of what is no text", (res) => res.location(), (res) => res.location(null), (res) => res.location(5), (res) => res.location(new URL("http://a/b c")), (res) => res.location({})),
    answers("location('back') with a Referer", (req, res) => res.location("back").end(), [get("/", { Referer: "http://from/a b" }), get("/", { Referrer: "/two-r" })]),

    done("attachment()", (res) => res.attachment()),
    ...["report.pdf", "path/to/page.html", "/etc/", "noext", "né☃.txt", "latin é.txt", 'quo"te\\.txt', "per%20cent.txt", "a;b=c.json", "", ".hidden", "a\nb.txt", "trailing.", "..", "x.unknownext", "ß".repeat(50), "win\\dir\\a.txt"].map((name) =>
        tried(`attachment(${JSON.stringify(name)})`, (res) => res.attachment(name)),
    ),
    tried("attachment of what is no text", (res) => res.attachment(null), (res) => res.attachment(5), (res) => res.attachment({})),
    tried("attachment after a type", (res) => res.type("json").attachment("a.html")),

    done("Node's header methods beside Express's", (res, t) => {
        res.set("X-A", "1").set("Content-Type", "text/html").append("Set-Cookie", "a=1").append("Set-Cookie", "b=2");
        t.log(JSON.stringify(res.getHeaders()));
        t.log(JSON.stringify(res.getHeaderNames()));
        t.log(`${res.hasHeader("x-A")} ${res.hasHeader("nope")}`);
        res.removeHeader("x-a");
        t.log(JSON.stringify(res.getRawHeaderNames?.()));
    }),
    done("x-powered-by is there before the first middleware, and can be removed", (res, t) => {
        t.log(JSON.stringify(res.getHeaders()));
        res.removeHeader("X-Powered-By");
    }),
    answers("x-powered-by off", (req, res) => res.end("x"), [get()], { settings: { "x-powered-by": false } }),
    answers("X-Powered-By replaced", (req, res) => res.set("x-powered-by", "Mine").end("x")),
    done("names keep their case as last set", (res) => {
        res.set("X-cAsE", "1");
        res.set("x-CaSe", "2");
    }),
    answers("set after the head was sent", (req, res, next, t) => {
        res.write("a");
        for (const act of [() => res.set("X-A", "1"), () => res.append("X-A", "1"), () => res.type("html"), () => res.vary("X"), () => res.cookie("a", "1"), () => res.links({ a: "b" }), () => res.location("/"), () => res.attachment("x"), () => res.removeHeader("X-Powered-By"), () => res.clearCookie("a"), () => res.set({})]) {
            try {
                act();
                t.log("no error");
            } catch (error) {
                t.log(told(error));
            }
        }
        t.log(`${res.headersSent} ${shown(res.get("X-Powered-By"))}`);
        res.end("b");
    }),
    answers("headersSent before and after", (req, res, next, t) => {
        t.log(String(res.headersSent));
        res.send("x");
        t.log(String(res.headersSent));
    }),
    answers("Date switched off and set", (req, res) => {
        if (req.path === "/off") res.sendDate = false;
        else res.set("X-Before", String(res.hasHeader("Date")));
        res.send("x");
    }, [get("/off"), get("/on")]),
    answers("Connection: close set", (req, res) => res.set("Connection", "close").send("x"), [get("/", { Connection: "keep-alive" })]),
    answers("Keep-Alive and Connection of a kept connection", (req, res) => res.send("x"), [get("/", { Connection: "keep-alive" }, { connection: "a" }), get("/", { Connection: "close" }, { connection: "a" })]),
    answers("many headers", (req, res) => {
        for (let at = 0; at < 200; at += 1) res.set(`X-${at}`, "v".repeat(at));
        res.send("x");
    }),
    answers("HEAD with headers of every kind", (req, res) => res.links({ a: "b" }).vary("X").location("/l").attachment("f.txt").cookie("c", "d").send("body"), [head()]),
];
