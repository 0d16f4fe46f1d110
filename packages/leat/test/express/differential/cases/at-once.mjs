// Many requests at once: each has its own params, locals, headers, body, context and errors. The program is its own client.
import { AsyncLocalStorage } from "node:async_hooks";
import { Agent, request } from "node:http";

const COUNT = 60;
const SOCKETS = 15;
const turn = () => new Promise((resolve) => void setImmediate(resolve));

function fetched(options, body) {
    return new Promise((resolve, reject) => {
        const req = request(options, (res) => {
            let text = "";
            res.setEncoding("utf8").on("data", (part) => void (text += part)).on("error", reject);
            res.on("end", () => resolve({ status: res.statusCode, headers: res.headers, text }));
        });
        req.on("error", reject).end(body);
    });
}

/**
 * A case that asks `ask(at)` (`{ path, method, headers, body }`) for many `at` at once, and logs which answers are not what
 * `expected(at)` says: `{ status, text, headers }`, of which each is compared if it is there.
 */
const atOnce = (name, build, ask, expected) => ({
    name,
    app(express, t) {
        const app = express();
        app.set("env", "test");
        build(app, t, express);
        return app;
    },
    async listen(app, t) {
        const server = app.listen(0, t.HOST);
        await new Promise((resolve) => void server.once("listening", resolve));
        const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
        const { port } = server.address();
        const wrong = [];
        await Promise.all(Array.from({ length: COUNT }, async (_, at) => {
            const { body, ...options } = ask(at);
            const answer = await fetched({ agent, host: t.HOST, port, ...options }, body).catch((error) => ({ status: error.message, headers: {} }));
            const { headers = {}, ...rest } = expected(at);
            for (const [key, value] of Object.entries(rest)) if (answer[key] !== value) wrong.push(`${at}: ${key} ${answer[key]} and not ${value}`);
            for (const [key, value] of Object.entries(headers)) if (String(answer.headers[key]) !== String(value)) wrong.push(`${at}: ${key} ${answer.headers[key]} and not ${value}`);
        }));
        agent.destroy();
        for (const line of wrong.sort().slice(0, 5)) t.log(line);
        t.log(`${wrong.length} wrong`);
        return server;
    },
    requests: [],
});
const context = new AsyncLocalStorage();

export default [
    atOnce("params, query and locals across turns", (app) => {
        app.use((req, res, next) => {
            res.locals.n = req.query.n;
            setImmediate(next);
        });
        app.get("/:id/:more", async (req, res) => {
            await turn();
            res.json([req.params.id, req.params.more, req.query.n, res.locals.n, req.path]);
        });
    }, (at) => ({ path: `/i${at}/m${at}?n=${at}` }), (at) => ({ status: 200, text: JSON.stringify([`i${at}`, `m${at}`, `${at}`, `${at}`, `/i${at}/m${at}`]) })),
    atOnce("status, headers and cookies across turns", (app) => app.use(async (req, res) => {
        const n = Number(req.get("x-n"));
        res.status(200 + (n % 100)).set("X-N", String(n)).cookie("n", String(n));
        await turn();
        if (n % 3 === 0) await turn();
        res.append("X-N", "again").send(`body ${n}`);
    }), (at) => ({ path: "/", headers: { "x-n": at } }), (at) => (at % 100 === 4 || at % 100 === 5 ? { status: 200 + (at % 100), text: "" } : { status: 200 + (at % 100), text: `body ${at}`, headers: { "x-n": `${at}, again`, "set-cookie": `n=${at}; Path=/` } })),
    atOnce("bodies", (app, t, express) => {
        app.use(express.json({ limit: "1mb" }));
        app.post("/", async (req, res) => {
            await turn();
            res.json({ n: req.body.n, length: req.body.s.length });
        });
    }, (at) => ({ path: "/", method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ n: at, s: "x".repeat((at * 997) % 90_000) }) }), (at) => ({ status: 200, text: JSON.stringify({ n: at, length: (at * 997) % 90_000 }) })),
    atOnce("errors of some leave the others alone", (app) => {
        app.get("/thrown/:id", (req) => {
            throw Object.assign(new Error(`thrown ${req.params.id}`), { status: 418 });
        });
        app.get("/late/:id", (req, res, next) => setImmediate(next, Object.assign(new Error(`late ${req.params.id}`), { status: 503 })));
        app.get("/:id", async (req, res) => {
            await turn();
            res.json(req.params.id);
        });
        app.use((error, req, res, _next) => res.status(error.status).send(error.message));
    }, (at) => ({ path: [`/thrown/${at}`, `/late/${at}`, `/${at}`][at % 3] }), (at) => [{ status: 418, text: `thrown ${at}` }, { status: 503, text: `late ${at}` }, { status: 200, text: `"${at}"` }][at % 3]),
    atOnce("mounted apps with settings of their own", (app, t, express) => {
        const inner = express();
        inner.set("json spaces", 1);
        inner.response.own = () => "inner";
        inner.use(async (req, res, next) => {
            await turn();
            if (req.path === "/through") next();
            else res.json({ n: req.query.n, own: res.own?.() });
        });
        app.use("/in", inner);
        app.use(async (req, res) => {
            await turn();
            res.json({ n: req.query.n, own: res.own?.() });
        });
    }, (at) => ({ path: `${["/in", "/out", "/in/through"][at % 3]}?n=${at}` }), (at) => ({ text: at % 3 === 0 ? `{\n "n": "${at}",\n "own": "inner"\n}` : `{"n":"${at}"}` })),
    atOnce("async context", (app) => {
        app.use((req, res, next) => context.run(req.url, next));
        app.use(async (req, res) => {
            await turn();
            setImmediate(() => res.send(String(context.getStore())));
        });
    }, (at) => ({ path: `/${at}` }), (at) => ({ text: `/${at}` })),
    atOnce("async context is nobody else's", (app) => {
        app.use((req, res) => {
            const before = context.getStore();
            if (req.url === "/set") context.enterWith("left behind");
            setImmediate(() => res.send(String(before)));
        });
    }, () => ({ path: "/", headers: { connection: "close" } }), () => ({ text: "undefined" })),
    atOnce("conditions and HEAD among others", (app) => app.use((req, res) => res.send(`text of ${req.url}`)), (at) => [{ path: `/${at}` }, { path: `/${at}`, method: "HEAD" }, { path: `/${at}`, headers: { "if-none-match": "*" } }][at % 3], (at) => [{ status: 200, text: `text of /${at}` }, { status: 200, text: "", headers: { "content-length": `text of /${at}`.length } }, { status: 304, text: "" }][at % 3]),
    atOnce("files, ranges and what is missing", (app, t, express) => app.use(express.static(`${t.dir}/static`)), (at) => [{ path: "/hello.txt" }, { path: "/ten.txt", headers: { range: `bytes=${at % 10}-${at % 10}` } }, { path: "/none" }, { path: "/large.bin", method: "HEAD" }][at % 4], (at) => [{ text: "hello, world\n" }, { status: 206, text: String(at % 10) }, { status: 404 }, { headers: { "content-length": 300_000 } }][at % 4]),
    atOnce("views", (app, t) => {
        app.set("views", `${t.dir}/views`).set("view cache", true).engine("tmpl", (path, options, done) => void setImmediate(done, null, `${options.name} ${options.own}`));
        app.use((req, res) => {
            res.locals.own = req.query.n;
            res.render("plain.tmpl", { name: `v${req.query.n}` });
        });
    }, (at) => ({ path: `/?n=${at}` }), (at) => ({ text: `v${at} ${at}` })),
    atOnce("redirects and formats", (app) => {
        app.get("/r", (req, res) => res.redirect(`/to?n=${req.query.n}`));
        app.use((req, res) => res.format({ html: () => res.send(`<b>${req.query.n}`), json: () => res.json(req.query.n) }));
    }, (at) => ({ path: `${at % 2 === 0 ? "/r" : "/f"}?n=${at}`, headers: { accept: at % 3 === 0 ? "application/json" : "text/html" } }), (at) => (at % 2 === 0 ? { status: 302, headers: { location: `/to?n=${at}` } } : { text: at % 3 === 0 ? `"${at}"` : `<b>${at}` })),
    atOnce("next('route') and params with handlers", (app) => {
        app.param("id", (req, res, next, id) => void setImmediate(() => {
            req.loaded = `loaded ${id}`;
            next();
        }));
        app.get("/:id", (req, res, next) => next(Number(req.params.id) % 2 === 0 ? "route" : undefined), (req, res) => res.send(`odd ${req.loaded}`));
        app.get("/:id", (req, res) => res.send(`even ${req.loaded}`));
    }, (at) => ({ path: `/${at}` }), (at) => ({ text: `${at % 2 === 0 ? "even" : "odd"} loaded ${at}` })),
    atOnce("replaced methods stay with their response", (app) => {
        app.use((req, res, next) => {
            if (req.query.n % 2 === 0) {
                const { end } = res;
                res.end = function (chunk, ...more) {
                    this.setHeader("X-Wrapped", req.query.n);
                    return end.call(this, chunk, ...more);
                };
            }
            next();
        });
        app.use(async (req, res) => {
            await turn();
            res.json(req.query.n);
        });
    }, (at) => ({ path: `/?n=${at}` }), (at) => ({ text: `"${at}"`, headers: { "x-wrapped": at % 2 === 0 ? at : undefined } })),
];
