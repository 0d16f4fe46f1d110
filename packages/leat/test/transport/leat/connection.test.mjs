// What only the connection of Leat's engine has, and what happens around it: bodies both ways, connections that die, many calls.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer as createTcp } from "node:net";
import { test } from "node:test";
import { leat, Transport } from "leat/transport";
import { bodyOf, echo, served } from "../core/made.mjs";
import { within } from "../../within.mjs";

const never = { aborted: false, addEventListener() {}, removeEventListener() {} };
const PLAIN = { method: "GET", path: "/", headers: {}, body: undefined, signal: never, asStream: false, rawBytesMax: 1e6 };
const MEGA = 1_048_576;

/** Waits until something is so. */
async function until(what, look) {
    await within((async () => { while (!look()) await new Promise((resolve) => setTimeout(resolve, 10)); })(), what);
}

test("options that it does not take are refused, those of undici's that it does not have among them", () => {
    for (const options of [{ dispatcher: {} }, { connections: 0 }, { http2: 1 }, { tls: { rejectUnauthorized: false } }, { tls: { cert: "a", key: "b" } }, { tls: { ca: 1 } }, { tls: { servername: "" } }, { waitingMax: -1 }, { keepAliveMs: 0 }]) {
        assert.throws(() => leat(options), { code: "options.invalid" }, JSON.stringify(options));
    }
});

test("certificates that are none are refused with the first call", async () => {
    const connection = leat({ tls: { ca: "no PEM" } });
    await assert.rejects(connection.send({ ...PLAIN, origin: "https://localhost:1" }), { code: "options.invalid" });
    await connection.close();
});

test("what is no request is refused, and nothing of it is sent", async (t) => {
    let asked = 0;
    const { origin } = await served(t, () => asked++);
    const connection = leat();
    t.after(() => connection.close());
    const wrong = [
        { headers: { "x-a": "b\r\nx-c: d" } },
        { headers: { "x-a": "b\nc\nd\ne" } },
        { headers: { "x-a": "\u{10a}" } },
        { headers: { "x-a": ["b", "c\nd"] } },
        { headers: { "x a": "b" } },
        { headers: { connection: "close" } },
        { headers: { "transfer-encoding": "chunked" } },
        { headers: { expect: "100-continue" } },
        { headers: { "content-length": "5" }, method: "POST", body: "abc" },
        { path: "/a b" },
        { path: "/ HTTP/1.1\r\nx: y" },
        { path: "/é" },
        { method: "G T" },
        { method: "CONNECT" },
        { origin: "ftp://localhost" },
    ];
    for (const each of wrong) await assert.rejects(connection.send({ ...PLAIN, origin, ...each }), { code: "request.invalid" }, JSON.stringify(each));
    assert.equal(asked, 0);
});

const BODIES = [
    ["a text", "héllo ✓".repeat(3)],
    ["a text with a header that is not ASCII", "héllo", { "x-a": "é" }],
    ["a long text", "é".repeat(100_000)],
    ["bytes", Buffer.from("abc")],
    ["many bytes", Buffer.alloc(300_000, "a")],
    ["none", undefined],
    ["an empty text", ""],
];

for (const [name, body, headers = {}] of BODIES) {
    test(`a body: ${name}`, async (t) => {
        const { origin } = await served(t, echo);
        const connection = leat();
        t.after(() => connection.close());
        // Two at once share a batch, whose texts are turned into bytes together.
        const both = await Promise.all([1, 2].map(() => connection.send({ ...PLAIN, origin, method: "POST", headers, body })));
        for (const response of both) {
            const got = JSON.parse(Buffer.from(response.body).toString());
            assert.equal(got.body, String(body ?? ""));
            assert.equal(got.headers["content-length"], String(Buffer.byteLength(body ?? "")));
            if (headers["x-a"] !== undefined) assert.equal(Buffer.from(got.headers["x-a"], "latin1").toString("latin1"), "é");
        }
    });
}

test("names that every object has come as the headers they are", async (t) => {
    const { transport } = await served(t, (_request, response) => {
        response.setHeader("constructor", ["a", "b"]).setHeader("X-toString", "c");
        response.setHeader("__proto__", "d").setHeader("toString", "e").end();
    }, { connection: leat() });
    const { headers } = await transport.request({ path: "/" });
    assert.deepEqual([headers.constructor, headers["x-tostring"], Object.getOwnPropertyDescriptor(headers, "__proto__").value, headers.tostring], [["a", "b"], "c", "d", "e"]);
    assert.equal(Object.getPrototypeOf(headers), Object.prototype);
});

for (const [name, announced] of [["of known length", true], ["in chunks", false]]) {
    test(`a long body ${name} comes whole`, async (t) => {
        const whole = Buffer.from(Uint32Array.from({ length: 700_000 }, (_, at) => at).buffer);
        const { transport } = await served(t, (_request, response) => {
            if (announced) response.setHeader("content-length", whole.length);
            else response.write(whole.subarray(0, 1));
            response.end(announced ? whole : whole.subarray(1));
        }, { connection: leat() });
        const answers = await Promise.all(["bytes", "bytes", "stream"].map((as) => transport.request({ path: "/", as })));
        for (const { body } of answers) assert.ok(whole.equals(body instanceof Uint8Array ? body : await bodyOf(body)));
    });
}

test("a stream that nobody reads is not read from the peer, and closes its connection when it is given up", async (t) => {
    let sent = 0;
    let closed;
    const { transport } = await served(t, (_request, response) => {
        closed = once(response, "close");
        const more = () => {
            while (sent < 64 * MEGA && response.write(Buffer.alloc(65_536))) sent += 65_536;
        };
        response.on("drain", more);
        more();
    }, { connection: leat() });
    const { body } = await transport.request({ path: "/", as: "stream" });
    let before = -1;
    // Until nothing moves any more.
    await until("a peer that waits", () => before === (before = sent));
    assert.ok(sent < 32 * MEGA, `${sent} bytes were sent`);
    await once(body, "readable");
    assert.ok(body.readableLength <= 2 * MEGA);
    body.destroy();
    await within(closed, "the end of the connection");
});

test("a stream whose peer breaks off with its first bytes is handed out before it fails", async (t) => {
    const server = createTcp((socket) => socket.on("error", () => undefined).once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, connection: leat() });
    t.after(async () => {
        await transport.close();
        server.close();
    });
    for (let round = 0; round < 20; round++) {
        const { body } = await transport.request({ path: "/", as: "stream" });
        assert.equal(body.destroyed, false);
        await assert.rejects(bodyOf(body), { code: "connection.broken" });
    }
});

test("a body is asked for as fast as the peer takes it, and let go of when the call ends", async (t) => {
    let taken = 0;
    let isLetGo = false;
    async function* endless() {
        try {
            for (;;) {
                taken += 65_536;
                yield Buffer.alloc(65_536);
            }
        } finally {
            isLetGo = true;
        }
    }
    const { transport } = await served(t, () => undefined, { connection: leat() });
    const controller = new AbortController();
    const calling = transport.request({ method: "POST", path: "/", body: endless(), signal: controller.signal });
    let before = -1;
    await until("a body that waits", () => taken > 0 && before === (before = taken));
    assert.ok(taken < 64 * MEGA, `${taken} bytes were taken`);
    controller.abort();
    await assert.rejects(calling, { code: "call.aborted" });
    await until("the end of the body", () => isLetGo);
});

test("a body that fails ends the call with its error", async (t) => {
    const { transport } = await served(t, (request) => request.on("error", () => undefined).resume(), { connection: leat() });
    async function* failing() {
        yield Buffer.from("a");
        throw new Error("mine");
    }
    await assert.rejects(transport.request({ method: "POST", path: "/", body: failing() }), (error) => error.code === "request.body_failed" && error.cause.message === "mine");
});

test("a connection that its peer has closed meanwhile is not used", async (t) => {
    const closed = [];
    const { transport, server } = await served(t, (_request, response) => response.end("a"), { connection: leat({ keepAliveMs: 60_000 }) });
    server.on("connection", (socket) => closed.push(once(socket, "close")));
    for (let round = 1; round <= 5; round++) {
        assert.equal((await transport.request({ path: "/" })).status, 200);
        assert.equal(closed.length, round);
        server.closeIdleConnections();
        await closed[round - 1];
    }
});

test("a peer that wants to close after its answer is believed", async (t) => {
    let made = 0;
    const { transport, server } = await served(t, (_request, response) => response.setHeader("connection", "close").end("a"), { connection: leat() });
    server.on("connection", () => made++);
    for (let round = 0; round < 3; round++) await transport.request({ path: "/" });
    assert.equal(made, 3);
});

test("calls beyond those that may wait are refused, and nothing of them is sent", async (t) => {
    const { transport } = await served(t, () => undefined, { connection: leat({ connections: 1, waitingMax: 1 }) });
    const calls = [1, 2, 3].map(() => transport.request({ path: "/", timeoutMs: 500 }).then(undefined, ({ code }) => code));
    assert.deepEqual((await Promise.all(calls)).sort(), ["call.deadline", "call.deadline", "connection.failed"]);
});

test("closing ends what is under way and what comes later, and closes all connections", async (t) => {
    const sockets = [];
    let begun;
    const reached = new Promise((resolve) => (begun = resolve));
    const { origin, server } = await served(t, (request, response) => (request.url === "/silent" ? begun() : response.end("a")));
    server.on("connection", (socket) => sockets.push(socket));
    const connection = leat();
    await connection.send({ ...PLAIN, origin });
    const silent = assert.rejects(connection.send({ ...PLAIN, origin, path: "/silent" }), { code: "connection.broken" });
    await reached;
    await connection.close();
    await silent;
    await assert.rejects(connection.send({ ...PLAIN, origin }), { code: "transport.closed" });
    await until("the end of all connections", () => sockets.every((socket) => socket.destroyed));
    await connection.close();
});

test("many calls, every third of them aborted somewhere, leave nothing behind", async (t) => {
    const calls = Number(process.env.LEAT_TEST_CALLS ?? 12_000);
    const { transport, server } = await served(t, (request, response) => {
        request.on("error", () => undefined).resume();
        if (request.url === "/late") setImmediate(() => response.end("late"));
        else if (request.url === "/long") response.end(Buffer.alloc(200_000));
        else response.end("a");
    }, { connection: leat({ connections: 20 }), timeoutMs: 30_000 });
    const paths = ["/", "/late", "/long", "/"];
    const outcomes = {};
    const one = async (number) => {
        const controller = number % 3 === 0 ? new AbortController() : undefined;
        const calling = transport.request({ path: paths[number % 4], method: number % 2 ? "POST" : "GET", as: number % 5 === 0 ? "stream" : "bytes", ...(number % 2 ? { body: "abc" } : {}), ...(controller && { signal: controller.signal }) });
        if (controller) {
            const turns = (number / 3) % 4;
            for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
            controller.abort();
        }
        const outcome = await calling.then(({ body }) => (body instanceof Uint8Array ? "whole" : bodyOf(body).then(() => "streamed")), (error) => error.code).catch((error) => error.code);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };
    let next = 0;
    const some = async (count) => {
        const end = next + count;
        await Promise.all(Array.from({ length: 60 }, async () => { while (next < end) await one(next++); }));
    };
    const descriptors = () => readdirSync("/proc/self/fd").length;
    await some(Math.ceil(calls / 4));
    const openBefore = descriptors();
    const rssBefore = process.memoryUsage().rss;
    await some(Math.floor(calls * 3 / 4));
    const grown = (process.memoryUsage().rss - rssBefore) / MEGA;
    t.diagnostic(JSON.stringify({ outcomes, grown: Math.round(grown), open: [openBefore, descriptors()] }));
    assert.deepEqual(Object.keys(outcomes).sort(), ["call.aborted", "streamed", "whole"]);
    assert.equal(outcomes["call.aborted"] + outcomes.streamed + outcomes.whole, calls);
    assert.ok(grown < 100, `${grown} MB more`);
    await transport.close();
    server.closeAllConnections();
    await until("the end of all connections", () => descriptors() <= openBefore - 20);
});

test("a server and calls share a thread's lane", async (t) => {
    const { createServer: createLeat } = await import("leat/http");
    const { origin } = await served(t, (request, response) => response.end(`inner ${request.url}`));
    const transport = new Transport({ nodes: origin, connection: leat() });
    const server = createLeat(async (request, response) => {
        const { body } = await transport.request({ path: request.url, as: "text" });
        response.end(`outer of ${body}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const outer = new Transport({ nodes: `http://127.0.0.1:${server.address().port}`, connection: leat() });
    t.after(async () => {
        await outer.close();
        await transport.close();
        server.close();
    });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => outer.request({ path: `/${at}`, as: "text" })));
    assert.deepEqual(answers.map(({ body }) => body), Array.from({ length: 100 }, (_, at) => `outer of inner /${at}`));
});
