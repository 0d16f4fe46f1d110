// Servers: how they are made, what they are, where they listen.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import nodeHttp from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect, ended, exchange, fetched, listening } from "./ask.mjs";

const require = createRequire(import.meta.url);
const http = require("leat/http");

const GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const hello = (req, res) => res.end("hello");

test("the module has everything that node:http has", () => {
    for (const name of Object.keys(nodeHttp)) assert.ok(name in http, name);
    assert.equal(http.STATUS_CODES, nodeHttp.STATUS_CODES);
    assert.equal(http.IncomingMessage, nodeHttp.IncomingMessage);
    assert.equal(http.globalAgent, nodeHttp.globalAgent);
});

test("a server is one of Node's, however it is made", async (t) => {
    class Derived extends http.Server {}
    function Old() {
        http.Server.call(this, hello);
    }
    Object.setPrototypeOf(Old.prototype, http.Server.prototype);
    for (const server of [http.createServer(hello), new http.Server(hello), http.Server(hello), new Derived(hello), new Old(), http.createServer({}, hello)]) {
        assert.ok(server instanceof http.Server);
        assert.ok(server instanceof nodeHttp.Server);
        assert.ok(server instanceof net.Server);
        await listening(t, server);
        assert.match(await exchange(server, GET), /hello$/);
    }
});

test("messages are Node's", async (t) => {
    const seen = [];
    const server = http.createServer((req, res) => {
        seen.push(req instanceof nodeHttp.IncomingMessage, res instanceof nodeHttp.ServerResponse, req.socket instanceof net.Socket);
        res.end();
    });
    await listening(t, server);
    await fetched(server);
    assert.deepEqual(seen, [true, true, true]);
});

const refused = [
    [{ insecureHTTPParser: true }, "insecureHTTPParser"],
    [{ httpValidation: "relaxed" }, "httpValidation"],
];
for (const [options, name] of refused) {
    test(`${name} is refused by name`, () => {
        assert.throws(() => http.createServer(options), { code: "LEAT_UNSUPPORTED_OPTION", option: name, message: new RegExp(`'${name}'`) });
    });
}

test("TLS options that the engine lacks are refused by name", () => {
    const some = { SNICallback: () => {}, ALPNCallback: () => {}, pskCallback: () => {}, pfx: "x", secureProtocol: "TLS_method", dhparam: "auto", ciphers: "ALL", ecdhCurve: "auto", crl: "x" };
    for (const [name, value] of Object.entries(some)) {
        assert.throws(() => http.https.createServer({ [name]: value }), { code: "LEAT_UNSUPPORTED_OPTION", option: name });
    }
    assert.throws(() => http.https.createServer({}).addContext("a", {}), { code: "LEAT_UNSUPPORTED_OPTION" });
});

test("options are checked as by Node", () => {
    for (const options of [{ requestTimeout: -1 }, { headersTimeout: "1" }, { keepAliveTimeout: 1.5 }, { requestTimeout: 1, headersTimeout: 2 }, { joinDuplicateHeaders: 1 }]) {
        const caught = (make) => {
            try {
                make();
            } catch (error) {
                return [error.code, error.message];
            }
            return undefined;
        };
        const expected = caught(() => nodeHttp.createServer(options));
        assert.notEqual(expected, undefined);
        assert.deepEqual(caught(() => http.createServer(options)), expected);
    }
});

test("address() tells where it listens, and null before and after", async () => {
    const server = http.createServer(hello);
    assert.equal(server.address(), null);
    server.listen(0);
    assert.equal(typeof server.address().port, "number");
    assert.ok(server.listening);
    await once(server, "listening");
    server.close();
    assert.equal(server.address(), null);
    await once(server, "close");
});

test("without a host it listens on both families", async (t) => {
    const server = await listening(t, http.createServer(hello), { port: 0 });
    assert.equal(server.address().address, "::");
    assert.match(await exchange(server, GET), /hello$/);
});

test("a port in use is EADDRINUSE in Node's words", async (t) => {
    const first = await listening(t, http.createServer(hello));
    const { port } = first.address();
    for (const make of [http.createServer, nodeHttp.createServer]) {
        const [error] = await once(make().listen(port, "127.0.0.1"), "error");
        assert.deepEqual(
            { ...error, message: error.message },
            { code: "EADDRINUSE", errno: -98, syscall: "listen", address: "127.0.0.1", port, message: `listen EADDRINUSE: address already in use 127.0.0.1:${port}` },
        );
    }
});

test("an address of somebody else is EADDRNOTAVAIL", async () => {
    const [error] = await once(http.createServer().listen(0, "192.0.2.1"), "error");
    assert.equal(error.code, "EADDRNOTAVAIL");
    assert.match(error.message, /^listen EADDRNOTAVAIL: address not available 192\.0\.2\.1/);
});

test("listening twice throws, and a bad port throws", async (t) => {
    const server = await listening(t, http.createServer(hello));
    assert.throws(() => server.listen(0), { code: "ERR_SERVER_ALREADY_LISTEN" });
    assert.throws(() => http.createServer().listen(65_536), { code: "ERR_SOCKET_BAD_PORT" });
    assert.throws(() => http.createServer().listen({}), { code: "ERR_INVALID_ARG_VALUE" });
});

test("a Unix socket: address, request, and the file goes with the server", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "leat-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "socket");
    const server = http.createServer((req, res) => res.end(JSON.stringify([req.socket.remoteAddress ?? null, req.url])));
    await listening(t, server, { path, readableAll: true, writableAll: true });
    assert.equal(server.address(), path);
    assert.equal(statSync(path).mode & 0o666, 0o666);
    assert.match(await exchange(server, GET), /\[null,"\/"\]$/);
    server.close();
    await once(server, "close");
    assert.equal(existsSync(path), false);
});

test("an abort signal closes it", async () => {
    const stop = new AbortController();
    const server = http.createServer(hello).listen({ port: 0, signal: stop.signal });
    await once(server, "listening");
    stop.abort();
    await once(server, "close");
    assert.equal(server.listening, false);
});

test("close ends idle connections, waits for busy ones, and calls back", async (t) => {
    let reply;
    const server = http.createServer((req, res) => {
        if (req.url === "/wait") reply = res;
        else res.end("now");
    });
    await listening(t, server);
    const idle = connect(server);
    idle.write("GET /now HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    const busy = connect(server);
    busy.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(server, "request");
    const rest = ended(busy);
    const closed = new Promise((resolve) => server.close(resolve));
    await once(idle, "close");
    reply.end("late");
    assert.match(await rest, /late$/);
    await closed;
    await new Promise((resolve) => server.close((error) => resolve(assert.equal(error.code, "ERR_SERVER_NOT_RUNNING"))));
});

test("it can listen again after it was closed", async (t) => {
    const server = await listening(t, http.createServer(hello));
    server.close();
    await once(server, "close");
    await listening(t, server);
    assert.match(await exchange(server, GET), /hello$/);
});

test("getConnections and maxConnections count connections, and 'drop' tells of the rest", async (t) => {
    const server = http.createServer(hello);
    server.maxConnections = 1;
    await listening(t, server);
    const first = connect(server);
    await once(server, "connection");
    const second = connect(server);
    const [dropped] = await once(server, "drop");
    assert.equal(dropped.remotePort, second.localPort);
    assert.equal(dropped.localPort, server.address().port);
    assert.equal(await ended(second), "");
    assert.equal(await new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count)))), 1);
    first.destroy();
});

test("a socket that was made elsewhere is served by Node's own listener", async (t) => {
    const server = http.createServer(hello);
    const outer = net.createServer((socket) => server.emit("connection", socket));
    outer.listen(0);
    await once(outer, "listening");
    t.after(() => outer.close());
    assert.match(await exchange(outer, GET), /hello$/);
});

test("settings can change while it runs", async (t) => {
    const server = await listening(t, http.createServer(hello));
    server.keepAliveTimeout = 7000;
    assert.equal(server.keepAliveTimeout, 7000);
    const { headers } = await fetched(server, { agent: new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 }) });
    assert.equal(headers["keep-alive"], "timeout=7");
});
