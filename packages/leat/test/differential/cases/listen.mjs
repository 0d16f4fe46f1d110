// listen in its forms, address, and what listening looks like.
import net from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { get, reply } from "../script.mjs";

const hello = (req, res) => res.end("hello");
const until = (emitter, event) => new Promise((resolve) => emitter.once(event, resolve));

/** Listens as `args(server)` say, logs the events, and asks once. */
const listens = (name, listen, where = (address) => ({ port: address.port, host: "127.0.0.1" })) => ({
    name,
    async program({ http, log, opened, play }) {
        const server = http.createServer(hello);
        opened.push(server);
        server.on("listening", () => log("listening"));
        log(server.listening, server.address());
        const returned = listen(server, log);
        log(returned === server, server.listening);
        await until(server, "listening");
        const address = server.address();
        log(server.listening, typeof address === "string" ? "path" : [address.address, address.family, typeof address.port]);
        await play(where(address), get(), reply);
    },
});

const path = () => {
    const folder = mkdtempSync(join(tmpdir(), "leat-listen-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    return join(folder, "socket");
};

/** What goes wrong with `listen(server, ctx)`, thrown or as an event. */
const fails = (name, listen) => ({
    name,
    async program(ctx) {
        const { http, log, opened, attempt } = ctx;
        const server = http.createServer(hello);
        opened.push(server);
        server.on("error", (error) => log("error", error.code, error.syscall, error.errno, nameless(error.address), typeof error.port, nameless(error.message)));
        server.on("listening", () => log("listening"));
        await listen(server, ctx, attempt);
        log(server.listening, nameless(server.address()));
    },
});

const nameless = (text) => text?.replace?.(/\d{4,}|\/\S*/g, "#") ?? text;

async function busy({ opened }) {
    const other = net.createServer();
    opened.push(other);
    other.listen(0, "127.0.0.1");
    await until(other, "listening");
    return other.address().port;
}

export const cases = [
    listens("port 0 and host", (server) => server.listen(0, "127.0.0.1")),
    listens("port 0 alone", (server) => server.listen(0)),
    listens("nothing at all", (server) => server.listen()),
    listens("a callback", (server, log) => server.listen(0, () => log("callback"))),
    listens("port, host and callback", (server, log) => server.listen(0, "127.0.0.1", () => log("callback"))),
    listens("port, host, backlog and callback", (server, log) => server.listen(0, "127.0.0.1", 5, () => log("callback"))),
    listens("port, backlog and callback", (server, log) => server.listen(0, 5, () => log("callback"))),
    listens("a port as a string", (server) => server.listen("0", "127.0.0.1")),
    listens("options", (server, log) => server.listen({ port: 0, host: "127.0.0.1", backlog: 10 }, () => log("callback"))),
    listens("options with exclusive", (server) => server.listen({ port: 0, host: "127.0.0.1", exclusive: true })),
    listens("the name localhost", (server) => server.listen(0, "localhost"), (address) => ({ port: address.port, host: address.address })),
    listens("every IPv4 address", (server) => server.listen(0, "0.0.0.0")),
    listens("IPv6 only", (server) => server.listen({ port: 0, host: "::1", ipv6Only: true }), (address) => ({ port: address.port, host: "::1" })),
    listens("undefined for port", (server) => server.listen(undefined, "127.0.0.1")),
    listens("null for port", (server) => server.listen(null, () => {})),
    listens("a path", (server) => server.listen(path()), (address) => ({ path: address })),
    listens("a path in options", (server, log) => server.listen({ path: path() }, () => log("callback")), (address) => ({ path: address })),
    {
        name: "address at once, before listening is told",
        async program({ http, log, opened }) {
            const server = http.createServer(hello);
            opened.push(server);
            server.listen(0, "127.0.0.1");
            log(typeof server.address()?.port, server.address()?.port > 0);
            await until(server, "listening");
        },
    },
    {
        name: "a signal that ends the server",
        async program({ http, log, opened }) {
            const server = http.createServer(hello);
            opened.push(server);
            const controller = new AbortController();
            server.listen({ port: 0, host: "127.0.0.1", signal: controller.signal });
            await until(server, "listening");
            controller.abort();
            await until(server, "close");
            log(server.listening, server.address());
        },
    },
    {
        name: "listening again after close",
        async program({ http, log, opened, play, listening }) {
            const server = http.createServer(hello);
            opened.push(server);
            await listening(server);
            server.close();
            await until(server, "close");
            log(server.listening, server.address());
            await play(await listening(server), get(), reply);
        },
    },
    {
        name: "ref, unref and the chain they return",
        async program({ http, log, opened, listening }) {
            const server = http.createServer(hello);
            opened.push(server);
            log(server.ref() === server, server.unref() === server);
            await listening(server);
            log(server.unref() === server, server.ref() === server);
        },
    },
    {
        name: "a connection by path has no addresses",
        async program({ http, log, opened, play, listening }) {
            const server = http.createServer((req, res) => {
                log(req.socket.remoteAddress, req.socket.remotePort, req.socket.remoteFamily, req.socket.localAddress, req.socket.address());
                res.end("x");
            });
            opened.push(server);
            await play(await listening(server, [path()]), get(), reply);
        },
    },
    fails("an address in use", async (server, ctx) => {
        server.listen(await busy(ctx), "127.0.0.1");
        await until(server, "error");
    }),
    fails("a path in use", async (server, { http, opened }) => {
        const other = http.createServer();
        opened.push(other);
        const taken = path();
        other.listen(taken);
        await until(other, "listening");
        server.listen(taken);
        await until(server, "error");
    }),
    fails("an address that is not ours", async (server) => {
        server.listen(0, "192.0.2.1");
        await until(server, "error");
    }),
    fails("a path in a folder that is not there", async (server) => {
        server.listen("/nowhere/at/all");
        await until(server, "error");
    }),
    fails("twice", async (server, ctx, attempt) => {
        server.listen(0, "127.0.0.1");
        attempt("again", () => server.listen(0, "127.0.0.1"));
        await until(server, "listening");
        attempt("and again", () => server.listen(0, "127.0.0.1"));
        server.close();
    }),
    fails("ports that are none", async (server, ctx, attempt) => {
        attempt("-1", () => server.listen(-1));
        attempt("65536", () => server.listen(65_536));
        attempt("NaN", () => server.listen(NaN));
        attempt("1.5", () => server.listen(1.5));
        attempt("options", () => server.listen({ port: "x" }));
        attempt("true", () => server.listen(true));
        attempt("empty", () => server.listen({}));
    }),
    fails("use again after a failure", async (server, ctx) => {
        server.listen(await busy(ctx), "127.0.0.1");
        await until(server, "error");
        server.listen(0, "127.0.0.1");
        await until(server, "listening");
        server.close();
    }),
];
