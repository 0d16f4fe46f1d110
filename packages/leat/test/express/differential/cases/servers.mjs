// Ways to serve an app that are not listen(): called by hand, with made-up messages, behind other listeners; and the context of calls.
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { IncomingMessage, ServerResponse, createServer } from "node:http";
import { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import { get, post, shown, tells, told } from "../shapes.mjs";

/** Calls the app with messages that no server made, as tools for tests and for functions as a service do. */
const called = (name, build, { method = "GET", url = "/", headers = {}, body } = {}) => ({
    name: `called with made messages: ${name}`,
    async app(express, t) {
        const app = express();
        build(app, t, express);
        const req = new IncomingMessage(new Socket());
        Object.assign(req, { method, url, headers });
        if (body !== undefined) req.push(body);
        req.push(null);
        const res = new ServerResponse(req);
        const parts = [];
        res.assignSocket(new Writable({ write(chunk, encoding, done) {
            parts.push(chunk);
            done();
        } }));
        app(req, res);
        await once(res, "finish");
        t.log(Buffer.concat(parts).toString().replace(/Date: [^\r]*/, "Date: now").split("\r\n").sort().join("|"));
        t.log(`${res.statusCode} ${express.response.isPrototypeOf(res)} ${express.request.isPrototypeOf(req)}`);
    },
    requests: [],
});
/** Calls the app with plain objects. */
const plain = (name, build, req, res = {}) => ({
    name: `called with plain objects: ${name}`,
    app(express, t) {
        const app = express();
        build(app, t, express);
        const logged = (method) => (...args) => void t.log(`${method} ${args.map(shown).join(" ")}`);
        try {
            app.handle({ headers: {}, ...req }, { setHeader: logged("setHeader"), getHeader() {}, end: logged("end"), ...res }, (error) => t.log(`done ${error ? told(error) : ""}`));
        } catch (error) {
            t.log(told(error));
        }
    },
    requests: [],
});
const served = (name, build, listen, requests = [get()], more = {}) => ({
    name,
    app(express, t) {
        const app = express();
        build(app, t, express);
        return app;
    },
    ...(listen === undefined ? {} : { listen }),
    requests,
    ...more,
});
const hello = (app) => void app.get("/", (req, res) => res.json({ hello: true }));
const context = new AsyncLocalStorage();

export default [
    called("json", hello),
    called("404", hello, { url: "/none" }),
    called("a body", (app, t, express) => app.use(express.json()).use((req, res) => res.json(req.body)), { method: "POST", headers: { "content-type": "application/json", "content-length": "7" }, body: '{"a":1}' }),
    called("a cookie and a redirect", (app) => app.use((req, res) => res.cookie("a", "1").redirect("/to"))),
    called("HEAD", hello, { method: "HEAD" }),
    called("a file", (app, t) => app.use((req, res) => res.sendFile(`${t.dir}/static/hello.txt`))),
    called("an error", (app, t) => app.use(() => {
        throw new Error("boom");
    }).use(tells(t))),
    called("a mounted app", (app, t, express) => app.use("/m", express().use((req, res) => res.json([req.baseUrl, req.url]))), { url: "/m/x" }),
    plain("a route", (app, _t) => app.get("/a", (req, res) => res.end(`hit ${req.url}`)), { method: "GET", url: "/a" }),
    plain("no route", (app) => app.get("/a", () => {}), { method: "GET", url: "/b" }),
    plain("no method", (app, _t) => app.use((req, res) => res.end(shown(req.method))), { url: "/a" }),
    plain("no url", (app, _t) => app.use((req, res) => res.end(shown(req.url))), { method: "GET" }),
    plain("json", (app) => app.use((req, res) => res.json({ a: 1 })), { method: "GET", url: "/" }),
    plain("an error", (app) => app.use((req, res, next) => next(new Error("x"))), { method: "GET", url: "/" }),
    {
        name: "an app with a done function",
        app(express, t) {
            const app = express();
            app.get("/a", (req, res) => res.end("app"));
            app.get("/e", () => {
                throw new Error("from the app");
            });
            return (req, res) => app(req, res, (error) => {
                t.log(error ? told(error) : "not found");
                res.end("outside");
            });
        },
        requests: ["/a", "/b", "/e"].map((path) => get(path)),
    },
    {
        name: "two apps by turns on one server",
        app(express) {
            const [one, two] = [express(), express()];
            one.set("json spaces", 2).use((req, res) => res.json([1, req.url]));
            two.disable("x-powered-by").use((req, res) => res.json([2, req.url]));
            return (req, res) => (req.url.startsWith("/1") ? one : two)(req, res);
        },
        requests: ["/1", "/2", "/1", "/2"].map((path) => get(path, { Connection: "keep-alive" }, { connection: "a" })),
    },
    {
        name: "an app behind a function that puts things on the messages",
        app(express, t) {
            const app = express();
            app.use((req, res) => {
                t.log(`${req.own} ${res.own} ${JSON.stringify(res.locals)} ${res.get("X-Before")}`);
                res.send("x");
            });
            return (req, res) => {
                req.own = 1;
                res.own = 2;
                res.locals = { early: true };
                res.setHeader("X-Before", "1");
                app(req, res);
            };
        },
    },
    {
        name: "an app within an app by a plain function, and the outer goes on",
        app(express, t) {
            const [outer, inner] = [express(), express()];
            inner.response.own = () => "inner";
            inner.use((req, res, next) => {
                t.log(`${res.own()} ${req.app === inner}`);
                next();
            });
            outer.use((req, res, next) => inner.handle(req, res, next));
            outer.use((req, res) => {
                t.log(`${typeof res.own} ${req.app === outer} ${req.app === inner}`);
                res.json({});
            });
            return outer;
        },
    },
    served("another listener on 'request' before the app", hello, (app, t) => {
        const server = app.listen(0, t.HOST);
        server.prependListener("request", (req, res) => {
            t.log(`first ${req.url}`);
            res.setHeader("X-First", "1");
        });
        return server;
    }),
    served("another listener on 'request' after the app", hello, (app, t) => app.listen(0, t.HOST).on("request", (req, res) => t.log(`second ${res.headersSent} ${typeof res.json}`))),
    served("the listeners of 'request'", hello, (app, t) => {
        const server = app.listen(0, t.HOST);
        t.log(`${server.listeners("request").length} ${server.listeners("request")[0] === app} ${server.listenerCount("request")}`);
        return server;
    }),
    served("the app is taken off the server and wrapped", hello, (app, t) => {
        const server = app.listen(0, t.HOST);
        const [own] = server.listeners("request");
        server.removeAllListeners("request");
        server.on("request", (req, res) => {
            t.log("wrapped");
            own.call(server, req, res);
        });
        return server;
    }),
    served("server.emit replaced", hello, (app, t) => {
        const server = app.listen(0, t.HOST);
        const { emit } = server;
        server.emit = function (event, ...args) {
            if (event === "request") t.log(`emit ${event} ${args.length}`);
            return emit.call(this, event, ...args);
        };
        return server;
    }),
    served("createServer of node:http", hello, (app, t) => createServer(app).listen(0, t.HOST)),
    served("createServer of node:http with a wrapper", hello, (app, t) => createServer((req, res) => app(req, res)).listen(0, t.HOST)),
    served("createServer of node:http with own classes", (app, t) => app.use((req, res) => {
        t.log(`${req.own} ${res.own} ${req.constructor.name} ${res.constructor.name}`);
        res.json({});
    }), (app, t) => {
        class OwnRequest extends IncomingMessage {
            own = "request";
        }
        class OwnResponse extends ServerResponse {
            own = "response";
        }
        return createServer({ IncomingMessage: OwnRequest, ServerResponse: OwnResponse }, app).listen(0, t.HOST);
    }),
    served("'checkContinue' hands to the app", (app, t, express) => app.use(express.json(), (req, res) => res.json(req.body)), (app, t) => app.listen(0, t.HOST).on("checkContinue", (req, res) => {
        t.log("checkContinue");
        res.writeContinue();
        app(req, res);
    }), [{ ...post("application/json", [{ reply: "100" }, '{"a":1}'], { Expect: "100-continue" }) }]),
    served("what listen gives and calls", hello, (app, t) => {
        const server = app.listen(0, t.HOST, (...args) => t.log(`listening ${args.length} ${server.listening}`));
        t.log(`${typeof server.close} ${typeof server.address} ${server.constructor.name}`);
        return server;
    }),
    served("listen on a port that is taken", hello, async (app, t) => {
        const first = app.listen(0, t.HOST);
        await once(first, "listening");
        await new Promise((resolve) => {
            const second = app.listen(first.address().port, t.HOST, (error) => {
                t.log(`called ${error?.code} ${second.listening}`);
                if (error) resolve();
            });
            second.on("error", (error) => {
                t.log(`event ${error.code}`);
                resolve();
            });
        });
        return first;
    }),

    served("async context through parsers, next and callbacks", (app, t, express) => {
        app.set("views", `${t.dir}/views`).engine("tmpl", (path, options, done) => void setImmediate(done, null, "rendered"));
        app.use((req, res, next) => context.run(req.url, next));
        app.use(express.json());
        app.use((req, res, next) => {
            t.log(`after json ${context.getStore()}`);
            next();
        });
        app.use((req, res) => {
            res.on("finish", () => t.log(`finish ${context.getStore()}`));
            if (req.path === "/render") res.render("plain.tmpl", {}, (error, text) => {
                t.log(`render ${context.getStore()}`);
                res.send(text);
            });
            else if (req.path === "/file") res.sendFile(`${t.dir}/static/hello.txt`, () => t.log(`file ${context.getStore()}`));
            else setImmediate(() => res.json(context.getStore()));
        });
    }, undefined, [post("application/json", "{}"), { ...post("application/json", "{}"), path: "/render" }, get("/file"), get("/render")]),
    served("async context by enterWith", (app, t) => {
        app.use((req, res, next) => {
            t.log(shown(context.getStore()));
            context.enterWith(req.url);
            next();
        });
        app.use((req, res) => setImmediate(() => res.json(context.getStore())));
    }, undefined, ["/1", "/2"].map((path) => get(path))),
    served("a response that a stream of another kind feeds", (app) => app.get("/", (req, res) => {
        const source = Readable.from((async function* pieces() {
            for (const piece of ["a", "b", "c"]) {
                await null;
                yield piece;
            }
        })());
        source.pipe(res.type("txt"));
    })),
];
