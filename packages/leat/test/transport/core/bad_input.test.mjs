// What cannot be right is refused before anything is sent, by one error that names it and says what it takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { FactoryBody, ndjson, Transport, TransportError, undici } from "leat/transport";
import { scripted } from "./made.mjs";

const NODES = "http://a.test:1";

const OPTIONS = [
    ["no options", undefined, /options of Transport is missing; it takes an object/],
    ["an option that does not exist", { nodes: NODES, retries: 3 }, /no "retries"/],
    ["no nodes", {}, /nodes is missing; it takes an origin/],
    ["an empty list of nodes", { nodes: [] }, /at least one origin/],
    ["a node that is no URL", { nodes: "localhost:9200/ x" }, /nodes is a string; it takes the schemes/],
    ["a node without a scheme", { nodes: ["http://a.test", "a.test"] }, /nodes\[1\] is a string; it takes an origin/],
    ["a node with a password", { nodes: "http://me:hunter2@a.test" }, /without a user and a password/],
    ["a node with a query", { nodes: "http://a.test/?key=1" }, /without query/],
    ["a weight of nothing", { nodes: [{ url: NODES, weight: 0 }] }, /nodes\[0\]\.weight is 0; it takes a whole number from 1 to 65535/],
    ["a timeout as text", { nodes: NODES, timeoutMs: "30s" }, /timeoutMs is a string; it takes milliseconds/],
    ["a timeout of 0", { nodes: NODES, timeoutMs: 0 }, /timeoutMs is 0/],
    ["a timeout that is no number", { nodes: NODES, tryTimeoutMs: NaN }, /tryTimeoutMs is NaN/],
    ["a limit that is no whole number", { nodes: NODES, limits: { rawBytesMax: 1.5 } }, /limits\.rawBytesMax is 1\.5/],
    ["a limit that does not exist", { nodes: NODES, limits: { bytes: 1 } }, /no "bytes"/],
    ["a strategy that does not exist", { nodes: NODES, balance: { strategy: "random" } }, /balance\.strategy is a string; it takes one of round_robin, weighted/],
    ["sniffing by no function", { nodes: NODES, balance: { sniff: true } }, /balance\.sniff is true; it takes a function/],
    ["hedging without a time", { nodes: NODES, balance: { hedge: {} } }, /balance\.hedge\.afterMs is missing; it takes milliseconds/],
    ["more hedging than calls", { nodes: NODES, balance: { hedge: { afterMs: 1, ratioMax: 2 } } }, /balance\.hedge\.ratioMax is 2; it takes a fraction/],
    ["ejection of a status that is none", { nodes: NODES, balance: { ejection: { statuses: [5000] } } }, /balance\.ejection\.statuses\[0\] is 5000/],
    ["ejection by a flag", { nodes: NODES, balance: { ejection: true } }, /balance\.ejection is true; it takes an object/],
    ["a clock without timers", { nodes: NODES, clock: { nowMs: () => 0, timeMs: () => 0 } }, /clock is an object \(Object\); it takes a clock/],
    ["chance that is a number", { nodes: NODES, random: 4 }, /random is 4; it takes a function/],
    ["a slot without a list", { nodes: NODES, provides: {} }, /provides is an object \(Object\); it takes an array/],
    ["a middleware without a list", { nodes: NODES, middleware: {} }, /middleware is an object \(Object\); it takes an array/],
    ["a connection that cannot send", { nodes: NODES, connection: {} }, /connection is an object \(Object\); it takes a connection/],
    ["statuses by a list", { nodes: NODES, throwStatus: [500] }, /throwStatus is an array of 1/],
    ["a header with a line end", { nodes: NODES, headers: { "x-a": "a\r\nb: c" } }, /headers\["x-a"\] is a string; it takes text/],
    ["a header of one connection", { nodes: NODES, headers: { connection: "close" } }, /headers\["connection"\]/],
    ["a flag that is none", { nodes: NODES, bigint: "yes" }, /bigint is a string; it takes true or false/],
];

for (const [name, options, message] of OPTIONS) {
    test(`options: ${name}`, () => assert.throws(() => new Transport(options), (error) => error instanceof TransportError && error.code === "options.invalid" && message.test(error.message) && !error.message.includes("hunter2")));
}

for (const [name, options, message] of [
    ["connections by text", { connections: "64" }, /connections is a string; it takes a whole number/],
    ["an option that does not exist", { pipelining: 10 }, /no "pipelining"/],
    ["a dispatcher that is none", { dispatcher: {} }, /dispatcher is an object/],
    ["TLS by text", { tls: "cert" }, /tls is a string/],
]) {
    test(`undici: ${name}`, () => assert.throws(() => undici(options), (error) => error.code === "options.invalid" && message.test(error.message)));
}

const ring = {};
ring.self = ring;

const REQUESTS = [
    ["no request", undefined, /request is missing/],
    ["a member that does not exist", { path: "/", url: "/" }, /no "url"/],
    ["no path", { method: "GET" }, /path is missing; it takes a path that begins/],
    ["a path without a slash", { path: "users" }, /path is a string/],
    ["a whole URL", { path: "http://b.test/" }, /path is a string/],
    ["a path with a space", { path: "/a b" }, /encoded/],
    ["a path with a line end", { path: "/a\r\nx: y" }, /encoded/],
    ["a path with a letter that is not encoded", { path: "/ä" }, /encoded/],
    ["a path with a fragment", { path: "/a#b" }, /encoded/],
    ["a method with a space", { method: "GET /", path: "/" }, /method is a string/],
    ["a tunnel", { method: "CONNECT", path: "/" }, /there are no tunnels/],
    ["a query that is a number", { path: "/", querystring: 7 }, /querystring is 7/],
    ["a query with an object in it", { path: "/", querystring: { a: { b: 1 } } }, /querystring\.a is an object/],
    ["a query with half a pair", { path: "/", querystring: { a: "\ud800" } }, /querystring\.a/],
    ["a header's name with a space", { path: "/", headers: { "x a": "1" } }, /headers\["x a"\]/],
    ["a header with a line end", { path: "/", headers: { "x-a": "1\nx-b: 2" } }, /headers\["x-a"\] is a string/],
    ["a header beyond Latin-1", { path: "/", headers: { "x-a": "…" } }, /Latin-1/],
    ["a header that is an object", { path: "/", headers: { "x-a": {} } }, /headers\["x-a"\] is an object/],
    ["a header in two spellings", { path: "/", headers: { "X-A": "1", "x-a": "2" } }, /two spellings/],
    ["a header that would be a prototype", { path: "/", headers: JSON.parse('{"__proto__":"a"}') }, /__proto__/],
    ["a header of one connection", { path: "/", headers: { "transfer-encoding": "chunked" } }, /one connection/],
    ["a body that is a number", { method: "POST", path: "/", body: 5 }, /body is 5; it takes text, bytes/],
    ["a body that is a Map", { method: "POST", path: "/", body: new Map() }, /body is an object \(Map\)/],
    ["a body that is a promise", { method: "POST", path: "/", body: Promise.resolve("a") }, /body is an object \(Promise\)/],
    ["a form that is another one's", { method: "POST", path: "/", body: { [Symbol.toStringTag]: "FormData", entries: () => [["a", { type: "x\r\ny: z" }]] } }, /body\["a"\] is an object \(Object\); it takes a text, or a Blob/],
    ["a body that is a ring", { method: "POST", path: "/", body: ring }, /JSON has a form for/],
    ["a body whose toJSON is nothing", { method: "POST", path: "/", body: { toJSON: () => undefined } }, /body is an object/],
    ["lines of NDJSON that are two", { method: "POST", path: "/", body: ndjson(["{}\n{}"]) }, /ndjson\[0\] is a string; it takes text of one line/],
    ["a line of NDJSON that has no form", { method: "POST", path: "/", body: ndjson([{}, undefined]) }, /ndjson\[1\] is missing/],
    ["a factory that makes no stream", { method: "POST", path: "/", body: new FactoryBody(() => "text") }, /made no stream/],
    ["a form that does not exist", { path: "/", as: "xml" }, /as is a string; it takes one of auto, json/],
    ["a timeout of less than nothing", { path: "/", timeoutMs: -1 }, /timeoutMs is -1/],
    ["retries, where nothing retries", { path: "/", retriesMax: 2 }, /the middleware retry to be among/],
    ["retryOnTimeout, where nothing retries", { path: "/", retryOnTimeout: false }, /the middleware retry to be among/],
];

for (const [name, request, message] of REQUESTS) {
    test(`a call: ${name}`, async () => {
        const { transport, sent, clock } = scripted([]);
        await assert.rejects(transport.request(request), (error) => error instanceof TransportError && error.code === "request.invalid" && message.test(error.message));
        assert.deepEqual(sent, []);
        assert.equal(clock.pending, 0);
    });
}

test("what is wrong with a plan keeps its own error", () => {
    const twice = middleware({ name: "a", scope: "call", onRequest: () => undefined });
    assert.throws(() => new Transport({ nodes: NODES, middleware: [twice, twice] }), { name: "MiddlewareError", code: "plan.duplicate" });
});

test("a header that a middleware sets wrong is refused by undici before it is sent", async () => {
    const bad = middleware({ name: "bad", scope: "call", onRequest: () => ({ headers: { "x-a": "a\nb" } }) });
    const transport = new Transport({ nodes: "http://127.0.0.1:1", middleware: [bad] });
    await assert.rejects(transport.request({ path: "/" }), { code: "request.invalid" });
    await transport.close();
});

test("what was put on Object.prototype is no option of a call, and is not sent", async (t) => {
    Object.prototype.polluted = "hunter2";
    t.after(() => delete Object.prototype.polluted);
    const { transport, sent } = scripted([{}]);
    await transport.request({ path: "/", headers: { a: "b" }, querystring: { c: "d" } });
    assert.deepEqual([sent[0].path, Object.keys(sent[0].headers)], ["/?c=d", ["a"]]);
});

test("a grace that is none is refused, and closes nothing", async () => {
    const { transport } = scripted([{}]);
    await assert.rejects(transport.close({ graceMs: "soon" }), { code: "options.invalid" });
    assert.equal((await transport.request({ path: "/" })).status, 200);
});
