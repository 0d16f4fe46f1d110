// What replaces methods of the reply, and what follows a request through its calls.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const mung = await use("express-mung");
const interceptor = await use("express-interceptor");
const livereload = await use("connect-livereload");
const rTracer = await use("cls-rtracer");
const httpContext = await use("express-http-context");
const gracefulShutdown = await use("http-graceful-shutdown");

middleware("express-mung", ({ express, it }) => {
    it("changes JSON before it is sent, at once or later", async ({ listen }) => {
        const app = express();
        app.use("/json", mung.json((body, request, response) => {
            response.set("x-mung", "1");
            return { ...body, added: request.path };
        }));
        app.use("/async", mung.jsonAsync(async (body) => ({ ...body, later: await Promise.resolve(true) })));
        app.use("/empty", mung.json(() => null));
        app.use("/scalar", mung.json(() => 42));
        app.use("/fails", mung.json(() => {
            throw new Error("on purpose");
        }));
        app.use("/headers", mung.headers((request, response) => response.set("x-head", "1")));
        app.use("/write", mung.write((chunk) => String(chunk).toUpperCase()));
        app.get("/write/x", (request, response) => {
            response.write("a");
            response.write("b");
            response.end();
        });
        app.get("/:any/refused", (request, response) => response.status(403).json({ no: true }));
        app.get("/:any/x", (request, response) => response.json({ a: 1 }));
        const peer = await listen(app);
        const json = await peer.get("/json/x");
        assert.deepEqual([json.json, json.headers["x-mung"]], [{ a: 1, added: "/json/x" }, "1"]);
        assert.deepEqual((await peer.get("/json/refused")).json, { no: true });
        assert.deepEqual((await peer.get("/async/x")).json, { a: 1, later: true });
        const statuses = [];
        for (const path of ["/empty/x", "/scalar/x", "/fails/x"]) {
            const { status, text } = await peer.get(path);
            statuses.push([status, text]);
        }
        assert.deepEqual(statuses, [[204, ""], [200, "42"], [500, '{"message":"on purpose"}']]);
        assert.equal((await peer.get("/headers/x")).headers["x-head"], "1");
        assert.equal((await peer.get("/write/x")).text, "AB");
    });
});

middleware("express-interceptor", ({ express, it }) => {
    it("gathers a body from send, json, write and end, and changes it", async ({ listen }) => {
        const app = express().use(interceptor((request, response) => ({
            isInterceptable: () => /html/.test(response.get("content-type")),
            intercept: (body, send) => send(body.replace("</p>", " intercepted</p>")),
        })));
        app.get("/html", (request, response) => response.send("<p>text</p>"));
        app.get("/json", (request, response) => response.json({ p: "</p>" }));
        app.get("/chunks", (request, response) => {
            response.type("html").write("<p>one");
            response.write(Buffer.from(" two"));
            response.end("</p>");
        });
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/html")).text, (await peer.get("/json")).json, (await peer.get("/chunks")).text], ["<p>text intercepted</p>", { p: "</p>" }, "<p>one two intercepted</p>"]);
        assert.equal((await peer.get("/none")).status, 404);
    });
});

middleware("connect-livereload", ({ express, it }) => {
    it("puts its script into pages, and nothing else", async ({ listen }) => {
        const app = express().use(livereload({ port: 35_729, src: "/reload.js" }));
        app.get("/", (request, response) => response.send("<html><body><p>page</p></body></html>"));
        app.get("/json", (request, response) => response.json({ a: 1 }));
        const peer = await listen(app);
        const html = { accept: "text/html" };
        const page = await peer.get("/", html);
        assert.match(page.text, /\/reload\.js/);
        assert.match(page.text, /<p>page<\/p>/);
        assert.deepEqual((await peer.get("/json", { accept: "application/json" })).json, { a: 1 });
    });
});

middleware("cls-rtracer", ({ express, it }) => {
    it("an id that follows the request through timers and promises, many at once", async ({ listen }) => {
        const app = express().use(rTracer.expressMiddleware({ useHeader: true, headerName: "x-id", echoHeader: true, requestIdFactory: () => randomUUID() }), express.json());
        app.all("/", async (request, response) => {
            await sleep(Number(request.query.ms ?? 0));
            setImmediate(() => response.json([rTracer.id(), request.body?.id ?? null]));
        });
        const peer = await listen(app);
        const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => peer.json("POST", `/?at=${at}&ms=${(at * 7) % 20}`, { id: `id-${at}` }, { "x-id": `id-${at}` })));
        replies.forEach(({ json, headers }, at) => assert.deepEqual([json, headers["x-id"]], [[`id-${at}`, `id-${at}`], `id-${at}`]));
        const own = await listen(app, { changing: ["body", "x-id"] });
        assert.match((await own.get("/")).json[0], /^[0-9a-f-]{36}$/);
        assert.equal(rTracer.id(), undefined);
    });
});

middleware("express-http-context", ({ express, it }) => {
    it("values of the request wherever it is served", async ({ listen }) => {
        const app = express().use(express.json(), httpContext.middleware).use((request, response, next) => {
            httpContext.set("user", request.get("x-user"));
            setImmediate(next);
        });
        const inside = () => httpContext.get("user");
        app.post("/", async (request, response) => {
            await sleep(request.body.ms);
            response.json(inside());
        });
        const peer = await listen(app);
        const users = await Promise.all(Array.from({ length: 20 }, async (_, at) => (await peer.json("POST", `/?at=${at}`, { ms: (at * 7) % 20 }, { "x-user": `u${at}` })).json));
        assert.deepEqual(users, Array.from({ length: 20 }, (_, at) => `u${at}`));
        assert.equal(inside(), undefined);
    });
});

middleware("http-graceful-shutdown", ({ express, http, it }) => {
    it("what is being answered ends, and new requests are refused", async ({ listen, note }) => {
        const app = express();
        let answer;
        const held = new Promise((resolve) => app.get("/held", (request, response) => {
            answer = () => response.json("held");
            resolve();
        }));
        app.get("/", (request, response) => response.json("plain"));
        const server = http.createServer(app);
        const order = [];
        const shutdown = gracefulShutdown(server, { signals: "", timeout: 5_000, forceExit: false, onShutdown: async () => order.push("shutdown"), finally: () => order.push("finally") });
        const peer = await listen(server);
        assert.equal((await peer.get("/")).json, "plain");
        const pending = peer.get("/held");
        await held;
        const down = shutdown();
        answer();
        assert.equal((await pending).json, "held");
        await down;
        assert.deepEqual([server.listening, order], [false, ["shutdown", "finally"]]);
        await assert.rejects(peer.get("/"), { code: "ECONNREFUSED" });
        note(order);
    });
});
