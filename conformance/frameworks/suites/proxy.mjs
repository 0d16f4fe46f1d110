// http-proxy and http-proxy-middleware: a server of the target's in front of another one.
import assert from "node:assert/strict";
import { once } from "node:events";
import express from "express";
import httpProxy from "http-proxy";
import { createProxyMiddleware, fixRequestBody, responseInterceptor } from "http-proxy-middleware";
import { WebSocket, WebSocketServer } from "ws";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("http-proxy", ({ http, it }) => {
    /** What stands behind the proxy, a server of the same target. */
    function origin(gone = deferred()) {
        const server = http.createServer((request, response) => {
            if (request.url === "/hangs") {
                response.write("begun");
                return response.on("close", () => gone.resolve(response.writableFinished));
            }
            response.writeHead(request.url === "/teapot" ? 418 : 200, { "x-origin": "1", "x-method": request.method, "x-forwarded-for": request.headers["x-forwarded-for"] ?? "none", "set-cookie": ["a=1", "b=2"] });
            request.pipe(response);
        });
        const sockets = new WebSocketServer({ server });
        sockets.on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
        return server;
    }

    function front(target, options = {}) {
        const proxy = httpProxy.createProxyServer({ target, xfwd: true, ...options });
        proxy.on("error", (error, request, response) => {
            if (response.writeHead && !response.headersSent) response.writeHead(502);
            response.end(error.code);
        });
        const server = http.createServer((request, response) => proxy.web(request, response));
        server.on("upgrade", (request, socket, head) => proxy.ws(request, socket, head));
        return server;
    }

    it("requests and replies of every size pass through", async ({ listen }) => {
        const behind = await listen(origin());
        const peer = await listen(front(behind.origin));
        for (const size of [0, 1, 65_536, 5 * MIB]) {
            const sent = bytesOf(size);
            const whole = await peer.request("POST", "/whole", { body: sent });
            assert.deepEqual([whole.status, digest(whole.bytes), whole.headers["x-origin"], whole.headers["x-forwarded-for"]], [200, digest(sent), "1", "127.0.0.1"]);
            const chunked = await peer.request("PUT", "/chunked", { body: pieces(sent, 30_000) });
            assert.deepEqual([chunked.headers["x-method"], digest(chunked.bytes)], ["PUT", digest(sent)]);
        }
        const teapot = await peer.get("/teapot");
        assert.deepEqual([teapot.status, teapot.headers["set-cookie"]], [418, ["a=1", "b=2"]]);
        assert.equal((await peer.request("HEAD", "/")).status, 200);
    });

    it("an origin that is not there", async ({ listen }) => {
        const nowhere = await listen(front("http://127.0.0.1:1"));
        const failed = await nowhere.get("/");
        assert.deepEqual([failed.status, failed.text], [502, "ECONNREFUSED"]);
    });

    // http-proxy listens to 'aborted', which Node emits only while the request's body is incomplete.
    it("a client that leaves during its upload ends the request behind", async ({ listen }) => {
        const gone = deferred();
        const behind = await listen(origin(gone));
        const peer = await listen(front(behind.origin));
        const request = peer.open("POST", "/hangs");
        request.write("more is to come");
        const [response] = await once(request, "response");
        response.on("error", () => {});
        await once(response, "data");
        request.destroy();
        assert.equal(await gone.promise, false);
    });

    it("WebSockets, both ways", async ({ listen }) => {
        const behind = await listen(origin());
        const peer = await listen(front(`ws://127.0.0.1:${behind.port}`, { ws: true }));
        const socket = new WebSocket(`ws://127.0.0.1:${peer.port}/`);
        await once(socket, "open");
        for (const size of [0, 125, 126, 65_536, MIB]) {
            const sent = bytesOf(size);
            socket.send(sent);
            const [back] = await once(socket, "message");
            assert.deepEqual([back.length, digest(back)], [size, digest(sent)]);
        }
        socket.close(1000);
        assert.equal((await once(socket, "close"))[0], 1000);
    });
});

suite("http-proxy-middleware", ({ http, it }) => {
    async function behind({ listen }) {
        const app = express();
        app.use(express.json());
        app.all("/*path", (request, response) => response.set("x-origin", "1").json({ url: request.originalUrl, body: request.body, header: request.headers["x-added"] }));
        return listen(http.createServer(app));
    }

    it("paths, rewritten bodies and changed replies under Express", async (context) => {
        const origin = await behind(context);
        const app = express();
        app.use("/api", createProxyMiddleware({ target: origin.origin, changeOrigin: true, pathRewrite: { "^/old": "/new" }, headers: { "x-added": "yes" } }));
        app.use("/parsed", express.json(), createProxyMiddleware({ target: origin.origin, on: { proxyReq: fixRequestBody } }));
        app.use("/changed", createProxyMiddleware({ target: origin.origin, selfHandleResponse: true, on: { proxyRes: responseInterceptor(async (body) => String(body).toUpperCase()) } }));
        const peer = await context.listen(http.createServer(app));
        const reply = await peer.json("POST", "/api/old/path?q=1", { a: "ü" });
        assert.deepEqual(reply.json, { url: "/new/path?q=1", body: { a: "ü" }, header: "yes" });
        assert.deepEqual((await peer.json("POST", "/parsed/x", { a: [1, 2] })).json, { url: "/x", body: { a: [1, 2] } });
        assert.equal((await peer.get("/changed/x")).text, '{"URL":"/X"}');
    });

    it("its reply when the origin is not there", async ({ listen }) => {
        const app = express();
        app.use(createProxyMiddleware({ target: "http://127.0.0.1:1" }));
        const peer = await listen(http.createServer(app));
        const reply = await peer.get("/x");
        assert.equal(reply.status, 504);
        assert.match(reply.text, /Error occurred while trying to proxy/);
    });
});
