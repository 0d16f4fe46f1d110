// WebSockets beside an app.
import assert from "node:assert/strict";
import { once } from "node:events";
import { MIB, bytesOf, digest } from "../../frameworks/bytes.mjs";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const { WebSocket, WebSocketServer } = await use("ws", { all: true });
const { Server } = await use("socket.io", { all: true });
const { io } = await use("socket.io-client", { all: true });
const expressWs = await use("express-ws");
const session = await use("express-session");

async function connected(peer, path, after, options) {
    const socket = new WebSocket(`ws://127.0.0.1:${peer.port}${path}`, options);
    after(() => socket.terminate());
    const messages = [];
    socket.on("message", (data) => messages.push(data));
    await once(socket, "open");
    return {
        socket,
        async next() {
            if (messages.length === 0) await once(socket, "message");
            return messages.shift();
        },
    };
}

middleware("ws", ({ express, http, it }) => {
    it("on the app's server: echo, and the app answers the rest", async ({ listen, after }) => {
        const server = http.createServer(express().get("/", (request, response) => response.json("plain")));
        new WebSocketServer({ server, path: "/echo" }).on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
        const peer = await listen(server);
        assert.equal((await peer.get("/")).json, "plain");
        const { socket, next } = await connected(peer, "/echo", after);
        for (const size of [0, 125, 65_536, MIB]) {
            socket.send(bytesOf(size));
            assert.equal(digest(await next()), digest(bytesOf(size)));
        }
        socket.close(1000, "done");
        assert.equal((await once(socket, "close"))[0], 1000);
        const refused = new WebSocket(`ws://127.0.0.1:${peer.port}/none`);
        assert.match((await once(refused, "error"))[0].message, /Unexpected server response: 400/);
    });

    it("noServer, behind the app's own session", async ({ listen, after }) => {
        const sessions = session({ secret: "secret", resave: false, saveUninitialized: false });
        const app = express().use(sessions).get("/in", (request, response) => {
            request.session.name = "ann";
            response.json("in");
        });
        const server = http.createServer(app);
        const sockets = new WebSocketServer({ noServer: true });
        server.on("upgrade", (request, socket, head) => {
            sessions(request, {}, () => {
                if (!request.session.name) return socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
                sockets.handleUpgrade(request, socket, head, (made) => made.send(`hello ${request.session.name}`));
            });
        });
        const peer = await listen(server);
        const { cookie } = await peer.get("/in");
        const { next } = await connected(peer, "/", after, { headers: { cookie } });
        assert.equal(String(await next()), "hello ann");
        assert.match((await once(new WebSocket(`ws://127.0.0.1:${peer.port}/`), "error"))[0].message, /401/);
    });
});

middleware("socket.io", ({ express, http, it }) => {
    it("both transports, rooms and middleware, beside the app", async ({ listen, after }) => {
        const app = express().use(express.json()).get("/", (request, response) => response.json("plain")).post("/say", (request, response) => {
            sockets.to("room").emit("said", request.body);
            response.sendStatus(202);
        });
        const server = http.createServer(app);
        const sockets = new Server(server);
        after(() => sockets.close());
        sockets.use((socket, next) => next(socket.handshake.auth.token === "t" ? undefined : new Error("who are you?")));
        sockets.on("connection", (socket) => {
            socket.join("room");
            socket.on("echo", (value, done) => done(value, socket.handshake.headers["x-own"] ?? null));
        });
        const peer = await listen(server, { changing: ["body"] });
        for (const transports of [["polling"], ["websocket"], ["polling", "websocket"]]) {
            const client = io(peer.origin, { transports, forceNew: true, reconnection: false, auth: { token: "t" }, extraHeaders: { "x-own": "1" } });
            after(() => client.disconnect());
            await once(client, "connect");
            const [back] = [await client.emitWithAck("echo", bytesOf(100_000))];
            assert.equal(digest(back), digest(bytesOf(100_000)));
            const said = once(client, "said");
            assert.equal((await peer.json("POST", "/say", { text: "hi" })).status, 202);
            assert.deepEqual((await said)[0], { text: "hi" });
            client.disconnect();
        }
        const stranger = io(peer.origin, { forceNew: true, reconnection: false });
        after(() => stranger.disconnect());
        assert.equal((await once(stranger, "connect_error"))[0].message, "who are you?");
        assert.equal((await peer.get("/")).json, "plain");
        assert.match((await peer.get("/socket.io/socket.io.js")).text, /Socket\.IO/);
    });
});

middleware("express-ws", ({ express, http, it }) => {
    it("app.ws: middleware, parameters, next", async ({ listen, after }) => {
        const app = express();
        const server = http.createServer(app);
        const { getWss } = expressWs(app, server, { leaveRouterUntouched: true });
        app.use((request, response, next) => {
            request.marked = "marked";
            next();
        });
        app.get("/echo/:id", (request, response) => response.json("plain"));
        app.ws("/echo/:id", (socket, request) => {
            socket.send(JSON.stringify([request.marked, request.params.id, request.query.q, request.originalUrl]));
            socket.on("message", (message) => socket.send(message));
        });
        const peer = await listen(server);
        const { socket, next } = await connected(peer, "/echo/7?q=1", after);
        assert.deepEqual(JSON.parse(String(await next())).slice(0, 3), ["marked", "7", "1"]);
        socket.send("again");
        assert.equal(String(await next()), "again");
        assert.equal(getWss().clients.size, 1);
        assert.equal((await peer.get("/echo/7")).json, "plain");
        const closed = once(new WebSocket(`ws://127.0.0.1:${peer.port}/none`), "close");
        await closed.catch(() => {});
    });

    it("router.ws on a mounted router", async ({ listen, after }) => {
        const app = express();
        const server = http.createServer(app);
        const { applyTo } = expressWs(app, server);
        const router = express.Router();
        // It gives routers the method by changing Express 4's Router, from which those of Express 5 do not inherit.
        if (major === 5) applyTo(router);
        router.ws("/deep/:name", (socket, request) => socket.send(`${request.params.name} ${request.baseUrl}`));
        app.use("/below", router);
        const peer = await listen(server);
        const { next } = await connected(peer, "/below/deep/ann", after);
        assert.equal(String(await next()), "ann /below");
    });
});
