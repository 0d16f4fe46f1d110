// res.cookie and res.clearCookie with all options.
import { answers, get, told } from "../shapes.mjs";

const FAR = new Date(Date.UTC(2100, 0, 2, 3, 4, 5));
const cookie = (name, args) => answers(`cookie ${name}`, (req, res) => res.cookie(...args).end("x"));
const clear = (name, args) => answers(`clearCookie ${name}`, (req, res) => res.clearCookie(...args).end("x"));
/**
 * Attributes without Expires, whose time is the clock's, and how far away that time is, to ten seconds. Expires is in
 * whole seconds, so an age must lie a second away from where rounding changes: not at 5, 15 or 25 s.
 */
const timed = (name, options, args = ["n", "v"]) => answers(`cookie ${name}`, (req, res) => {
    const before = Date.now();
    res.cookie(...args, options);
    const line = String(res.get("Set-Cookie"));
    const expires = /; Expires=([^;]*)/.exec(line)?.[1];
    const away = expires === undefined ? "none" : Number.isNaN(Date.parse(expires)) ? expires : Math.round((Date.parse(expires) - before) / 10_000) * 10;
    res.removeHeader("Set-Cookie");
    res.set("X-Cookie", line.replace(/; Expires=[^;]*/, "; Expires=…".replace("…", "(time)"))).set("X-Away", String(away)).end("x");
});

export default [
    cookie("text", ["name", "value"]),
    cookie("empty", ["name", ""]),
    cookie("of a number, a boolean", ["name", 5]),
    cookie("of undefined", ["name", undefined]),
    cookie("of nothing", ["name"]),
    cookie("of null", ["name", null]),
    cookie("of an object", ["name", { a: 1, b: "ü;," }]),
    cookie("of an array", ["name", [1, 2]]),
    cookie("of a Date", ["name", new Date(0)]),
    cookie("of odd characters", ["name", 'a b;c,d=e"f\\g%é☃']),
    cookie("of a lone surrogate", ["name", "\ud800"]),
    cookie("of a function", ["name", () => 1]),
    cookie("of a BigInt", ["name", 5n]),
    cookie("of a circle", ["name", (() => {
        const circle = {};
        circle.self = circle;
        return circle;
    })()]),
    cookie("with a bad name", ["na me", "v"]),
    cookie("with an empty name", ["", "v"]),
    cookie("with a name beyond ASCII", ["é", "v"]),
    cookie("with a name of marks", ["__Host-a.b!#$%&'*+-^`|~", "v"]),
    cookie("with an equals sign in its name", ["a=b", "v"]),
    cookie("with a name that is no text", [undefined, "v"]),
    ...[
        { path: "/admin" },
        { path: "" },
        { path: null },
        { path: "/a;b" },
        { path: "/é" },
        { path: 5 },
        { domain: "example.com" },
        { domain: ".example.com" },
        { domain: "exa mple" },
        { domain: "a;b" },
        { domain: "" },
        { secure: true },
        { secure: 0 },
        { httpOnly: true },
        { httpOnly: "yes" },
        { sameSite: true },
        { sameSite: "lax" },
        { sameSite: "Strict" },
        { sameSite: "none" },
        { sameSite: "bad" },
        { sameSite: false },
        { sameSite: 1 },
        { priority: "low" },
        { priority: "MEDIUM" },
        { priority: "high" },
        { priority: "bad" },
        { priority: 1 },
        { partitioned: true },
        { partitioned: "x" },
        { expires: FAR },
        { expires: "soon" },
        { expires: 5 },
        { expires: null },
        { expires: undefined },
        { expires: false },
        { encode: null },
        { encode: "text" },
        { maxAge: null },
        { maxAge: undefined },
        { unknown: "option" },
        { domain: "example.com", path: "/p", secure: true, httpOnly: true, sameSite: "strict", priority: "high", partitioned: true, expires: FAR },
        null,
        undefined,
        "text",
    ].map((options) => cookie(`with ${JSON.stringify(options, (key, value) => (value === undefined ? "undefined" : value)) ?? "undefined options"}`, ["n", "v", options])),
    cookie("with an invalid Date", ["n", "v", { expires: new Date(NaN) }]),
    cookie("with its own encode", ["n", "a b", { encode: (value) => value.replace(" ", "_") }]),
    cookie("with an encode to what may not be", ["n", "a", { encode: () => "a;b\n" }]),
    cookie("with an encode that throws", ["n", "a", { encode: () => {
        throw new Error("from encode");
    } }]),
    ...[900_000, 1, 0, -1000, 1500, 1999.9, "60000", "abc", NaN, Infinity, true, [], {}].map((maxAge) => timed(`with maxAge ${typeof maxAge === "number" ? maxAge : JSON.stringify(maxAge)}`, { maxAge })),
    timed("with maxAge and expires", { maxAge: 60_000, expires: FAR }),
    timed("with a maxAge as a Date", { maxAge: new Date(60_000) }),
    answers("options are not changed", (req, res) => {
        const options = Object.freeze({ maxAge: 5000, httpOnly: true });
        res.cookie("a", "1", options).clearCookie("a", options);
        res.removeHeader("Set-Cookie");
        res.end(JSON.stringify(options));
    }),
    answers("options that are inherited", (req, res) => res.cookie("a", "1", Object.create({ httpOnly: true, path: "/p" })).end()),
    answers("several cookies, in order", (req, res) => res.cookie("a", "1").cookie("b", "2").cookie("a", "3").send("x")),
    answers("a signed cookie without a secret", (req, res) => res.cookie("a", "1", { signed: true }).end()),
    answers("a signed cookie", (req, res) => {
        req.secret = "keyboard cat";
        res.cookie("a", "tobi", { signed: true }).cookie("b", { j: 1 }, { signed: true }).cookie("c", "", { signed: true }).end();
    }),
    answers("a signed cookie with a secret that is none", (req, res) => {
        req.secret = 5;
        res.cookie("a", "tobi", { signed: true }).end();
    }),
    answers("a signed cookie with several secrets", (req, res) => {
        req.secret = ["one", "two"];
        res.cookie("a", "tobi", { signed: true }).end();
    }),
    answers("cookie returns the response", (req, res) => res.end(`${res.cookie("a", "1") === res} ${res.clearCookie("a") === res}`)),
    answers("cookie calls a replaced append", (req, res, next, t) => {
        const { append } = res;
        res.append = function (...args) {
            t.log(args.join(" "));
            return append.apply(this, args);
        };
        res.cookie("a", "1").clearCookie("b").end();
    }),
    answers("clearCookie calls a replaced cookie", (req, res, next, t) => {
        const { cookie: own } = res;
        res.cookie = function (...args) {
            t.log(JSON.stringify(args));
            return own.apply(this, args);
        };
        res.clearCookie("b", { path: "/p" }).end();
    }),
    answers("Set-Cookie set by hand, then a cookie", (req, res) => {
        res.setHeader("Set-Cookie", "by=hand");
        res.cookie("a", "1").end();
    }),
    answers("a cookie after the response", (req, res, next, t) => {
        res.end("x");
        try {
            res.cookie("a", "1");
        } catch (error) {
            t.log(told(error));
        }
    }),

    clear("alone", ["n"]),
    clear("with a path", ["n", { path: "/admin" }]),
    clear("with attributes", ["n", { domain: "example.com", secure: true, httpOnly: true, sameSite: "lax", partitioned: true, priority: "low" }]),
    clear("with null", ["n", null]),
    clear("with expires", ["n", { expires: FAR }]),
    clear("with a path of null", ["n", { path: null }]),
    clear("with a bad name", ["a b"]),
    timed("cleared with maxAge", { maxAge: 60_000 }, ["n", ""]),
    answers("clearCookie with maxAge", (req, res) => {
        res.clearCookie("n", { maxAge: 60_000 });
        const line = String(res.get("Set-Cookie"));
        res.removeHeader("Set-Cookie");
        res.end(line.includes("1970") ? line : line.replace(/Expires=[^;]*/, "Expires=(time)"));
    }),
    answers("clearCookie signed, without a secret", (req, res) => res.clearCookie("n", { signed: true }).end()),
    answers("clearCookie signed", (req, res) => {
        req.secret = "s";
        res.clearCookie("n", { signed: true }).end();
    }),
    answers("clearCookie after cookie", (req, res) => res.cookie("a", "1").clearCookie("a").end(), [get()]),
];
