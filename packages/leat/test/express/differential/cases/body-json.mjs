// express.json: every option and error.
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { constructs, parses, seen } from "../bodies.mjs";
import { get, post, shown, told } from "../shapes.mjs";

const JSON_TYPE = "application/json";
const sent = (body, headers, more) => post(JSON_TYPE, body, headers, more);
const parse = (name, options, requests, more) => parses("json", name, options, requests, more);
const each = (bodies, headers) => bodies.map((body) => sent(body, headers));
const utf16 = (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
const OBJECT = '{"a":1}';

export default [
    parse("objects and arrays", undefined, each(['{"a":{"b":[1,null,true,"x"]}}', "[]", "{}", "[1,2]", ' \t\r\n{"a":1} ', '{"é":"☃"}', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"constructor":{"prototype":1}}', '"\\u0000"'.replace(/"/g, '"'), '{"n":1e400,"m":-0,"big":12345678901234567890}'])),
    parse("strict: values that are no object", undefined, each(["5", '"text"', "true", "null", "x", " 5", "-1", "\u00a0{}", "\ufeff{}", ";", "'a'", "<xml>", "#", "5#6", "\0"])),
    parse("strict off", { strict: false }, each(["5", '"text"', "true", "null", "x", "", " ", "[1]", "undefined"])),
    parse("syntax errors", undefined, each(['{"a":', "{", "[1,", '{"a" 1}', "{a:1}", '{"a":1}}', "{} x", '{"a":\n}', "[01]", '{"a":"\n"}', `{"a":${"[".repeat(100)}`, "{'a':1}"])),
    parse("empty bodies", undefined, [sent(""), sent(" "), sent("\n"), sent(undefined), sent([]), sent(undefined, { "Content-Length": "0" }), get("/", { "Content-Type": JSON_TYPE })]),
    parse("GET and DELETE with a body", undefined, [{ method: "GET", path: "/", headers: { "Content-Type": JSON_TYPE }, body: OBJECT }, { method: "DELETE", path: "/", headers: { "Content-Type": JSON_TYPE }, body: OBJECT }]),
    parse("chunked", undefined, [sent(['{"a"', ":1}"]), sent([OBJECT]), sent(["{"])]),
    parse("a large object", { limit: "1mb" }, [sent(JSON.stringify({ s: "x".repeat(200_000) })), sent([JSON.stringify({ s: "x".repeat(200_000) })])], { after: (req, res) => res.send(String(req.body.s.length)) }),
    parse("several on a connection", undefined, [1, 2, 3].map((n) => sent(`{"n":${n}}`, { Connection: "keep-alive" }, { connection: "a" }))),
    parse("a failure, then another on the connection", undefined, [sent("{", { Connection: "keep-alive" }, { connection: "a" }), sent(OBJECT, {}, { connection: "a" })]),
    parse("HTTP/1.0", undefined, [sent(OBJECT, {}, { http: "1.0" })]),

    parse("types", undefined, ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", "application/json;x=y", "application/vnd.api+json", "text/json", "text/plain", "json", "application/jsonp", "", "application/json, text/plain", "*/*", "application/*", " application/json ", "application/json; charset", "application/json;"].map((type) => post(type, OBJECT))),
    parse("no type", undefined, [post(undefined, OBJECT)]),
    ...[["text", "text/plain", ["text/plain", JSON_TYPE]], ["*/*", "*/*", ["anything/at-all", "", undefined]], ["*/json", "*/json", ["text/json", "x/json", "x/y+json"]], ["+json", "+json", ["application/vnd.api+json", JSON_TYPE]], ["extension", "json", [JSON_TYPE, "text/json"]], ["list", ["text/plain", "application/*+json"], ["text/plain", "application/x+json", JSON_TYPE]], ["empty list", [], [JSON_TYPE, "text/plain"]], ["empty text", "", [JSON_TYPE]], ["null", null, [JSON_TYPE]], ["number", 5, [JSON_TYPE]], ["false", false, [JSON_TYPE, "text/plain"]]].map(([name, type, types]) => parse(`type ${name}`, { type }, types.map((one) => post(one, OBJECT)))),
    parse("type function", (t) => ({ type: (req) => {
        t.log(`asked ${req.headers["content-type"]}`);
        return req.headers["x-json"];
    } }), [post("text/plain", OBJECT, { "X-Json": "1" }), post("text/plain", OBJECT), get()]),
    parse("type function that throws", { type: () => {
        throw new Error("from type");
    } }, [sent(OBJECT)]),

    ...["10b", 10, "1kb", "0.01kb", 0, "0", "7", "8b"].map((limit) => parse(`limit ${JSON.stringify(limit)}`, { limit }, [sent(OBJECT), sent('{"a":12345}'), sent('{"a":123456}'), sent([OBJECT]), sent(['{"a":', "1234567890}"])])),
    parse("limit null", { limit: null }, [sent(OBJECT)]),
    parse("limit by default", undefined, [sent(`{"a":"${"x".repeat(102_400 - 8)}"}`), sent(`{"a":"${"x".repeat(102_400 - 7)}"}`), sent([`{"a":"${"x".repeat(102_400 - 7)}"}`])], { after: (req, res) => res.send(String(req.body.a.length)) }),
    parse("over the limit on a kept connection", { limit: 10 }, [sent('{"a":1234567890}', { Connection: "keep-alive" }, { connection: "a" }), sent(OBJECT, { Connection: "keep-alive" }, { connection: "a" }), sent(["{", `"a":"${"x".repeat(50_000)}"}`], { Connection: "keep-alive" }, { connection: "a" }), sent(OBJECT, {}, { connection: "a" })]),
    parse("limit counts inflated bytes", { limit: 100 }, [sent(gzipSync(`{"a":"${"x".repeat(50)}"}`), { "Content-Encoding": "gzip" }), sent(gzipSync(`{"a":"${"x".repeat(5000)}"}`), { "Content-Encoding": "gzip" }), sent(deflateSync(`{"a":"${"x".repeat(5000)}"}`), { "Content-Encoding": "deflate" })]),

    parse("gzip, deflate, identity", undefined, [sent(gzipSync(OBJECT), { "Content-Encoding": "gzip" }), sent(deflateSync(OBJECT), { "Content-Encoding": "deflate" }), sent(OBJECT, { "Content-Encoding": "identity" }), sent(gzipSync(OBJECT), { "Content-Encoding": "GZIP" }), sent(OBJECT, { "Content-Encoding": "" }), sent([gzipSync(OBJECT)], { "Content-Encoding": "gzip" })]),
    parse("codings that are unknown", undefined, ["compress", "x-gzip", "nonsense", "gzip, deflate", "bzip2"].map((coding) => sent(OBJECT, { "Content-Encoding": coding }))),
    parse("codings that lie", undefined, [sent(OBJECT, { "Content-Encoding": "gzip" }), sent(OBJECT, { "Content-Encoding": "deflate" }), sent(deflateRawSync(OBJECT), { "Content-Encoding": "deflate" }), sent(gzipSync(OBJECT).subarray(0, 15), { "Content-Encoding": "gzip" }), sent("", { "Content-Encoding": "gzip" }), sent(Buffer.concat([gzipSync(OBJECT), Buffer.from("more")]), { "Content-Encoding": "gzip" })]),
    parse("inflate off", { inflate: false }, [sent(gzipSync(OBJECT), { "Content-Encoding": "gzip" }), sent(OBJECT, { "Content-Encoding": "identity" }), sent(OBJECT), sent(OBJECT, { "Content-Encoding": "nonsense" })]),
    parse("inflate 0", { inflate: 0 }, [sent(gzipSync(OBJECT), { "Content-Encoding": "gzip" })]),

    parse("charsets", undefined, ["utf-8", "UTF-8", "utf8", "iso-8859-1", "us-ascii", "utf-7", "utf-nonsense", "x", "", '"utf-8"'].map((charset) => post(`application/json; charset=${charset}`, OBJECT))),
    parse("charsets of more bytes", undefined, [post("application/json; charset=utf-16", utf16('{"é":"☃"}')), post("application/json; charset=utf-16le", Buffer.from('{"é":1}', "utf16le")), post("application/json; charset=utf-32", Buffer.from(OBJECT))]),
    parse("bytes that are no UTF-8", undefined, [sent(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), sent(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(OBJECT)]))]),

    parse("reviver", (t) => ({ reviver(key, value) {
        t.log(`${shown(key)} ${shown(value)}`);
        return typeof value === "number" ? value * 2 : value;
    } }), [sent('{"a":1,"b":[2]}')]),
    parse("reviver that throws", { reviver() {
        throw new TypeError("from the reviver");
    } }, [sent(OBJECT)]),
    parse("reviver that is no function", { reviver: "x" }, [sent(OBJECT)]),

    parse("verify", (t) => ({ verify: (req, res, buffer, encoding) => t.log(`${shown(buffer)} ${encoding} ${req.url} ${res.headersSent}`) }), [sent(OBJECT), sent("{"), sent(""), sent(gzipSync(OBJECT), { "Content-Encoding": "gzip" }), post("text/plain", "x"), post("application/json; charset=utf-16", utf16("{}")), post("application/json; charset=utf-nonsense", OBJECT)]),
    parse("verify that throws", { verify() {
        throw new Error("not verified");
    } }, [sent(OBJECT)]),
    parse("verify that throws with a status and a type", { verify() {
        throw Object.assign(new Error("mine"), { status: 401, type: "my.type" });
    } }, [sent(OBJECT)]),
    parse("verify that throws no Error", { verify() {
        throw "text";  
    } }, [sent(OBJECT)]),
    parse("verify that returns a promise", { verify: async () => false }, [sent(OBJECT)]),
    parse("the error's body", undefined, [sent("{"), sent("5")], { after: (req, res) => res.end("no error"), harness: { app(express, t) {
        const app = express();
        app.use(express.json());
        app.use((error, req, res, _next) => res.send(`${told(error)} ${shown(error.body)} ${Object.keys(error).sort().join()} ${error.constructor.name} ${error instanceof SyntaxError} ${seen(req)}`));
        t.log("built");
        return app;
    } } }),

    parse("two parsers", undefined, [sent(OBJECT), post("text/plain", "x")], { before: (req, res, next) => next(), harness: { app(express) {
        const app = express();
        app.use(express.json(), express.json({ reviver: () => "second" }), express.text());
        app.use((req, res) => res.send(seen(req)));
        return app;
    } } }),
    parse("a body set before", undefined, [sent(OBJECT), post("text/plain", "x"), get()], { before: (req, res, next) => {
        req.body = { before: true };
        next();
    } }),
    parse("a body flagged as read before", undefined, [sent(OBJECT)], { before: (req, res, next) => {
        req._body = true;
        next();
    } }),
    parse("a body that was read before", undefined, [sent(OBJECT)], { before: (req, res, next) => void req.on("end", () => next()).resume() }),
    parse("a body that is read at the same time", undefined, [sent(OBJECT)], { before: (req, res, next, t) => {
        req.on("data", (chunk) => t.log(`also ${chunk}`));
        next();
    } }),
    parse("a request with an encoding set", undefined, [sent(OBJECT), sent("")], { before: (req, res, next) => {
        req.setEncoding("utf8");
        next();
    } }),
    parse("after the parser the request has ended", undefined, [sent(OBJECT), get()], { after: (req, res, next, t) => {
        t.log(`${req.complete} ${req.readableEnded} ${req.readable}`);
        res.end();
    } }),
    parse("headers that are seen", undefined, [sent(OBJECT, { "Content-Length": null, "Transfer-Encoding": null }), sent([OBJECT])], { after: (req, res) => res.json(Object.keys(req.headers).sort()) }),
    parse("next is called once, asynchronously or not", undefined, [sent(OBJECT), get()], { before: (req, res, next, t) => {
        next();
        t.log("after next");
    }, after: (req, res, next, t) => {
        t.log("handler");
        res.end();
    } }),
    parse("a handler that throws behind the parser", undefined, [sent(OBJECT)], { after: () => {
        throw new Error("from the handler");
    } }),
    parse("an async handler behind the parser", undefined, [sent(OBJECT)], { after: async (req, res) => {
        await null;
        res.json(req.body);
    } }),
    {
        name: "by the default error handler",
        env: "production",
        app(express) {
            const app = express();
            app.use(express.json({ limit: 20 }));
            app.use((req, res) => res.json(req.body));
            return app;
        },
        requests: [sent("{"), sent(`{"a":"${"x".repeat(50)}"}`), post("application/json; charset=x", OBJECT), sent(OBJECT, { "Content-Encoding": "nonsense" }), sent(OBJECT)],
    },
    {
        name: "for one route alone",
        app(express) {
            const app = express();
            app.post("/json", express.json(), (req, res) => res.send(seen(req)));
            app.use((req, res) => res.send(seen(req)));
            return app;
        },
        requests: [{ ...sent(OBJECT), path: "/json" }, sent(OBJECT)],
    },
    {
        name: "a custom status by the error's type",
        app(express) {
            const app = express();
            app.use(express.json({ limit: 5 }));
            app.use((error, req, res, _next) => res.status(error.type === "entity.too.large" ? 418 : 400).send(error.type));
            return app;
        },
        requests: [sent(OBJECT), sent("{")],
    },
    ...constructs("json", [["nothing", undefined], ["null", null], ["limit of nonsense", { limit: "nonsense" }], ["limit NaN", { limit: NaN }], ["limit negative", { limit: -1 }], ["limit true", { limit: true }], ["limit an object", { limit: {} }], ["verify no function", { verify: "x" }], ["verify true", { verify: true }], ["verify null", { verify: null }], ["options of another type", "text"], ["unknown options", { nonsense: 1 }], ["defaultCharset", { defaultCharset: "x" }]]),
];
