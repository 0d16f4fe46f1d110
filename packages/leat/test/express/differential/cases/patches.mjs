// What tools and middleware patch: prototypes of messages, fields of the request, and what Express does with them then.
import { IncomingMessage, ServerResponse } from "node:http";
import { answers, get, head, post, shown, tells, told } from "../shapes.mjs";

/** How one answers, by path. */
function reply(req, res, next) {
    if (req.path === "/json") res.json({ a: 1 });
    else if (req.path === "/send") res.send("text");
    else if (req.path === "/status") res.sendStatus(201);
    else if (req.path === "/end") res.end("end");
    else if (req.path === "/write") {
        res.write("one");
        res.end("two");
    } else if (req.path === "/redirect") res.redirect("/to");
    else if (req.path === "/cookie") res.cookie("a", "1").end();
    else next();
}
const PATHS = ["/json", "/send", "/status", "/end", "/write", "/redirect", "/cookie", "/none"];
const REQUESTS = PATHS.map((path) => get(path, { Accept: "text/html" }));

/** A method of `app.response` that logs and goes on, put there before the first request or after one. */
const patched = (name) => [false, true].map((late) => ({
    name: `app.response.${name} patched ${late ? "after a request" : "before all"}`,
    app(express, t) {
        const app = express();
        const patch = () => {
            const own = app.response[name];
            app.response[name] = function (...args) {
                t.log(`${name}(${args.map(shown).join(", ")})`);
                return own.apply(this, args);
            };
        };
        if (!late) patch();
        app.get("/patch", (req, res) => {
            patch();
            res.end();
        });
        app.use(reply);
        app.use(tells(t));
        return app;
    },
    requests: late ? [get("/json"), get("/patch"), ...REQUESTS] : REQUESTS,
}));

/** A method of node:http's own prototype, patched while a request is served, and put back by the last. */
const global = (prototype, name, requests = REQUESTS) => ({
    name: `${prototype === ServerResponse.prototype ? "ServerResponse" : "IncomingMessage"}.prototype.${name} patched`,
    app(express, t) {
        const own = Object.getOwnPropertyDescriptor(prototype, name);
        const inherited = prototype[name];
        prototype[name] = function (...args) {
            // Others in this process have messages too.
            if ((this.req ?? this).headers?.host === "test") t.log(`${name} ${args.length > 0 ? shown(args[0]) : ""}`);
            return inherited.apply(this, args);
        };
        const app = express();
        app.get("/restore", (req, res) => {
            if (own === undefined) delete prototype[name];
            else Object.defineProperty(prototype, name, own);
            res.end();
        });
        app.use(reply);
        return app;
    },
    requests: [...requests, get("/restore")],
});

/** A field of the request that a middleware changes. */
const edited = (name, edit, handler, requests) => ({
    name: `edited: ${name}`,
    app(express, t) {
        const app = express();
        app.use((req, res, next) => {
            edit(req, res, t);
            next();
        });
        app.use(express.json({ limit: 50 }), express.urlencoded({ extended: true }));
        app.use((req, res, next) => handler(req, res, next, t));
        app.use(tells(t));
        return app;
    },
    requests,
});

export default [
    ...["json", "send", "end", "write", "writeHead", "setHeader", "set", "status", "type", "append", "location", "format", "sendStatus", "removeHeader", "vary", "contentType", "header"].flatMap(patched),
    ...["get", "getHeader"].map((name) => answers(`app.response.${name} that answers otherwise`, (req, res) => {
        const { response } = req.app;
        const own = response[name];
        response[name] = function (field) {
            return field === "ETag" || field === "etag" ? '"there"' : own.call(this, field);
        };
        if (req.path === "/json") res.json({ a: 1 });
        else res.send("x");
    }, [get("/json"), get("/send")])),
    ...["setHeader", "removeHeader", "writeHead", "write", "end", "flushHeaders"].map((name) => global(ServerResponse.prototype, name)),

    edited("If-None-Match added", (req) => void (req.headers["if-none-match"] = "*"), (req, res) => res.send("x"), [get(), head()]),
    edited("If-None-Match deleted", (req) => void delete req.headers["if-none-match"], (req, res) => res.send("x"), [get("/", { "If-None-Match": "*" })]),
    edited("Cache-Control deleted", (req) => void delete req.headers["cache-control"], (req, res) => res.send("x"), [get("/", { "If-None-Match": "*", "Cache-Control": "no-cache" })]),
    edited("headers replaced", (req) => void (req.headers = { "if-none-match": "*", accept: "text/html" }), (req, res) => res.format({ json: () => res.json(1), html: () => res.send("html") }), [get("/", { Accept: "application/json" })]),
    edited("headers without a prototype", (req) => void (req.headers = Object.assign(Object.create(null), req.headers)), (req, res) => res.json([req.get("X-A"), req.get("host")]), [get("/", { "X-A": "1" })]),
    edited("headers frozen", (req) => void Object.freeze(req.headers), (req, res) => res.json(req.headers), [get("/", { "X-A": "1" })]),
    edited("Accept changed", (req) => void (req.headers.accept = "application/json"), (req, res) => res.format({ html: () => res.send("html"), json: () => res.json(1) }), [get("/", { Accept: "text/html" })]),
    edited("Content-Type changed", (req) => void (req.headers["content-type"] = "application/json"), (req, res) => res.send(shown(req.body)), [post("text/plain", '{"a":1}')]),
    edited("Content-Length changed", (req) => void (req.headers["content-length"] = "99"), (req, res) => res.send(shown(req.body)), [post("application/json", '{"a":1}')]),
    edited("Content-Length deleted", (req) => void delete req.headers["content-length"], (req, res) => res.send(shown(req.body)), [post("application/json", '{"a":1}')]),
    edited("Transfer-Encoding added", (req) => void (req.headers["transfer-encoding"] = "chunked"), (req, res) => res.send(shown(req.body)), [post("application/json", '{"a":1}'), get("/", { "Content-Type": "application/json" })]),
    edited("Host changed", (req) => void (req.headers.host = "other.example:99"), (req, res) => res.json([req.hostname, req.host, req.subdomains]), [get()]),
    edited("Range changed", (req) => void (req.headers.range = "bytes=1-2"), (req, res, next, t) => res.sendFile(`${t.dir}/static/ten.txt`), [get(), get("/", { Range: "bytes=5-" })]),
    edited("Referer changed", (req) => void (req.headers.referer = "/from"), (req, res) => res.json([req.get("Referrer"), req.get("referer")]), [get(), get("/", { Referer: "/sent", Referrer: "/other" })]),
    edited("method changed", (req) => void (req.method = "DELETE"), (req, res) => res.send(req.method), [get(), head(), post("text/plain", "x")]),
    edited("url changed", (req) => void (req.url = "/other?x=1"), (req, res) => res.json([req.url, req.path, req.query, req.originalUrl]), [get("/a?b=c")]),
    edited("url changed after the query was read", (req, res, t) => {
        t.log(JSON.stringify(req.query));
        req.url = "/other?x=1";
    }, (req, res) => res.json([req.path, req.query]), [get("/a?b=c")]),
    edited("query replaced", (req, res, t) => {
        try {
            req.query = { own: true };
            t.log(JSON.stringify(req.query));
        } catch (error) {
            t.log(told(error));
        }
    }, (req, res) => res.json(req.query), [get("/?a=1")]),
    edited("query replaced by defineProperty", (req) => void Object.defineProperty(req, "query", { value: { own: true }, writable: true, configurable: true, enumerable: true }), (req, res) => res.json(req.query), [get("/?a=1")]),
    edited("query changed in place", (req) => void (req.query.added = 1), (req, res) => res.json(req.query), [get("/?a=1")]),
    edited("body set", (req) => void (req.body = { own: true }), (req, res) => res.send(shown(req.body)), [post("application/json", '{"a":1}'), get()]),
    edited("ip, protocol, hostname set", (req, res, t) => {
        for (const name of ["ip", "protocol", "hostname", "host", "secure", "path", "xhr", "fresh", "ips", "subdomains"]) {
            try {
                req[name] = "own";
                t.log(`${name} ${shown(req[name])}`);
            } catch (error) {
                t.log(told(error));
            }
        }
    }, (req, res) => res.json([req.protocol, req.hostname, req.path]), [get("/p")]),
    edited("rawHeaders changed", (req) => void req.rawHeaders.push("X-Added", "1"), (req, res) => res.json([req.get("X-Added") ?? null, req.rawHeaders.slice(-2)]), [get()]),
    edited("httpVersion changed", (req) => void (req.httpVersion = "1.0"), (req, res) => res.send(req.httpVersion), [get()]),
    edited("res.statusCode and header changed", (req, res) => {
        res.statusCode = 202;
        res.setHeader("X-Early", "1");
    }, (req, res) => res.json({}), [get()]),
    edited("res.req's url changed", (req, res) => void (res.req.url = "/through"), (req, res) => res.send(req.url), [get()]),
    edited("socket's facts", (req) => void Object.defineProperty(req.socket, "encrypted", { configurable: true, value: true }), (req, res) => res.json([req.secure, req.protocol]), [get()]),
    edited("remoteAddress", (req) => void Object.defineProperty(req.socket, "remoteAddress", { configurable: true, value: "1.2.3.4" }), (req, res) => res.json([req.ip, req.ips]), [get()]),

    answers("own properties put on the response hide methods", (req, res, next, t) => {
        res.status = (code) => {
            t.log(`own status ${code}`);
            res.statusCode = code;
            return res;
        };
        res.set = (...args) => {
            t.log(`own set ${args.map(shown).join(" ")}`);
            res.setHeader(...args);
            return res;
        };
        res.sendStatus(404);
    }),
    answers("getters put on app.request", (req, res) => {
        const { request } = req.app;
        Object.defineProperty(request, "fresh", { configurable: true, get: () => true });
        res.send("always 304");
    }),
    answers("app.request.get replaced", (req, res) => {
        req.app.request.get = (name) => (name === "Referrer" ? "/from-get" : "text/html");
        res.json([req.get("x"), req.header("x") ?? null, req.accepts("json")]);
    }),
    answers("app.request.accepts replaced", (req, res) => {
        req.app.request.accepts = () => "json";
        res.format({ html: () => res.send("html"), json: () => res.json(1) });
    }, [get("/", { Accept: "text/html" })]),
    {
        name: "constructors of the messages",
        app(express, t) {
            const app = express();
            app.use((req, res) => {
                t.log(`${req instanceof IncomingMessage} ${res instanceof ServerResponse}`);
                t.log(`${IncomingMessage.prototype.isPrototypeOf(app.request)} ${ServerResponse.prototype.isPrototypeOf(app.response)}`);
                t.log(`${Object.getPrototypeOf(app.request) === express.request} ${Object.getPrototypeOf(app.response) === express.response}`);
                t.log(`${Object.getOwnPropertyNames(app.request).join()} ${Object.getOwnPropertyNames(app.response).join()} ${app.request.app === app}`);
                res.end();
            });
            return app;
        },
    },
];
