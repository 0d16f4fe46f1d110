// Bodies as they come over the wire: expectations, cut uploads, wrong lengths, readers and parsers together, query (4).
import { raw } from "../request.mjs";
import { parses, seen } from "../bodies.mjs";
import { answers, get, post, shown, tells, told } from "../shapes.mjs";

const JSON_TYPE = "application/json";
const expecting = (name, options, type = JSON_TYPE) => parses("json", name, options, [
    [raw`
        POST / HTTP/1.1
        Host: test
        Content-Type: ${type}
        Content-Length: 7
        Expect: 100-continue
        Connection: close
    `, { reply: "100 Continue" }, '{"a":1}'],
]);
/** Uploads that the client cuts, and what the parser says of it. */
const cut = (name, parser, request) => ({
    name: `cut upload: ${name}`,
    app(express, t) {
        const app = express();
        app.use((req, res, next) => {
            t.log("reading");
            res.on("close", () => t.log(`response closed ${res.writableFinished}`));
            next();
        });
        app.use(express[parser]({ limit: "1mb" }));
        app.use((req, res) => {
            t.log("parsed");
            res.end();
        });
        app.use((error, req, res, _next) => {
            t.log(`failed ${told(error)} ${req.aborted} ${req.destroyed} ${req.complete}`);
            res.status(error.status).end();
        });
        return app;
    },
    requests: [request],
    ends: "failed",
});

export default [
    expecting("Expect: 100-continue"),
    expecting("Expect: 100-continue with a body that is too large", { limit: 5 }),
    expecting("Expect: 100-continue that no parser wants", undefined, "text/plain"),
    parses("json", "another expectation", undefined, [raw`
        POST / HTTP/1.1
        Host: test
        Content-Type: application/json
        Content-Length: 2
        Expect: nonsense
        Connection: close

        {}`]),
    parses("json", "a body that comes in pieces", undefined, [[raw`
        POST / HTTP/1.1
        Host: test
        Content-Type: application/json
        Content-Length: 7
        Connection: close
    `, ...'{"a":1}']]),
    parses("json", "a chunked body with trailers", undefined, [raw`
        POST / HTTP/1.1
        Host: test
        Content-Type: application/json
        Transfer-Encoding: chunked
        Connection: close

        7;x=y
        {"a":1}
        0
        X-T: 1

    `], { after: (req, res) => res.json([req.body, req.trailers]) }),
    cut("json with a length", "json", { ...post(JSON_TYPE, `{"a":"${"x".repeat(1000)}"}`), abortAfter: 300, wait: "reading" }),
    cut("json in chunks", "json", { ...post(JSON_TYPE, ["{", `"a":"${"x".repeat(1000)}"}`]), abortAfter: 300, wait: "reading" }),
    cut("text", "text", { ...post("text/plain", "x".repeat(1000)), abortAfter: 300, wait: "reading" }),
    cut("raw", "raw", { ...post("application/octet-stream", "x".repeat(200_000)), abortAfter: 100_000, wait: "reading" }),
    cut("urlencoded", "urlencoded", { ...post("application/x-www-form-urlencoded", `a=${"x".repeat(1000)}`), abortAfter: 300, wait: "reading" }),
    cut("before a byte of the body", "json", { ...post(JSON_TYPE, `{"a":"${"x".repeat(1000)}"}`), abortAfter: 105, wait: "reading" }),
    {
        name: "a cut upload that nobody reads",
        app(express, t) {
            const app = express();
            app.use((req, _res) => {
                t.log("reading");
                req.on("aborted", () => t.log("aborted")).on("error", (error) => t.log(told(error))).on("close", () => t.log(`closed ${req.complete}`));
            });
            return app;
        },
        requests: [{ ...post("text/plain", "x".repeat(1000)), abortAfter: 300, wait: "reading" }],
        ends: "closed",
    },
    {
        name: "the default error handler answers before the body has come",
        env: "production",
        app(express) {
            const app = express();
            app.use(() => {
                throw new Error("early");
            });
            return app;
        },
        requests: [post("text/plain", "x".repeat(100_000)), post("text/plain", ["x".repeat(1000), "y".repeat(1000)])],
    },
    {
        name: "404 for a request with a body, then another on the connection",
        app: (express) => express(),
        requests: [post("text/plain", "x".repeat(1000), { Connection: "keep-alive" }, { connection: "a" }), get("/next", {}, { connection: "a" })],
    },
    answers("a body read by hand", (req, res) => {
        const parts = [];
        req.on("data", (part) => parts.push(part)).on("end", () => res.send(Buffer.concat(parts).toString()));
    }, [post("text/plain", "é"), post("text/plain", ["a", "b"]), post("text/plain", "")]),
    answers("a body read by hand after a turn", async (req, res) => {
        await new Promise((resolve) => void setImmediate(resolve));
        let all = "";
        for await (const part of req.setEncoding("utf8")) all += part;
        res.send(all);
    }, [post("text/plain", "é"), post("text/plain", ["a", "b"])]),
    answers("a body that is not read, answered at once", (req, res) => res.send("early"), [post("text/plain", "x".repeat(100_000), { Connection: "keep-alive" }, { connection: "a" }), get("/", {}, { connection: "a" })]),
    answers("the middleware functions on express", (req, res, next, t, express) => {
        t.log(["json", "raw", "static", "text", "urlencoded", "query"].map((name) => `${name} ${typeof express[name]} ${express[name]?.name} ${express[name]?.length}`).join("; "));
        t.log(Object.keys(express).sort().join());
        res.end();
    }),
    ...["bodyParser", "compress", "cookieSession", "session", "logger", "cookieParser", "favicon", "responseTime", "errorHandler", "timeout", "methodOverride", "vhost", "csrf", "directory", "limit", "multipart", "staticCache"].map((name) => ({
        name: `express.${name}, which was in Express 3`,
        app(express, t) {
            try {
                t.log(shown(express[name]));
            } catch (error) {
                t.log(told(error));
            }
        },
        requests: [],
    })),

    ...[undefined, { allowPrototypes: false }, { depth: 0 }, { plainObjects: true }, { comma: true }].map((options) => ({
        name: `express.query with ${JSON.stringify(options) ?? "nothing"}`,
        only: 4,
        app(express, t) {
            const app = express();
            app.disable("query parser");
            const router = express.Router();
            router.use((req, res, next) => {
                t.log(shown(req.query));
                delete req.query;
                next();
            }, express.query(options));
            router.use((req, res) => res.send(shown(req.query)));
            app.use(router);
            app.use(tells(t));
            return app;
        },
        requests: ["/", "/?a=1&b[c]=2&d=1&d=2", "/?toString=1&__proto__=2", "/?a=1,2", "/?%zz"].map((path) => get(path)),
    })),
    {
        name: "express.query with a function",
        only: 4,
        app(express, t) {
            const app = express();
            app.use((req, res, next) => {
                delete req.query;
                next();
            }, express.query((...args) => {
                t.log(args.map(shown).join(" "));
                return { own: true };
            }));
            app.use((req, res) => res.json(req.query));
            return app;
        },
        requests: [get("/?a=1"), get("/")],
    },
    {
        name: "express.query leaves a query that is there",
        only: 4,
        app(express) {
            const app = express();
            app.use(express.query({ comma: true }));
            app.use((req, res) => res.json(req.query));
            return app;
        },
        requests: [get("/?a=1,2")],
    },
    {
        name: "two parsers for one request, of different types",
        app(express) {
            const app = express();
            app.use(express.text({ type: "text/*" }), express.raw({ type: "image/*" }), express.urlencoded({ extended: false }), express.json());
            app.use((req, res) => res.send(seen(req)));
            return app;
        },
        requests: [post("text/plain", "t"), post("image/png", "i"), post("application/x-www-form-urlencoded", "a=1"), post(JSON_TYPE, "{}"), post("x/y", "z"), get()],
    },
];
