// 'upgrade': the connection becomes the program's.
import { createHash } from "node:crypto";
import { ended, fin, get, go, logged, post, quiet, reply, request, until } from "../script.mjs";

const asks = (...fields) => request("GET", "/chat", "Connection: Upgrade", "Upgrade: raw", ...fields);
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n";

const upgrades = (name, act, script, more = {}) => ({
    name,
    handle: (req, res) => res.end("plain"),
    setup: (server, ctx) => void server.on("upgrade", (req, socket, head) => act(socket, ctx, req, head, server)),
    script,
    ...more,
});

export const cases = [
    upgrades("the message, the socket and no head", (socket, { log }, req, head) => {
        log(req.method, req.url, req.headers, req.upgrade, head, Buffer.isBuffer(head), req.socket === socket, req.complete);
        socket.end(`${SWITCH}bye`);
    }, [asks(), until("bye"), ended]),
    upgrades("bytes behind the head come as head", (socket, { log }, req, head) => {
        log(head);
        socket.end("done");
    }, [`${asks()}first bytes`, until("done"), ended]),
    upgrades("echo both ways until the client ends", (socket, { log, spy }) => {
        spy("socket", socket, "end", "close", "error", "finish");
        socket.write(SWITCH);
        socket.on("data", (part) => {
            log(part);
            socket.write(part);
        });
        socket.on("end", () => socket.end("end"));
    }, [asks(), until("\r\n\r\n"), "one", until("one"), "two", until("two"), fin, until("end"), ended, logged("socket close")]),
    upgrades("the server ends first", (socket, { spy }) => {
        spy("socket", socket, "end", "close", "finish");
        socket.resume();
        socket.end(`${SWITCH}over`);
    }, [asks(), until("over"), ended, fin, logged("socket close")]),
    upgrades("destroying the socket", (socket, { spy }) => {
        spy("socket", socket, "close", "error");
        socket.destroy();
    }, [asks(), ended, logged("socket close")]),
    upgrades("refusing with a reply", (socket, { spy }) => {
        spy("socket", socket, "close");
        socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    }, [asks(), ended, fin, logged("socket close")]),
    upgrades("refusing with write and destroy, as ws does", (socket, { spy }) => {
        spy("socket", socket, "close", "finish");
        socket.once("finish", socket.destroy);
        socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbad");
    }, [asks(), until("bad"), ended, logged("socket close")]),
    upgrades("the client resets", (socket, { spy, log }) => {
        spy("socket", socket, "error", "close", "end");
        socket.write(SWITCH);
        log("there");
        socket.resume();
    }, [asks(), until("\r\n\r\n"), (s) => s.peer.reset(), logged("socket close")]),
    upgrades("resetAndDestroy", (socket, { spy }) => {
        spy("socket", socket, "error", "close", "finish");
        socket.write(SWITCH);
        socket.resume();
        socket.once("data", () => socket.resetAndDestroy());
    }, [asks(), until("\r\n\r\n"), "now", ended, logged("socket close")]),
    upgrades("piping the socket into itself", (socket) => {
        socket.write(SWITCH);
        socket.pipe(socket);
    }, [asks(), until("\r\n\r\n"), "x".repeat(200_000), (s) => s.until(() => s.peer.text.length >= SWITCH.length + 200_000, "the echo"), fin, ended]),
    upgrades("reading nothing until later", (socket, { when, log }) => {
        socket.write(SWITCH);
        when("read", () => socket.on("data", (part) => {
            log(part);
            socket.end();
        }));
    }, [asks(), until("\r\n\r\n"), "waiting", quiet, go("read"), logged("waiting"), ended]),
    upgrades("pause and resume", (socket, { when, log }) => {
        socket.write(SWITCH);
        socket.on("data", (part) => log(part));
        socket.pause();
        when("resume", () => socket.resume());
        when("end", () => socket.end());
    }, [asks(), until("\r\n\r\n"), "held", quiet, go("resume"), logged("held"), go("end"), ended]),
    upgrades("a large write with drain", (socket, { log }) => {
        socket.resume();
        log(socket.write(Buffer.alloc(5_000_000, "w")));
        socket.once("drain", () => {
            log("drain");
            socket.end("tail");
        });
    }, [asks(), until("tail"), ended, logged("drain")]),
    upgrades("unshift puts the head back", (socket, { log }, req, head) => {
        socket.unshift(head);
        socket.on("data", (part) => {
            log(part);
            socket.end("got");
        });
    }, [`${asks()}head bytes`, until("got"), ended]),
    upgrades("a websocket handshake and one frame each way", (socket, { log }, req) => {
        const accept = createHash("sha1").update(`${req.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
        socket.on("data", (frame) => {
            log(frame);
            socket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
            socket.end(Buffer.from([0x88, 0]));
        });
    }, [request("GET", "/ws", "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), until("\r\n\r\n"), Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]), until("hi"), ended]),
    upgrades("after ordinary requests on the same connection", (socket, { log }) => {
        log(socket.listenerCount("data"), socket.listenerCount("end"), socket.listenerCount("drain"), socket.listenerCount("timeout"), socket.listenerCount("error"));
        socket.end("up");
    }, [get(), reply, post("/", "x"), reply, asks(), until("up"), ended]),
    upgrades("a POST that upgrades leaves its body in the head", (socket, { log }, req, head) => {
        log(req.method, req.headers["content-length"], head);
        socket.end("up");
    }, [`${request("POST", "/", "Connection: upgrade", "Upgrade: raw", "Content-Length: 4")}body`, until("up"), ended]),
    upgrades("a chunked body is the head's as it is, framing and all", (socket, { log }, req, head) => {
        log(req.headers["transfer-encoding"], head);
        socket.end("up");
    }, [`${request("POST", "/", "Connection: upgrade", "Upgrade: raw", "Transfer-Encoding: chunked")}4\r\nbody\r\n0\r\n\r\n`, until("up"), ended]),
    upgrades("bytes that come behind an announced body", (socket, ctx, req, head) => {
        let text = head.toString();
        socket.write(SWITCH);
        socket.on("data", (part) => {
            text += part;
            if (text.endsWith("!")) socket.end(text);
        });
    }, [`${request("POST", "/", "Connection: upgrade", "Upgrade: raw", "Content-Length: 4")}bo`, until("\r\n\r\n"), "dy and more", "than that!", until("than that!"), ended]),
    upgrades("h2c is a protocol like any other", (socket, { log }, req) => {
        log(req.headers.upgrade);
        socket.end("up");
    }, [request("GET", "/", "Connection: upgrade, http2-settings", "Upgrade: h2c"), until("up"), ended]),
    upgrades("an Upgrade of odd forms", (socket, { log }, req) => {
        log(req.headers.upgrade);
        socket.end("up");
    }, [request("GET", "/", "Connection: upgrade", "Upgrade: a/b/c, (d)"), until("up"), ended]),
    upgrades("HTTP/1.0", (socket, { log }, req) => {
        log(req.httpVersion);
        socket.end("up");
    }, ["GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n", until("up"), ended]),
    {
        name: "a decision against it by shouldUpgradeCallback",
        node: 24,
        options: { shouldUpgradeCallback: (req) => req.url === "/yes" },
        handle: (req, res) => req.pipe(res),
        setup: (server) => server.on("upgrade", (req, socket, head) => socket.end(`up ${head}`)),
        script: [`${request("POST", "/no", "Connection: upgrade", "Upgrade: raw", "Content-Length: 4")}body`, reply, get("/yes", "Connection: upgrade", "Upgrade: raw"), until("up "), ended],
    },
    {
        name: "a large body that nobody upgrades",
        handle(req, res) {
            let size = 0;
            req.on("data", (part) => (size += part.length));
            req.on("end", () => res.end(`${size}`));
        },
        script: [post("/", "b".repeat(700_000), "Connection: upgrade", "Upgrade: raw"), reply, post("/", "c", "Connection: upgrade", "Upgrade: raw"), reply],
    },
    upgrades("the field Upgrade without Connection is an ordinary request", (socket, { log }) => log("never"), [request("GET", "/", "Upgrade: raw"), reply]),
    upgrades("Connection: upgrade without the field is an ordinary request", (socket, { log }) => log("never"), [request("GET", "/", "Connection: upgrade"), reply]),
    upgrades("setEncoding is refused until the turn is over, cork works", (socket, { log, attempt }) => {
        attempt("setEncoding", () => socket.setEncoding("utf8"));
        socket.cork();
        socket.write(SWITCH);
        socket.write("corked");
        socket.uncork();
        socket.on("data", (part) => {
            log(part);
            socket.end();
        });
    }, [asks(), until("corked"), "text", logged("text"), ended]),
    upgrades("properties of the socket", (socket, { log }) => {
        log(socket.readable, socket.writable, socket.destroyed, socket.readyState, socket.remoteAddress, socket.remoteFamily, socket.localAddress, socket.pending, socket.connecting, socket.allowHalfOpen, socket.readableFlowing);
        log(typeof socket.remotePort, typeof socket.localPort, typeof socket.bytesRead, socket.timeout, socket.parser ?? "none", socket._httpMessage ?? "none");
        socket.end("ok");
    }, [asks(), until("ok"), ended]),
    upgrades("timeout on the socket", (socket, { log }) => {
        socket.write(SWITCH);
        socket.setTimeout(40, () => {
            log("timeout");
            socket.destroy();
        });
        socket.resume();
    }, [asks(), until("\r\n\r\n"), logged("timeout"), ended]),
    upgrades("a listener that throws nothing and does nothing leaves it open", () => {}, [asks(), quiet]),
    {
        name: "without a listener the request is an ordinary one",
        handle(req, res, { log }) {
            log(req.upgrade, req.headers.upgrade);
            res.end("plain");
        },
        script: [asks(), reply, get(), reply],
    },
    {
        name: "without a listener a request with a body is an ordinary one",
        handle: (req, res) => req.pipe(res),
        script: [`${request("POST", "/", "Connection: upgrade", "Upgrade: h2c", "Content-Length: 4")}body`, reply],
    },
    {
        name: "a listener that is added later",
        handle(req, res, { log }) {
            log(req.upgrade);
            res.end("plain");
        },
        setup(server, { when }) {
            when("listen", () => server.on("upgrade", (req, socket) => socket.end("up")));
        },
        script: [asks(), reply, go("listen"), asks(), until("up"), ended],
    },
    {
        name: "two listeners",
        setup(server, { log }) {
            server.on("upgrade", (req, socket) => log("first", socket.write("1")));
            server.on("upgrade", (req, socket) => log("second", socket.end("2").writableEnded));
        },
        script: [asks(), until("12"), ended],
    },
    {
        name: "answering by a ServerResponse of its own",
        setup(server, { http, log }) {
            server.on("upgrade", (req, socket) => {
                const res = new http.ServerResponse(req);
                res.assignSocket(socket);
                res.on("finish", () => {
                    log("finish");
                    res.detachSocket(socket);
                    socket.end();
                });
                res.writeHead(400, { Connection: "close" });
                res.end("no upgrade");
            });
        },
        script: [asks(), ended, logged("finish")],
    },
    {
        name: "closing the server leaves an upgraded connection alone",
        setup(server, { when, log }) {
            server.on("upgrade", (req, socket) => {
                socket.write(SWITCH);
                socket.on("data", (part) => socket.end(part));
            });
            when("close", () => server.close(() => log("closed")));
            when("all", () => server.closeAllConnections());
        },
        script: [asks(), until("\r\n\r\n"), go("close"), quiet, go("all"), quiet, "still", until("still"), ended, fin, logged("closed")],
    },
];
