// What leat/rpc does at its edge: preflights, origins, and replies that are compressed.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createServer } from "leat/rpc";
import { Notes } from "./schema.mjs";
import { implementation, serve } from "./service.mjs";

const SHOP = "https://shop.example";
const routes = (router) => router.service(Notes, implementation);

/** A request as it is on the wire: `fetch` would decompress the reply. */
function ask(base, path, { method = "POST", headers = {}, body = "" } = {}) {
    return new Promise((resolve, reject) => {
        request(`${base}${path}`, { method, headers }, (response) => {
            const pieces = [];
            response.on("data", (piece) => pieces.push(piece)).on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }));
            response.on("error", reject);
        }).on("error", reject).end(body);
    });
}

const preflight = (base, origin, path = "/leat.test.Notes/Say") => ask(base, path, {
    method: "OPTIONS", headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type,connect-protocol-version,x-ask" },
});
const say = (base, text, headers = {}) => ask(base, "/leat.test.Notes/Say", { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify({ text }) });

test("a preflight is answered for pages of every origin, unless told", async (t) => {
    const base = await serve(t);
    const { status, headers } = await preflight(base, SHOP);
    assert.equal(status, 204);
    assert.equal(headers["access-control-allow-origin"], "*");
    assert.match(headers["access-control-allow-methods"], /POST/);
    assert.equal(headers["access-control-allow-headers"], "content-type,connect-protocol-version,x-ask");
    assert.equal((await say(base, "hi", { origin: SHOP })).headers["access-control-allow-origin"], "*");
    assert.equal((await preflight(base, SHOP, "/elsewhere")).status, 404, "a path that is no method's is the program's");
});

test("origins that are named may call, others may not, and replies depend on the origin", async (t) => {
    const base = await serve(t, { cors: { origins: [SHOP, "http://localhost:3000"] } });
    for (const origin of [SHOP, "http://localhost:3000"]) {
        assert.deepEqual([(await preflight(base, origin)).status, (await preflight(base, origin)).headers["access-control-allow-origin"]], [204, origin]);
        for (const text of ["hi", "refuse"]) {
            const { headers } = await say(base, text, { origin });
            assert.deepEqual([headers["access-control-allow-origin"], headers.vary], [origin, "origin"], text);
        }
    }
    const refused = await preflight(base, "https://elsewhere.example");
    assert.deepEqual([refused.status, refused.headers["access-control-allow-origin"]], [403, undefined]);
    assert.match(refused.body.toString(), /cors\.origin/);
    const { headers } = await say(base, "hi", { origin: "https://elsewhere.example" });
    assert.deepEqual([headers["access-control-allow-origin"], headers.vary], [undefined, "origin"]);
});

test("without CORS nothing is said to browsers, and a program may answer them itself", async (t) => {
    const base = await serve(t, { cors: false, fallback: (asked, response) => response.writeHead(204, { "x-own": asked.method }).end() });
    const { status, headers } = await preflight(base, SHOP);
    assert.deepEqual([status, headers["x-own"], headers["access-control-allow-origin"]], [204, "OPTIONS", undefined]);
    const reply = await say(base, "hi", { origin: SHOP });
    assert.deepEqual([reply.headers["access-control-allow-origin"], reply.headers.vary], [undefined, undefined]);
});

test("origins that no browser sends are refused where the server is made", () => {
    for (const origins of ["https://shop.example", ["shop.example"], ["https://shop.example/"], ["https://Shop.example"], ["https://shop.example:443"], ["*"], [7], undefined]) {
        assert.throws(() => createServer({ routes, cors: { origins } }), TypeError, JSON.stringify(origins));
    }
    for (const origins of ["*", [], ["https://shop.example:8443"], ["capacitor://localhost"]]) createServer({ routes, cors: { origins } });
});

const LONG = "x".repeat(5_000);

test("replies are compressed where the client takes that and it is worth it", async (t) => {
    const base = await serve(t);
    for (const [accept, coding, unpack] of [["gzip", "gzip", gunzipSync], ["br", "br", brotliDecompressSync], ["br, gzip", "gzip", gunzipSync], ["br, gzip;q=0", "br", brotliDecompressSync], ["identity", undefined, (body) => body], ["zstd", undefined, (body) => body]]) {
        const { headers, body } = await say(base, LONG, { "accept-encoding": accept });
        assert.equal(headers["content-encoding"], coding, accept);
        assert.equal(JSON.parse(unpack(body)).text, LONG);
        assert.ok(coding === undefined || body.length < 500, `${body.length} bytes`);
        assert.equal(headers.vary, "accept-encoding", "a cache must know, also where the client takes none");
    }
    const short = await say(base, "hi", { "accept-encoding": "gzip" });
    assert.deepEqual([short.headers["content-encoding"], short.headers.vary, JSON.parse(short.body).text], [undefined, undefined, "hi"]);
    const error = await say(base, "refuse", { "accept-encoding": "gzip" });
    assert.deepEqual([error.status, error.headers["content-encoding"]], [403, undefined]);
});

test("what gets no shorter is sent as it is", async (t) => {
    const base = await serve(t, { compressMinBytes: 0 });
    const { headers, body } = await say(base, "hi", { "accept-encoding": "gzip" });
    assert.deepEqual([headers["content-encoding"], JSON.parse(body).text], [undefined, "hi"]);
});

test("acceptCompression and compressMinBytes are those of connect-node", async (t) => {
    const codingOf = async (options, text = LONG, accept = "gzip, br, zstd") => (await say(await serve(t, options), text, { "accept-encoding": accept })).headers["content-encoding"];
    assert.equal(await codingOf({ acceptCompression: [compressionBrotli, compressionGzip] }), "br");
    assert.equal(await codingOf({ acceptCompression: ["zstd"] }), "zstd");
    assert.equal(await codingOf({ acceptCompression: [] }), undefined);
    assert.equal(await codingOf({ compressMinBytes: 6_000 }), undefined);
    assert.equal(await codingOf({ compressMinBytes: 100 }, "x".repeat(200)), "gzip");
    assert.throws(() => createServer({ routes, acceptCompression: [{ name: "snappy" }] }), /snappy/);
    for (const compressMinBytes of [-1, 1.5, Number.NaN, "1"]) assert.throws(() => createServer({ routes, compressMinBytes }), RangeError);
});

for (const [name, make] of Object.entries({
    "Connect, HTTP/1.1": (options) => createConnectTransport({ httpVersion: "1.1", ...options }),
    "Connect, HTTP/2": (options) => createConnectTransport({ httpVersion: "2", ...options }),
    "gRPC-Web": (options) => createGrpcWebTransport({ httpVersion: "1.1", ...options }),
    "gRPC": (options) => createGrpcTransport(options),
})) {
    test(`${name}: streams and single messages come back as they were, and are short on the wire`, async (t) => {
        const seen = { packed: 0, plain: 0 };
        // Tells what it was given.
        const counting = { ...compressionGzip, async decompress(bytes, most) {
            const plain = await compressionGzip.decompress(bytes, most);
            seen.packed += bytes.length;
            seen.plain += plain.length;
            return plain;
        } };
        const notes = createClient(Notes, make({ baseUrl: await serve(t), acceptCompression: [counting] }));
        assert.equal((await notes.say({ text: LONG })).text, LONG);
        const replies = [];
        for await (const { data } of notes.count({ id: 3n, data: new Uint8Array(5_000) })) replies.push(data.length);
        assert.deepEqual(replies, [5_000, 5_000, 5_000]);
        // HTTP/1.1's whole replies may be unpacked below connect's own layer; the stream never is.
        assert.ok(seen.plain >= 15_000 && seen.packed * 10 < seen.plain, JSON.stringify(seen));
        assert.equal((await notes.say({ text: "hi" })).text, "hi");
    });
}
