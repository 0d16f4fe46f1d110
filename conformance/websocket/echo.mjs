// The WebSocket server behind the gateway: echoes every message as it came, and does what the path asks for.
import { WebSocketServer } from "ws";

export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Listens on loopback. `port`, the `server`, and `close()`. */
export async function listen() {
    const server = new WebSocketServer({
        host: "127.0.0.1",
        port: 0,
        maxPayload: MESSAGE_BYTES_MAX,
        // Autobahn sends 4 MiB in fragments of 64 bytes.
        maxFragments: 100_000,
        maxBufferedChunks: 1_000_000,
        perMessageDeflate: { threshold: 0 },
        handleProtocols: (offered) => (offered.has("leat.v1") ? "leat.v1" : false),
        verifyClient: ({ req }, answer) => (req.url === "/refuse" ? answer(false, 401, "sign in first", { "www-authenticate": "Basic" }) : answer(true)),
    });
    server.on("connection", (socket, request) => {
        const url = new URL(request.url, "http://upstream");
        socket.on("error", () => {});
        socket.on("message", (data, binary) => {
            // Not at once: a reset overtakes the 101 on its way.
            if (url.pathname === "/die") socket._socket.resetAndDestroy();
            else socket.send(data, { binary });
        });
        if (url.pathname === "/first") socket.send("the server speaks first");
        if (url.pathname === "/close") socket.close(Number(url.searchParams.get("code")), url.searchParams.get("reason") ?? "");
    });
    await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
    return {
        server,
        port: server.address().port,
        close: () => {
            for (const client of server.clients) client.terminate();
            return new Promise((resolve) => server.close(resolve));
        },
    };
}
