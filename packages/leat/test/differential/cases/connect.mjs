// CONNECT and the 'connect' event; the 'connection' event.
import net from "node:net";
import { ended, fin, get, logged, quiet, reply, request, until } from "../script.mjs";

const tunnel = (...fields) => `${["CONNECT example.org:443 HTTP/1.1", "Host: example.org", ...fields].join("\r\n")}\r\n\r\n`;

export const cases = [
    {
        name: "without a listener the connection ends",
        handle: (req, res, { log }) => log("never"),
        setup: (server, { spy }) => server.on("connection", (socket) => spy("socket", socket, "close", "error")),
        script: [tunnel(), ended, logged("socket close")],
    },
    {
        name: "the message, the socket, the head",
        setup: (server, { log }) => server.on("connect", (req, socket, head) => {
            log(req.method, req.url, req.headers, req.upgrade, head, req.socket === socket);
            socket.end("HTTP/1.1 200 Connection Established\r\n\r\nok");
        }),
        script: [`${tunnel()}hello`, until("ok"), ended],
    },
    {
        name: "a client that names the server that it asks",
        setup: (server, { log }) => server.on("connect", (req, socket, head) => {
            log(req.url, req.headers.host, head);
            socket.end("HTTP/1.1 200 OK\r\n\r\nok");
        }),
        script: ["CONNECT example.org:443 HTTP/1.1\r\nHost: localhost:8080\r\nConnection: keep-alive\r\n\r\nfirst", until("ok"), ended],
    },
    {
        name: "a tunnel to another server",
        setup: (server, { log, opened }) => server.on("connect", (req, socket, head) => {
            const behind = net.createServer((other) => other.on("data", (part) => other.end(`<${part}>`)));
            opened.push(behind);
            behind.listen(0, "127.0.0.1", () => {
                const upstream = net.connect(behind.address().port, "127.0.0.1", () => {
                    socket.write("HTTP/1.1 200 OK\r\n\r\n");
                    upstream.write(head);
                    socket.pipe(upstream);
                    upstream.pipe(socket);
                });
                upstream.on("close", () => {
                    log("upstream closed");
                    behind.close();
                });
            });
        }),
        script: [tunnel(), until("\r\n\r\n"), "through", until("<through>"), ended, fin, logged("upstream closed")],
    },
    {
        name: "an upgrade listener does not see it",
        setup: (server, { log }) => {
            server.on("upgrade", () => log("never"));
            server.on("connect", (req, socket) => socket.end("connect"));
        },
        script: [tunnel("Connection: upgrade", "Upgrade: x"), until("connect"), ended],
    },
    {
        name: "with a length, the body is in the head",
        setup: (server, { log }) => server.on("connect", (req, socket, head) => {
            log(req.headers["content-length"], head);
            socket.end("ok");
        }),
        script: [`${tunnel("Content-Length: 3")}abc`, until("ok"), ended],
    },
    {
        name: "after an ordinary request",
        handle: (req, res) => res.end("plain"),
        setup: (server) => server.on("connect", (req, socket) => socket.end("tunnel")),
        script: [get(), reply, tunnel(), until("tunnel"), ended],
    },
    {
        name: "connection: one for each, before its request",
        handle(req, res, { log }) {
            log("request", req.url);
            res.end();
        },
        setup: (server, { log }) => server.on("connection", (socket) => log("connection", socket instanceof net.Socket, typeof socket.remotePort, socket.server === server)),
        script: [get("/1"), reply, get("/2"), reply, (s) => s.via(1, [get("/3"), reply])],
    },
    {
        name: "connection comes without a request",
        setup: (server, { log }) => server.on("connection", () => log("connection")),
        script: [logged("connection")],
    },
    {
        name: "a listener of connection that destroys the socket",
        setup: (server, { log }) => server.on("connection", (socket) => {
            socket.on("close", () => log("close"));
            socket.destroy();
        }),
        script: [ended, logged("close")],
    },
    {
        name: "a listener of connection that keeps state on the socket",
        handle(req, res, { log }) {
            req.socket.count += 1;
            log(req.socket.id, req.socket.count);
            res.end();
        },
        setup: (server) => server.on("connection", (socket) => Object.assign(socket, { id: "mine", count: 0 })),
        script: [get(), reply, get(), reply, get(), reply],
    },
    {
        name: "emitting connection by hand hands a socket over",
        async program({ http, log, listening, play, opened }) {
            const server = http.createServer((req, res) => {
                log(req.url);
                res.end("handed over");
            });
            const front = net.createServer((socket) => server.emit("connection", socket));
            opened.push(front);
            await play(await listening(front), get("/1"), reply, get("/2"), reply);
        },
    },
    {
        name: "emitting request by hand",
        handle: (req, res) => res.end(req.url),
        setup: (server, { log }) => {
            server.on("checkExpectation", (req, res) => {
                req.url = "/rewritten";
                log(server.emit("request", req, res));
            });
        },
        script: [request("GET", "/asked", "Expect: x"), reply],
    },
    {
        name: "no listener of request at all leaves the client waiting",
        server: ({ http, log }) => {
            const server = http.createServer();
            log(server.listenerCount("request"), server.listenerCount("connection"));
            return server;
        },
        script: [get(), quiet],
    },
];
