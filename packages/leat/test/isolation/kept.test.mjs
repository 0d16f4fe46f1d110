// What a handler keeps of a request stays what it was, however many requests and collections later, read early or late.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { Connection } from "../load/connection.mjs";
import { load } from "../load/generate.mjs";
import { listening } from "./listening.mjs";
import { Turns } from "./turns.mjs";

const CONNECTIONS = 100;
const FURTHER = 20_000;
const COLLECT_EVERY = 1000;
const KEEP_EVERY = 20;
const KEPT_ARRAY_BUFFERS_MB_MAX = 24;

v8.setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** What `load` sends as the header fields of request `id`. */
const FIELDS = "X-Mixed-Case: value {id}\r\nCookie: a={id}\r\ncookie: b={id}\r\nX-Two: one\r\nX-Two: two {id}\r\n";
const fieldsOf = (id) => FIELDS.replaceAll("{id}", id);
const headersOf = (id, more = {}) => ({ host: "test", ...more, "x-mixed-case": `value ${id}`, cookie: `a=${id}; b=${id}`, "x-two": `one, two ${id}` });
const rawHeadersOf = (id, more = []) => ["host", "test", ...more, "X-Mixed-Case", `value ${id}`, "Cookie", `a=${id}`, "cookie", `b=${id}`, "X-Two", "one", "X-Two", `two ${id}`];
const POSTED = [{ "content-length": "10" }, ["content-length", "10"]];

/** Looks at everything that was kept of request `id`. */
function same(id, { method, url, headers, rawHeaders, headersDistinct, httpVersion, chunks }) {
    const more = method === "POST" ? POSTED : [];
    assert.equal(url, `/${id}`);
    assert.equal(httpVersion, "1.1");
    assert.deepEqual({ ...headers }, headersOf(id, more[0]));
    assert.deepEqual([...rawHeaders], rawHeadersOf(id, more[1]));
    assert.deepEqual(headersDistinct["x-two"], ["one", `two ${id}`]);
    assert.equal(Buffer.concat(chunks).toString(), method === "POST" ? "firstother" : "");
}

const read = ({ method, url, headers, rawHeaders, headersDistinct, httpVersion }) => ({ method, url, headers, rawHeaders, headersDistinct, httpVersion });

/** A server that keeps every KEEP_EVERYth request: some read at once (early), some left unread (late). */
function keeping() {
    const kept = { early: new Map(), late: new Map() };
    const turns = new Turns();
    let count = 0;
    function handle(req, res) {
        turns.count();
        count += 1;
        if (count % COLLECT_EVERY === 0) gc();
        const chunks = [];
        req.on("data", (chunk) => chunks.push(chunk));
        const id = count % KEEP_EVERY;
        if (id === 0) {
            const { url } = req;
            kept.early.set(url.slice(1), { ...read(req), chunks });
        }
        if (id === 1) kept.late.set(count, { req, chunks });
        req.on("end", () => res.end(req.url.slice(1)));
    }
    return { kept, turns, handle };
}

test("headers, rawHeaders, url and body chunks are right after many further requests and collections", async (t) => {
    const { kept, turns, handle } = keeping();
    const server = await listening(t, handle);
    const { port } = server.address();
    const options = { port, connections: CONNECTIONS, patterns: ["GET /{id}", "GET /{id}", "POST /{id}"], fields: FIELDS };
    const first = await load({ ...options, requests: 2000 });
    assert.deepEqual(first.wrong, []);
    const early = new Map(kept.early);
    const late = new Map(kept.late);
    kept.early.clear();
    kept.late.clear();
    const further = await load({ port, connections: CONNECTIONS, patterns: ["GET /{id}"], requests: FURTHER, fields: "X-Other: {id}\r\n" });
    assert.deepEqual(further.wrong, []);
    gc();

    assert.equal(early.size, 2000 / KEEP_EVERY);
    assert.equal(late.size, 2000 / KEEP_EVERY);
    for (const [id, { chunks, ...values }] of early) same(id, { ...values, chunks });
    for (const { req, chunks } of late.values()) same(req.url.slice(1), { ...read(req), chunks });
    assert.equal(new Set([...late.values()].map(({ req }) => req.url)).size, late.size);
    assert.ok(turns.shared > 20, `only ${turns.shared} turns brought more than one request`);
});

test("kept headers do not hold the memory of the batches that they came in", async (t) => {
    const kept = [];
    let count = 0;
    const server = await listening(t, (req, res) => {
        count += 1;
        if (count % COLLECT_EVERY === 0) gc();
        if (count % KEEP_EVERY === 0) kept.push([req.url, req.headers, req.rawHeaders]);
        res.end(req.url.slice(1));
    });
    const options = { port: server.address().port, connections: CONNECTIONS, patterns: ["/{id}"] };
    const warm = await load({ ...options, requests: 2000 });
    assert.deepEqual(warm.wrong, []);
    gc();
    const before = process.memoryUsage().arrayBuffers;
    // Padding makes batches fill their slabs quickly: together the heads are 40 MB.
    const result = await load({ ...options, requests: FURTHER, fields: `X-Id: {id}\r\nX-Padding: ${"p".repeat(2000)}\r\n` });
    assert.deepEqual(result.wrong, []);
    gc();
    const held = (process.memoryUsage().arrayBuffers - before) / 1024 / 1024;
    t.diagnostic(`${held.toFixed(1)} MB of buffers beside ${kept.length} kept headers`);
    assert.ok(held < KEPT_ARRAY_BUFFERS_MB_MAX, `${held.toFixed(1)} MB of buffers are held by ${kept.length} headers`);
    for (const [url, headers, rawHeaders] of kept.slice(100)) {
        assert.equal(headers["x-id"], url.slice(1));
        assert.equal(rawHeaders[3], url.slice(1));
    }
});

test("a request that is not answered for long is whole when it is", async (t) => {
    const waiting = [];
    const server = await listening(t, (req, res) => {
        if (req.url.startsWith("/wait")) return waiting.push([req, res]);
        return res.end(req.url.slice(1));
    });
    const { port } = server.address();
    const connections = await Promise.all(Array.from({ length: 50 }, () => Connection.open(port)));
    const replies = connections.map((connection, id) => connection.post(`/wait/${id}`, "firstother", fieldsOf(id)));
    while (waiting.length < connections.length) await once(server, "request");
    const others = await load({ port, connections: CONNECTIONS, requests: FURTHER / 2, patterns: ["/{id}"], fields: "X-Other: {id}\r\n" });
    assert.deepEqual(others.wrong, []);
    gc();
    for (const [req, res] of waiting) {
        const chunks = await req.toArray();
        res.setHeader("x-seen", JSON.stringify([{ ...req.headers }, req.rawHeaders]));
        res.end(`${req.method} ${req.url} ${Buffer.concat(chunks)}`);
    }
    for (const [id, reply] of (await Promise.all(replies)).entries()) {
        assert.equal(reply.body, `POST /wait/${id} firstother`);
        assert.deepEqual(JSON.parse(reply.headers["x-seen"]), [headersOf(id, POSTED[0]), rawHeadersOf(id, POSTED[1])]);
    }
    for (const connection of connections) connection.destroy();
});
