// socket.io beside a plain handler on a server that `import { createServer }` gave: the name was bound before anything ran.
import { createServer } from "node:http";
import { Server } from "socket.io";
import { announce } from "./announce.mjs";

const server = createServer((request, response) => response.end("plain"));
const sockets = new Server(server);
sockets.on("connection", (socket) => socket.on("echo", (value, done) => done(value)));
server.listen(0, "127.0.0.1", () => announce(server, () => sockets.close()));
