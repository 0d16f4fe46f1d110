// res.json and res.jsonp with their settings.
import { answers, get, head, shown } from "../shapes.mjs";

const json = (name, value, settings = {}, requests = [get()]) => answers(`json ${name}`, (req, res) => res.json(typeof value === "function" ? value() : value), requests, { settings });
const jsonp = (name, value, path, settings = {}, headers = {}) => answers(`jsonp ${name}`, (req, res) => res.jsonp(value), [get(path, headers)], { settings });

const RISKY = { tag: "<script>&'\u2028\u2029</script>", "<k&>": 1 };

export default [
    answers("json()", (req, res) => res.json()),
    json("null", null),
    json("undefined", undefined),
    json("a string", "text"),
    json("an empty string", ""),
    json("a string with quotes and controls", 'a"b\\c\n\u0001\u007f'),
    json("a number", 12.5),
    json("-0, NaN and Infinity", [-0, NaN, Infinity]),
    json("true", true),
    json("an array", [1, [2], {}]),
    json("an object", { b: 1, a: { c: null, d: undefined, e: () => 1, f: Symbol("x") } }),
    json("keys that are numbers", { 2: "b", 1: "a", x: 0 }),
    json("a Date", { at: new Date(86_400_000) }),
    json("an invalid Date", { at: new Date(NaN) }),
    json("a Buffer", Buffer.from("hi")),
    json("a Map and a Set", { m: new Map([[1, 2]]), s: new Set([1]) }),
    json("toJSON that returns undefined", { toJSON: () => undefined }),
    json("toJSON with its key", { k: { toJSON: (key) => `key ${key}` } }),
    json("a function", () => () => 1),
    json("a Symbol", () => Symbol("x")),
    json("a BigInt", 10n),
    json("a circle", () => {
        const circle = { name: "c" };
        circle.self = circle;
        return circle;
    }),
    json("a getter that throws", {
        get boom() {
            throw new TypeError("from the getter");
        },
    }),
    json("a proxy", new Proxy({ a: 1 }, { ownKeys: () => ["a"], get: (target, name) => (name === "toJSON" ? undefined : "proxied") })),
    json("unicode", { s: "é☃𝒳\ud800" }),
    json("100,000 bytes", { s: "x".repeat(100_000) }),
    json("an array of 1,000 objects", Array.from({ length: 1000 }, (_, id) => ({ id, name: `n${id}` }))),
    json("a deep object", () => {
        let deep = {};
        for (let level = 0; level < 500; level += 1) deep = { deep };
        return deep;
    }),
    json("with 'json escape'", RISKY, { "json escape": true }),
    json("without 'json escape'", RISKY),
    json("with 'json escape', undefined", undefined, { "json escape": true }),
    json("with 'json spaces' 2", { a: [1, { b: 2 }], c: {} }, { "json spaces": 2 }),
    json("with 'json spaces' text", { a: [1] }, { "json spaces": "--" }),
    json("with 'json spaces' 0", { a: [1] }, { "json spaces": 0 }),
    json("with 'json spaces' 20", { a: 1 }, { "json spaces": 20 }),
    json("with 'json replacer' function", { a: 1, b: "x" }, { "json replacer": (key, value) => (typeof value === "number" ? `n${value}` : value) }),
    json("with 'json replacer' array", { a: 1, b: { a: 2, c: 3 }, c: 4 }, { "json replacer": ["a", "b"] }),
    json("with 'json replacer' that throws", { a: 1 }, {
        "json replacer": () => {
            throw new Error("from the replacer");
        },
    }),
    json("with 'json replacer' to undefined", { a: 1 }, { "json replacer": () => undefined }),
    json("with replacer, spaces and escape", { a: "<", b: 2, c: 3 }, { "json replacer": ["a", "b"], "json spaces": 1, "json escape": true }),
    answers("settings changed between requests", (req, res) => {
        if (req.path === "/2") req.app.set("json spaces", 4);
        if (req.path === "/3") req.app.set("json escape", true);
        if (req.path === "/4") req.app.set("json spaces", undefined);
        res.json({ a: "<b>" });
    }, [get("/1"), get("/2"), get("/3"), get("/4")]),
    answers("json under a type of its own", (req, res) => res.type("application/vnd.api+json").json({ a: 1 })),
    answers("json under a type with parameters", (req, res) => {
        res.setHeader("Content-Type", 'application/json; profile="x y"; charset=latin1');
        res.json({ a: "é" });
    }),
    answers("json under an empty type", (req, res) => {
        res.setHeader("Content-Type", "");
        res.json({ a: 1 });
    }),
    answers("json(status, object)", (req, res) => res.json(201, { a: 1 })),
    answers("json(object, status)", (req, res) => res.json({ a: 1 }, 201)),
    answers("json(number, number)", (req, res) => res.json(200, 201)),
    answers("json to HEAD", (req, res) => res.json({ a: 1 }), [head()]),
    answers("json in HTTP/1.0", (req, res) => res.json({ a: 1 }), [get("/", {}, { http: "1.0" })]),
    answers("json returns the response", (req, res, next, t) => t.log(String(res.json(1) === res))),
    answers("json after json", (req, res) => {
        res.json(1);
        res.json(2);
    }),
    answers("json with a status and headers", (req, res) => res.status(418).set("X-A", "1").json({ a: 1 })),
    answers("json calls a replaced send", (req, res, next, t) => {
        const { send } = res;
        res.send = function (body) {
            t.log(`send ${shown(body)}`);
            return send.call(this, body);
        };
        res.json({ a: 1 });
    }),
    answers("send of an object calls a replaced json, which calls send", (req, res, next, t) => {
        const { send, json: own } = res;
        res.send = function (...args) {
            t.log(`send ${args.map(shown).join()}`);
            return send.apply(this, args);
        };
        res.json = function (...args) {
            t.log(`json ${args.map(shown).join()}`);
            return own.apply(this, args);
        };
        res.send({ a: 1 });
    }),
    answers("json calls replaced methods, those that change something", (req, res, next, t) => {
        for (const name of ["end", "set", "setHeader", "writeHead", "write", "status", "type"]) {
            const own = res[name];
            res[name] = function (...args) {
                t.log(`${name}(${args.map(shown).join(", ")})`);
                return own.apply(this, args);
            };
        }
        res.json({ a: 1 });
    }),
    answers("send calls replaced methods, those that change something", (req, res, next, t) => {
        for (const name of ["end", "set", "setHeader", "writeHead", "removeHeader", "status", "type"]) {
            const own = res[name];
            res[name] = function (...args) {
                t.log(`${name}(${args.map(shown).join(", ")})`);
                return own.apply(this, args);
            };
        }
        res.send("text");
    }),
    answers("json with a Content-Type removed in a replaced writeHead", (req, res) => {
        const { writeHead } = res;
        res.writeHead = function (...args) {
            this.removeHeader("Content-Type");
            this.setHeader("X-Late", "1");
            return writeHead.apply(this, args);
        };
        res.json({ a: 1 });
    }),

    jsonp("without a callback", { a: 1 }, "/"),
    jsonp("with a callback", { a: 1 }, "/?callback=cb"),
    jsonp("with an empty callback", { a: 1 }, "/?callback="),
    jsonp("with two callbacks", { a: 1 }, "/?callback=one&callback=two"),
    jsonp("with an array callback", { a: 1 }, "/?callback[]=one&callback[]=two"),
    jsonp("with an object callback", { a: 1 }, "/?callback[x]=one"),
    jsonp("with an array callback, extended", { a: 1 }, "/?callback[]=one&callback[]=two", { "query parser": "extended" }),
    jsonp("with an object callback, extended", { a: 1 }, "/?callback[x]=one", { "query parser": "extended" }),
    jsonp("with a nested array callback, extended", { a: 1 }, "/?callback[0][0]=one", { "query parser": "extended" }),
    jsonp("with a callback of dots and brackets", { a: 1 }, "/?callback=a.b[0].$c_"),
    jsonp("with an injected callback", { a: 1 }, "/?callback=%3Cscript%3Ealert(1)%3C/script%3E;//"),
    jsonp("with a callback of nothing that may stay", { a: 1 }, "/?callback=();%20"),
    jsonp("with a callback beyond ASCII", { a: 1 }, "/?callback=%C3%A9t%C3%A9"),
    jsonp("with another callback name", { a: 1 }, "/?cb=mine&callback=other", { "jsonp callback name": "cb" }),
    jsonp("with a callback named __proto__", { a: 1 }, "/?__proto__=x", { "jsonp callback name": "__proto__" }),
    jsonp("with 'query parser' off", { a: 1 }, "/?callback=cb", { "query parser": false }),
    jsonp("null", null, "/?callback=cb"),
    jsonp("undefined", undefined, "/?callback=cb"),
    jsonp("undefined without a callback", undefined, "/"),
    jsonp("a string", "x", "/?callback=cb"),
    jsonp("a number", 200, "/?callback=cb"),
    jsonp("separators of lines and paragraphs", "\u2028\u2029", "/?callback=cb"),
    jsonp("separators without a callback", "\u2028\u2029", "/"),
    jsonp("with all settings", RISKY, "/?callback=cb", { "json escape": true, "json spaces": 2, "json replacer": ["tag"] }),
    answers("jsonp under a type of its own", (req, res) => res.type("application/vnd.x+json").jsonp({ a: 1 }), [get("/"), get("/?callback=cb")]),
    answers("jsonp(status, object)", (req, res) => res.jsonp(201, { a: 1 }), [get("/?callback=cb")]),
    answers("jsonp(object, status)", (req, res) => res.jsonp({ a: 1 }, 201), [get("/?callback=cb")]),
    answers("jsonp to HEAD", (req, res) => res.jsonp({ a: 1 }), [head("/?callback=cb")]),
    answers("jsonp of a circle", (req, res) => {
        const circle = {};
        circle.self = circle;
        res.jsonp(circle);
    }, [get("/?callback=cb")]),
    answers("jsonp with a replaced req.query", (req, res) => {
        Object.defineProperty(req, "query", { value: { callback: "own" } });
        res.jsonp(1);
    }, [get("/?callback=cb")]),
    answers("jsonp with an ETag asked for again", (req, res) => res.jsonp({ a: 1 }), [get("/?callback=cb", { "If-None-Match": "*" })]),
];
