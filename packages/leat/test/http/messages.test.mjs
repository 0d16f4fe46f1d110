// Requests and responses where Leat's differ inside: decoded late, built with learned prototypes, sent in one piece.
import assert from "node:assert/strict";
import { once } from "node:events";
import nodeHttp from "node:http";
import { createRequire } from "node:module";
import { test } from "node:test";
import { connect, exchange, fetched, listening, until } from "./ask.mjs";

const require = createRequire(import.meta.url);
const http = require("leat/http");

const request = (target, ...fields) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${fields.map((field) => `${field}\r\n`).join("")}Connection: close\r\n\r\n`;

test("url, headers and rawHeaders are the same whether they are read at once or later", async (t) => {
    const kept = [];
    const server = http.createServer((req, res) => {
        if (kept.length === 0) JSON.stringify([req.url, req.headers, req.rawHeaders]);
        kept.push(req);
        setImmediate(() => setImmediate(() => res.end()));
    });
    await listening(t, server);
    const raw = request("/a%20b?c=%zz", "X-One: 1", "x-one: 2", "Cookie: a=1", "cookie: b=2", "X-Latin: \xe9", "Set-Cookie: x", "Age: 1", "AGE: 2", "Empty:");
    for (let i = 0; i < 2; i++) await exchange(server, raw);
    for (const req of kept) {
        assert.equal(req.url, "/a%20b?c=%zz");
        assert.deepEqual(
            { ...req.headers },
            { host: "a", "x-one": "1, 2", cookie: "a=1; b=2", "x-latin": "\xe9", "set-cookie": ["x"], age: "1", empty: "", connection: "close" },
        );
        assert.deepEqual(req.rawHeaders.slice(0, 6), ["Host", "a", "X-One", "1", "x-one", "2"]);
        assert.equal(req.rawHeaders.length, 22);
        assert.deepEqual(req.headersDistinct["x-one"], ["1", "2"]);
    }
});

test("headers can be replaced, and url too", async (t) => {
    const server = http.createServer((req, res) => {
        req.url = "/other";
        req.headers = { mine: "1" };
        req.rawHeaders = [];
        res.end(JSON.stringify([req.url, req.headers, req.rawHeaders]));
    });
    await listening(t, server);
    assert.equal((await fetched(server)).body, '["/other",{"mine":"1"},[]]');
});

test("prototypes that a handler sets are what the next messages are built with", async (t) => {
    const requests = Object.create(nodeHttp.IncomingMessage.prototype, { mine: { get: () => "request" } });
    const responses = Object.create(nodeHttp.ServerResponse.prototype, { mine: { get: () => "response" } });
    const built = [];
    const server = http.createServer((req, res) => {
        built.push(Object.getPrototypeOf(req) === requests && Object.getPrototypeOf(res) === responses);
        Object.setPrototypeOf(req, requests);
        Object.setPrototypeOf(res, responses);
        res.setHeader("X-Mine", `${req.mine} ${res.mine}`);
        res.end(JSON.stringify([req.url, req.headers.host, req.rawHeaders[0], req.method]));
    });
    await listening(t, server);
    for (let i = 0; i < 3; i++) {
        const { headers, body } = await fetched(server, { path: `/${i}`, headers: { host: "h" } });
        assert.equal(headers["x-mine"], "request response");
        assert.deepEqual(JSON.parse(body), [`/${i}`, "h", "host", "GET"]);
    }
    assert.deepEqual(built, [false, true, true]);
    // The same objects on a server of Node's own.
    const node = await listening(t, nodeHttp.createServer(server.listeners("request")[0]));
    assert.deepEqual(JSON.parse((await fetched(node, { path: "/n", headers: { host: "h" } })).body), ["/n", "h", "host", "GET"]);
});

test("own message classes are used", async (t) => {
    class Request extends nodeHttp.IncomingMessage {
        get query() {
            return this.url.split("?")[1];
        }
    }
    class Response extends nodeHttp.ServerResponse {
        json(value) {
            this.end(JSON.stringify(value));
        }
    }
    const server = http.createServer({ IncomingMessage: Request, ServerResponse: Response }, (req, res) => res.json([req.query, req.headers["x-a"]]));
    await listening(t, server);
    assert.equal((await fetched(server, { path: "/?q", headers: { "X-A": "1" } })).body, '["q","1"]');
});

test("a replaced writeHead sees the head, and may change it", async (t) => {
    const server = http.createServer((req, res) => {
        const { writeHead } = res;
        res.writeHead = function (...args) {
            this.setHeader("X-Late", "1");
            return writeHead.apply(this, args);
        };
        res.end("body");
    });
    await listening(t, server);
    assert.equal((await fetched(server)).headers["x-late"], "1");
});

test("methods replaced on Node's prototype are called", async (t) => {
    const { end } = nodeHttp.ServerResponse.prototype;
    const calls = [];
    nodeHttp.ServerResponse.prototype.end = function (...args) {
        calls.push(args[0]);
        return end.apply(this, args);
    };
    t.after(() => delete nodeHttp.ServerResponse.prototype.end);
    const server = await listening(t, http.createServer((req, res) => res.end("seen")));
    assert.equal((await fetched(server)).body, "seen");
    assert.deepEqual(calls, ["seen"]);
});

test("a buffer may be used again once end or write has returned", async (t) => {
    const small = Buffer.alloc(10);
    const large = Buffer.alloc(40_000);
    const server = http.createServer((req, res) => {
        for (const bytes of [small, large]) {
            bytes.fill("a");
            res.write(bytes);
            bytes.fill("b");
        }
        small.fill("a");
        res.end(small);
        small.fill("b");
    });
    await listening(t, server);
    const { body } = await fetched(server);
    // What is corked waits in Node too, so only what `write` sent at once is safe there: the last piece here.
    assert.equal(body.length, 40_020);
    assert.equal((await fetched(server, { method: "HEAD" })).body, "");
});

test("text outside ASCII keeps its length and its bytes, beside plain replies of the same turn", async (t) => {
    const server = http.createServer((req, res) => {
        if (req.url === "/head") res.setHeader("X-Latin", "caf\xe9");
        res.end({ "/plain": "plain", "/text": "na\u00efve \u20ac \u{1f600}", "/head": "plain" }[req.url]);
    });
    await listening(t, server);
    const targets = ["/plain", "/text", "/head", "/text", "/plain"];
    const replies = await Promise.all(targets.map((target) => exchange(server, request(target))));
    const node = await listening(t, nodeHttp.createServer(server.listeners("request")[0]));
    const expected = await Promise.all(targets.map((target) => exchange(node, request(target))));
    const undated = (text) => text.replace(/Date: [^\r]*/, "");
    assert.deepEqual(replies.map(undated), expected.map(undated));
});

test("a request's body can still be read after the reply", async (t) => {
    const server = http.createServer((req, res) => {
        res.end("early");
        let text = "";
        req.on("data", (part) => (text += part));
        req.on("end", () => server.emit("read", text, req.complete));
    });
    await listening(t, server);
    const socket = connect(server);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    await until(socket, "early");
    socket.write("56789");
    assert.deepEqual(await once(server, "read"), ["0123456789", true]);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(socket, "early");
    socket.destroy();
});

test("what was answered before process.exit is sent", async () => {
    const { spawn } = await import("node:child_process");
    const program = `const http = require("leat/http");
        const server = http.createServer((req, res) => { res.end("last words"); process.exit(); });
        server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ["-e", program], { cwd: new URL(".", import.meta.url), stdio: ["ignore", "pipe", "inherit"] });
    const [port] = await once(child.stdout, "data");
    const body = await fetched({ address: () => ({ port: Number(port) }) });
    assert.equal(body.body, "last words");
});
