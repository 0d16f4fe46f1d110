// socket.io with its own client, on both of its transports and on the change from one to the other.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Server } from "socket.io";
import { io } from "socket.io-client";
import { MIB, bytesOf, digest } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("socket.io", ({ http, it }) => {
    async function started(define, { listen, after }, handler = (request, response) => response.end("plain")) {
        const server = http.createServer(handler);
        const sockets = new Server(server, { maxHttpBufferSize: 4 * MIB, cors: { origin: "http://one.test" } });
        define(sockets);
        const peer = await listen(server);
        after(() => sockets.close());
        const connect = async (transports, path = "") => {
            const client = io(`${peer.origin}${path}`, { transports, forceNew: true, reconnection: false });
            after(() => client.disconnect());
            await Promise.race([once(client, "connect"), once(client, "connect_error").then(([error]) => Promise.reject(error))]);
            return client;
        };
        return { peer, connect, sockets };
    }

    for (const transports of [["websocket"], ["polling"], ["polling", "websocket"]]) {
        it(`${transports.join(" then ")}: events, acknowledgements, bytes`, async (context) => {
            const { connect, peer } = await started((sockets) => sockets.on("connection", (socket) => {
                socket.on("echo", (value, done) => done(value));
                socket.on("back", (value) => socket.emit("back", value));
            }), context);
            const client = await connect(transports);
            if (transports.length === 2 && client.io.engine.transport.name !== "websocket") await once(client.io.engine, "upgrade");
            assert.equal(client.io.engine.transport.name, transports.at(-1));
            assert.deepEqual(await client.emitWithAck("echo", { a: ["ü", 1, null] }), { a: ["ü", 1, null] });
            for (const size of [0, 125, 126, 65_536, MIB]) {
                const bytes = bytesOf(size);
                const back = await client.emitWithAck("echo", bytes);
                assert.deepEqual([back.length, digest(back)], [size, digest(bytes)]);
            }
            const seen = [];
            const all = deferred();
            client.on("back", (value) => seen.push(value) === 300 && all.resolve());
            for (let at = 0; at < 300; at += 1) client.emit("back", at);
            await all.promise;
            assert.deepEqual(seen, Array.from({ length: 300 }, (_, at) => at));
            assert.equal((await peer.get("/")).text, "plain");
        });
    }

    it("rooms, namespaces and a refused connection", async (context) => {
        const { connect, sockets } = await started((made) => {
            made.of("/rooms").on("connection", (socket) => socket.on("join", (room, done) => {
                socket.join(room);
                done();
            }));
            made.of("/closed").use((socket, next) => next(new Error("kept out")));
        }, context);
        const [one, two] = [await connect(["websocket"], "/rooms"), await connect(["polling"], "/rooms")];
        await Promise.all([one.emitWithAck("join", "r"), two.emitWithAck("join", "r")]);
        const both = Promise.all([once(one, "news"), once(two, "news")]);
        sockets.of("/rooms").to("r").emit("news", 1);
        assert.deepEqual(await both, [[1], [1]]);
        await assert.rejects(connect(["websocket"], "/closed"), { message: "kept out" });
    });

    it("disconnects from both ends", async (context) => {
        const accepted = [];
        const arrived = () => deferred();
        let next = arrived();
        const { connect } = await started((sockets) => sockets.on("connection", (socket) => {
            accepted.push(socket);
            next.resolve(socket);
        }), context);
        for (const transport of ["websocket", "polling"]) {
            next = arrived();
            const kicked = await connect([transport]);
            const gone = once(kicked, "disconnect");
            (await next.promise).disconnect(true);
            assert.equal((await gone)[0], "io server disconnect");

            next = arrived();
            const leaving = await connect([transport]);
            const left = once(await next.promise, "disconnect");
            leaving.disconnect();
            assert.equal((await left)[0], "client namespace disconnect");
        }
    });

    it("its own replies: the client's script, a bad request, CORS", async (context) => {
        const { peer } = await started(() => {}, context);
        const script = await peer.get("/socket.io/socket.io.js", { "accept-encoding": "gzip" });
        assert.deepEqual([script.status, script.headers["content-encoding"]], [200, "gzip"]);
        assert.deepEqual((await peer.get("/socket.io/?EIO=4&transport=none")).json, { code: 0, message: "Transport unknown" });
        const preflight = await peer.request("OPTIONS", "/socket.io/?EIO=4&transport=polling", { headers: { origin: "http://one.test" } });
        assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, "http://one.test"]);
    });

    it("close() ends the sockets and the server", async ({ listen, after }) => {
        const server = http.createServer();
        const sockets = new Server(server);
        const peer = await listen(server);
        const client = io(peer.origin, { transports: ["websocket"], reconnection: false });
        after(() => client.disconnect());
        await once(client, "connect");
        const gone = once(client, "disconnect");
        await sockets.close();
        await gone;
        assert.equal(server.listening, false);
    });
});
