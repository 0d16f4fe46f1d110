// ws with a port makes its own server, whose upgrades are all that it serves.
import { WebSocketServer } from "ws";
import { announce } from "./announce.mjs";

const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
sockets.on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
sockets.on("listening", () => announce(sockets._server, () => {
    for (const socket of sockets.clients) socket.close(1001);
    return new Promise((resolve) => sockets.close(resolve));
}));
