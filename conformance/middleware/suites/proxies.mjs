// An app in front of another one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { MIB, bytesOf, digest, pieces } from "../../frameworks/bytes.mjs";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const { createProxyMiddleware, fixRequestBody, responseInterceptor } = await use("http-proxy-middleware", { all: true });
const expressHttpProxy = await use("express-http-proxy");
const { WebSocket, WebSocketServer } = await use("ws", { all: true });

/** What stands behind, an app of the same subject. */
function behind(express) {
    const app = express();
    app.post("/echo", (request, response) => request.pipe(response.status(201).type("bin")));
    app.get("/moved", (request, response) => response.redirect(301, "/elsewhere"));
    app.get("/cookies", (request, response) => response.cookie("a", "1", { domain: "origin.example" }).cookie("b", "2").json("set"));
    app.get("/slow", () => {});
    // Express 4 gives an empty object for no body.
    const sent = ({ body = {} }) => (Object.keys(body).length > 0 ? body : null);
    app.use(express.json(), (request, response) => response.set("x-origin", "1").json({ method: request.method, url: request.originalUrl, body: sent(request), added: request.get("x-added") ?? null, forwarded: request.get("x-forwarded-for") ?? null }));
    return app;
}

middleware("http-proxy-middleware", ({ express, http, it }) => {
    it("mounted, by filter, with rewritten paths and fields", async ({ listen }) => {
        const { origin: target } = await listen(behind(express));
        const app = express();
        app.use("/api", createProxyMiddleware({ target, pathRewrite: { "^/old": "/new" }, headers: { "x-added": "yes" }, xfwd: true }));
        app.use(createProxyMiddleware({ target, pathFilter: ["/match/**", "!/match/not"] }));
        app.use("/route", createProxyMiddleware({ router: (request) => `${target}/${request.query.to}` }));
        app.use((request, response) => response.status(404).json({ here: request.url }));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/api/old/x?q=1")).json, { method: "GET", url: "/new/x?q=1", body: null, added: "yes", forwarded: "127.0.0.1" });
        assert.deepEqual([(await peer.get("/match/a")).json.url, (await peer.get("/match/not")).json], ["/match/a", { here: "/match/not" }]);
        assert.equal((await peer.get("/route/x?to=there")).json.url, "/there/x?to=there");
        assert.deepEqual((await peer.get("/cookies")).json, { here: "/cookies" });
    });

    it("bodies: streamed, parsed before, and large both ways", async ({ listen }) => {
        const { origin: target } = await listen(behind(express));
        const app = express().use("/stream", createProxyMiddleware({ target })).use("/parsed", express.json(), createProxyMiddleware({ target, on: { proxyReq: fixRequestBody } }));
        const peer = await listen(app);
        const sent = bytesOf(3 * MIB);
        const echo = await peer.request("POST", "/stream/echo", { body: pieces(sent, 50_000) });
        assert.deepEqual([echo.status, digest(echo.bytes)], [201, digest(sent)]);
        assert.deepEqual((await peer.json("POST", "/parsed/x", { a: ["ü"] })).json.body, { a: ["ü"] });
    });

    it("replies that are changed, redirects, cookies, errors", async ({ listen }) => {
        const { origin: target } = await listen(behind(express));
        const app = express();
        app.use("/changed", createProxyMiddleware({ target, selfHandleResponse: true, on: { proxyRes: responseInterceptor(async (buffer, from, request, response) => {
            response.setHeader("x-changed", String(from.statusCode));
            return buffer.toString().toUpperCase();
        }) } }));
        app.use("/away", createProxyMiddleware({ target, autoRewrite: true, cookieDomainRewrite: "front.example" }));
        app.use("/dead", createProxyMiddleware({ target: "http://127.0.0.1:1" }));
        app.use("/told", createProxyMiddleware({ target: "http://127.0.0.1:1", on: { error: (error, request, response) => response.status(502).json(error.code) } }));
        app.use("/late", createProxyMiddleware({ target, proxyTimeout: 40 }));
        const peer = await listen(app);
        const changed = await peer.get("/changed/x");
        assert.deepEqual([changed.headers["x-changed"], changed.text.slice(0, 15)], ["200", '{"METHOD":"GET"']);
        assert.equal((await peer.get("/away/moved")).headers.location, "/elsewhere");
        assert.deepEqual((await peer.get("/away/cookies")).headers["set-cookie"], ["a=1; Domain=front.example; Path=/", "b=2; Path=/"]);
        assert.equal((await peer.get("/dead/x")).status, 504);
        const told = await peer.get("/told/x");
        assert.deepEqual([told.status, told.json], [502, "ECONNREFUSED"]);
        assert.equal((await peer.get("/late/slow")).status, 504);
    });

    it("WebSockets", async ({ listen, after }) => {
        const server = http.createServer(behind(express));
        const sockets = new WebSocketServer({ server });
        sockets.on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
        const { origin: target } = await listen(server);
        const proxy = createProxyMiddleware({ target, pathFilter: "/socket", ws: true });
        const front = http.createServer(express().use(proxy));
        front.on("upgrade", proxy.upgrade);
        const peer = await listen(front);
        const socket = new WebSocket(`ws://127.0.0.1:${peer.port}/socket`);
        after(() => socket.terminate());
        await once(socket, "open");
        socket.send(bytesOf(100_000));
        assert.equal(digest((await once(socket, "message"))[0]), digest(bytesOf(100_000)));
    });
});

middleware("express-http-proxy", ({ express, it }) => {
    it("requests, bodies and decorated replies", async ({ listen }) => {
        const { origin } = await listen(behind(express));
        const app = express();
        app.use("/api", expressHttpProxy(origin, { proxyReqPathResolver: (request) => `/inner${request.url}`, proxyReqOptDecorator: (options) => ({ ...options, headers: { ...options.headers, "x-added": "yes" } }) }));
        app.use("/parsed", express.json(), expressHttpProxy(origin, { userResDecorator: (response, bytes) => JSON.stringify({ ...JSON.parse(bytes), decorated: response.statusCode }) }));
        app.use("/skip", expressHttpProxy(origin, { filter: (request) => request.method === "GET" }), (request, response) => response.json({ here: request.originalUrl }));
        app.use("/dead", expressHttpProxy("http://127.0.0.1:1"));
        app.use((error, request, response, next) => response.status(502).json(error.code));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/api/x?q=1")).json, { method: "GET", url: "/inner/x?q=1", body: null, added: "yes", forwarded: null });
        assert.deepEqual((await peer.json("POST", "/parsed/x", { a: 1 })).json, { method: "POST", url: "/x", body: { a: 1 }, added: null, forwarded: null, decorated: 200 });
        assert.deepEqual((await peer.request("POST", "/skip/x")).json, { here: "/skip/x" });
        assert.equal(digest((await peer.request("POST", "/api/../echo", { body: bytesOf(10) })).bytes).length, 64);
        const dead = await peer.get("/dead/x");
        assert.deepEqual([dead.status, dead.json], [502, "ECONNREFUSED"]);
    });
});
