// Frameworks that create their server themselves, each as a program: plainly, and with `--import leat/register`.
import assert from "node:assert/strict";
import { once } from "node:events";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { appSuite } from "../suite.mjs";

for (const app of ["express.cjs", "koa.mjs", "fastify.mjs", "hono.mjs", "hapi.mjs", "restana.mjs"]) {
    appSuite(`${app} as a program`, `apps/${app}`, ({ it }) => {
        it("serves, and ends on SIGTERM", async ({ start }) => {
            const peer = await start();
            assert.deepEqual((await peer.get("/")).json, { hello: "world" });
            const body = bytesOf(3 * MIB);
            const headers = { "content-type": "application/octet-stream" };
            assert.equal(digest((await peer.request("POST", "/echo", { headers, body: pieces(body, 50_000) })).bytes), digest(body));
            const thrown = await peer.get("/throws");
            assert.deepEqual([thrown.status, thrown.text], [418, "thrown"]);
            assert.equal((await peer.get("/none")).status, 404);
            // hapi gives the connection up after a reply that is the request's own stream.
            assert.equal(peer.sockets.size, app === "hapi.mjs" ? 2 : 1);
        });
    });
}

appSuite("socket.io as a program", "apps/sockets.mjs", ({ it }) => {
    it("answers over both transports, and ends on SIGTERM", async ({ start, after }) => {
        const peer = await start();
        assert.equal((await peer.get("/")).text, "plain");
        for (const transport of ["polling", "websocket"]) {
            const client = io(peer.origin, { transports: [transport], forceNew: true, reconnection: false });
            after(() => client.disconnect());
            await once(client, "connect");
            assert.equal(digest(await client.emitWithAck("echo", bytesOf(100_000))), digest(bytesOf(100_000)));
        }
    });
});

appSuite("ws as a program", "apps/websockets.mjs", ({ it }) => {
    it("echoes, answers plain requests with 426, and ends on SIGTERM", async ({ start, after }) => {
        const peer = await start();
        assert.equal((await peer.get("/")).status, 426);
        const socket = new WebSocket(`ws://127.0.0.1:${peer.port}/`);
        after(() => socket.terminate());
        await once(socket, "open");
        socket.send(bytesOf(MIB));
        assert.equal(digest((await once(socket, "message"))[0]), digest(bytesOf(MIB)));
    });
});
