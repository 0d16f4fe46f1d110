// The same over TLS, and what TLS adds.
import net from "node:net";
import tls, { TLSSocket } from "node:tls";
import { ended, fin, get, logged, post, quiet, reply, request, until } from "../script.mjs";

const secure = (name, handle, script, more = {}) => ({ name, secure: true, handle, ...(script && { script }), ...more });

/** A handshake that fails, and what is told of it. */
const unshaken = (name, connect, options = {}, look = (error) => [error.code]) => ({
    name,
    secure: true,
    async program({ certificate, createServer, log, opened, listening, quiet: still }) {
        const server = createServer({ ...certificate, ca: certificate.cert, ...options }, () => log("never"));
        opened.push(server);
        server.on("tlsClientError", (error, socket) => log("tlsClientError", look(error, socket)));
        // A listener of node:https's own passes it on.
        const told = new Promise((resolve) => void server.on("clientError", (error) => {
            log("clientError", error.code);
            resolve();
        }));
        const socket = connect(await listening(server));
        socket.on("error", () => {});
        await told;
        await still();
        socket.destroy();
    },
});

export const cases = [
    secure("hello", (req, res) => res.end("hello")),
    secure("several requests, bodies both ways", (req, res) => req.pipe(res), [post("/", "one"), reply, get(), reply, post("/", "two"), reply], { joined: true }),
    secure("500,000 bytes out and in", (req, res) => {
        let size = 0;
        req.on("data", (part) => (size += part.length));
        req.on("end", () => res.end(`${size} ${"z".repeat(500_000)}`));
    }, [post("/", "b".repeat(500_000)), reply]),
    secure("the socket is encrypted", (req, res, { log }) => {
        const { socket } = req;
        log(socket.encrypted, socket.authorized, socket instanceof TLSSocket, socket.remoteAddress, typeof socket.remotePort, socket.alpnProtocol, socket.servername);
        res.end();
    }),
    secure("what a TLSSocket can do", (req, res, { log, attempt }) => {
        const { socket } = req;
        log(socket.constructor.name, Object.getPrototypeOf(socket) instanceof net.Socket, socket.getEphemeralKeyInfo(), socket.getSharedSigalgs().length >= 0, socket.isSessionReused(), socket.secureConnecting);
        log(socket.getX509Certificate().subject, socket.getCertificate().subject.CN, socket.getPeerX509Certificate());
        for (const name of Object.getOwnPropertyNames(TLSSocket.prototype)) if (!name.startsWith("_")) log(name, typeof socket[name]);
        attempt("enableTrace", () => typeof socket.disableRenegotiation());
        res.end();
    }),
    secure("protocol and cipher", (req, res, { log }) => {
        log(req.socket.getProtocol(), req.socket.getCipher().standardName, req.socket.getCipher().name);
        res.end();
    }, undefined, { client: { minVersion: "TLSv1.3" } }),
    secure("a client of TLS 1.2", (req, res, { log }) => {
        log(req.socket.getProtocol());
        res.end();
    }, undefined, { client: { maxVersion: "TLSv1.2" } }),
    secure("the name that the client asked for", (req, res, { log }) => {
        log(req.socket.servername);
        res.end();
    }, undefined, { client: { servername: "localhost" } }),
    secure("ALPN http/1.1", (req, res, { log }) => {
        log(req.socket.alpnProtocol);
        res.end();
    }, undefined, { client: { ALPNProtocols: ["http/1.1"] } }),
    secure("no certificate of the client", (req, res, { log }) => {
        log(req.socket.getPeerCertificate(), req.socket.authorized);
        res.end();
    }),
    secure("close by the reply", (req, res) => res.writeHead(200, { Connection: "close" }).end("x"), [get(), reply, ended]),
    secure("a malformed request", () => {}, ["nonsense\r\n\r\n", ended]),
    secure("clientError", () => {}, ["nonsense\r\n\r\n", ended], {
        setup: (server, { log }) => server.on("clientError", (error, socket) => {
            log(error.code, socket.encrypted);
            socket.end("HTTP/1.1 400 Mine\r\n\r\n");
        }),
    }),
    secure("events of the server", (req, res) => res.end("x"), [get(), reply], {
        setup(server, { log }) {
            server.on("connection", () => log("connection"));
            server.on("secureConnection", (socket) => log("secureConnection", socket.encrypted));
            server.on("request", () => log("request"));
        },
    }),
    secure("upgrade", () => {}, [get("/", "Connection: upgrade", "Upgrade: x"), until("up"), "ping", until("ping"), ended], {
        setup: (server) => server.on("upgrade", (req, socket) => {
            socket.write("up");
            socket.on("data", (part) => socket.end(part));
        }),
    }),
    secure("Expect: 100-continue", (req, res) => req.pipe(res), [request("POST", "/", "Content-Length: 4", "Expect: 100-continue"), reply, "body", reply]),
    secure("the client goes", (req, res, { spy, log }) => {
        spy("req", req, "aborted", "close");
        spy("res", res, "close");
        log("got it");
    }, [get(), logged("got it"), (s) => s.peer.socket.destroy(), logged("res close")]),
    secure("events of a connection that the client ends", (req, res) => res.end("x"), [get(), reply, fin, ended, logged("socket close")], {
        setup: (server, { spy }) => server.on("secureConnection", (socket) => spy("socket", socket, "end", "close", "error")),
    }),
    secure("destroying the reply", (req, res, { spy }) => {
        spy("res", res, "close");
        res.destroy();
    }, [get(), ended, logged("res close")]),
    secure("resetAndDestroy is for TCP", (req, res, { attempt }) => {
        attempt("reset", () => req.socket.resetAndDestroy());
        res.end();
    }),
    unshaken("plain bytes to a TLS server", (where) => net.connect(where, function hello() {
        this.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    })),
    unshaken("bytes that are neither", (where) => net.connect(where, function hello() {
        this.write("\x00\x01\x02\x03 and so on, as long as a record");
    })),
    unshaken("the end in place of a handshake", (where) => net.connect(where, function hello() {
        this.end();
    })),
    unshaken("a reset in the middle of a handshake", (where) => net.connect(where, function hello() {
        this.write(Buffer.from([22, 3, 1, 0, 100]), () => this.resetAndDestroy());
    })),
    unshaken("no version in common", (where) => tls.connect({ ...where, rejectUnauthorized: false, maxVersion: "TLSv1.2" }), { minVersion: "TLSv1.3" }),
    unshaken("no certificate where one is required", (where) => tls.connect({ ...where, rejectUnauthorized: false, maxVersion: "TLSv1.2" }), { requestCert: true }),
    unshaken("what a listener gets", (where) => net.connect(where, function hello() {
        this.write("GET / HTTP/1.1\r\n\r\n");
    }), {}, (error, socket) => {
        const { library, reason } = error;
        return [error instanceof Error, library, reason, socket instanceof tls.TLSSocket, socket.destroyed, socket.writable, socket.encrypted, socket.authorized];
    }),
    {
        name: "a certificate that is none",
        secure: true,
        program({ createServer, attempt }) {
            attempt("cert", () => createServer({ cert: "nonsense" }));
            attempt("key", () => createServer({ key: "nonsense" }));
        },
    },
    {
        name: "what a server is",
        secure: true,
        handle: (req, res) => res.end("x"),
        setup(server, { log }) {
            log(server.constructor.name, server.timeout, server.headersTimeout, server.requestTimeout, server.keepAliveTimeout, server.listenerCount("request"), server.requireHostHeader);
        },
        script: [get(), reply, quiet],
    },
    {
        name: "setSecureContext while it runs",
        secure: true,
        handle: (req, res) => res.end("x"),
        setup: (server, { certificate, when }) => when("renew", () => server.setSecureContext(certificate)),
        script: [get(), reply, (s) => s.actions.get("renew")(), (s) => s.via(1, [get(), reply]), get(), reply],
    },
];
