// The middleware `compression`: both ways, within limits.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import zlib from "node:zlib";
import { failure, load, setup, thrown } from "./setup.mjs";

const { compression } = load("builtin/compression");
const { limits } = load("builtin/limits");
const { retry } = load("builtin/retry");
const hasZstd = typeof zlib.zstdCompressSync === "function";
const SKIP = { zstd: hasZstd ? false : "this Node.js has no zstd" };
const ENCODE = { gzip: zlib.gzipSync, "x-gzip": zlib.gzipSync, br: zlib.brotliCompressSync, zstd: zlib.zstdCompressSync };
const DECODE = { gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync, zstd: zlib.zstdDecompressSync };
const MIB = 1024 * 1024;
const small = Buffer.from("fine, ".repeat(50));
const large = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `${at}`).join(" "));

/** Where only a stream is decoded in pieces, both ways have to be tried. */
const reply = (coding, bytes) => ({ headers: { "content-encoding": coding, "content-length": String(bytes.length), "content-type": "application/octet-stream" }, body: bytes });
const bytesOf = (body) => (body instanceof Readable ? body.toArray().then((chunks) => Buffer.concat(chunks)) : Buffer.from(body));

for (const coding of ["gzip", "x-gzip", "br", "zstd"]) {
    for (const as of ["bytes", "stream"]) {
        for (const [size, plain] of Object.entries({ small, large })) {
            test(`a ${size} response in ${coding} is decoded, as ${as}`, { skip: SKIP[coding] }, async () => {
                const { request, clock } = setup([compression()], [reply(coding, ENCODE[coding](plain))]);
                const { body, headers } = await request({ as });
                assert.deepEqual(await clock.settle(bytesOf(body)), plain);
                assert.equal(headers["content-encoding"], undefined);
                assert.equal(headers["content-length"], undefined);
            });
        }
    }
}

test("codings over one another are decoded from the outside", async () => {
    const { request } = setup([compression()], [reply("br, gzip", zlib.gzipSync(zlib.brotliCompressSync(large)))]);
    assert.deepEqual(Buffer.from((await request({ as: "bytes" })).body), large);
});

const BAD = {
    "bytes that are none of the coding": ["gzip", Buffer.from("no gzip at all"), "response.encoding"],
    "a body that ends too early": ["gzip", zlib.gzipSync(randomBytes(1000)).subarray(0, 500), "response.encoding"],
    "a large body that ends too early": ["br", zlib.brotliCompressSync(randomBytes(100_000)).subarray(0, 50_000), "response.encoding"],
    "a coding that nobody asked for": ["compress", small, "response.encoding"],
    "a name of every object": ["constructor", small, "response.encoding"],
    "three codings": ["gzip, gzip, gzip", small, "response.encoding"],
    "200 MiB in 200 kB": ["gzip", zlib.gzipSync(Buffer.alloc(200 * MIB)), "response.limit", "ratioMax"],
    "1 MiB and a byte": ["gzip", zlib.gzipSync(randomBytes(MIB + 1)), "response.limit", "decodedBytesMax"],
    "a small body that comes to 900 times its bytes": ["gzip", zlib.gzipSync(Buffer.alloc(MIB - 1)), "response.limit", "ratioMax"],
    "two codings that come to 200 times their bytes": ["gzip, gzip", zlib.gzipSync(zlib.gzipSync(Buffer.alloc(MIB - 1), { level: 1 })), "response.limit", "ratioMax"],
};

for (const [name, [coding, bytes, code, limit]] of Object.entries(BAD)) {
    for (const as of ["bytes", "stream"]) {
        test(`${name}, as ${as}: ${code}`, async () => {
            const { request, clock } = setup([limits({ decodedBytesMax: MIB }), compression()], [reply(coding, bytes)]);
            const before = process.memoryUsage().arrayBuffers;
            const error = await failure(request({ as }).then(({ body }) => clock.settle(body.toArray())));
            assert.equal(error.code, code);
            assert.equal(error.limit, limit);
            assert.ok(process.memoryUsage().arrayBuffers - before < 50 * MIB);
        });
    }
}

test("what is just within the limits passes", async () => {
    const body = zlib.gzipSync(randomBytes(MIB));
    const { request } = setup([limits({ decodedBytesMax: MIB }), compression()], [reply("gzip", body)]);
    assert.equal((await request({ as: "bytes" })).body.byteLength, MIB);
});

test("small bodies may come to any ratio", async () => {
    const { request } = setup([limits({ ratioMax: 2 }), compression()], [reply("gzip", zlib.gzipSync(Buffer.alloc(65_536)))]);
    assert.equal((await request({ as: "bytes" })).body.byteLength, 65_536);
});

test("responses without a body stay as they are", async () => {
    for (const [method, status] of [["HEAD", 200], ["GET", 204], ["GET", 304]]) {
        const { request } = setup([compression()], [{ status, headers: { "content-encoding": "gzip" } }]);
        assert.equal((await request({ method })).headers["content-encoding"], "gzip");
    }
});

test("it asks for the codings that it is told to, and leaves those who ask themselves alone", async () => {
    const all = hasZstd ? "gzip, br, zstd" : "gzip, br";
    for (const [options, headers, asked] of [
        [undefined, {}, all],
        [{ accept: ["br"] }, {}, "br"],
        [{ accept: false }, {}, undefined],
        [undefined, { "accept-encoding": "gzip" }, "gzip"],
    ]) {
        const bytes = zlib.gzipSync(small);
        const { request, exchanges } = setup([compression(options)], [reply("gzip", bytes)]);
        const { body } = await request({ headers, as: "bytes" });
        assert.equal(exchanges[0].headers["accept-encoding"], asked);
        const isOurs = options?.accept !== false && headers["accept-encoding"] === undefined;
        assert.deepEqual(Buffer.from(body), isOurs ? small : bytes);
    }
});

const BODIES = {
    text: large.toString(),
    "large bytes": large,
    "bytes that are encoded at once": large.subarray(0, 20_000),
    "a function": () => Readable.from([large]),
    "a stream": Readable.from([large]),
};

for (const coding of ["gzip", "br", "zstd"]) {
    for (const [kind, body] of Object.entries(BODIES)) {
        if (body instanceof Readable && coding !== "gzip") continue;
        test(`${kind} is sent in ${coding}`, { skip: SKIP[coding] }, async () => {
            const { request, exchanges } = setup([compression({ request: coding })], [{}]);
            await request({ method: "POST", body });
            const [{ headers, body: sent }] = exchanges;
            assert.equal(headers["content-encoding"], coding);
            assert.equal(headers["content-length"], undefined);
            const plain = DECODE[coding](sent);
            assert.deepEqual(plain, kind.startsWith("bytes") ? body : large);
            assert.ok(sent.byteLength < plain.byteLength);
        });
    }
}

test("bodies that are small, encoded already, or do not get smaller are sent as they are", async () => {
    for (const [body, headers] of [
        ["x".repeat(1023), {}],
        [randomBytes(5000), {}],
        [zlib.gzipSync(large), { "content-encoding": "gzip" }],
    ]) {
        const { request, exchanges } = setup([compression({ request: "gzip" })], [{}]);
        await request({ method: "POST", body, headers });
        assert.deepEqual(exchanges[0].body, Buffer.from(body));
        assert.equal(exchanges[0].headers["content-encoding"], headers["content-encoding"]);
    }
});

test("a body is encoded once for all tries", async (t) => {
    const encodes = t.mock.method(zlib, "gzipSync");
    const { request, exchanges } = setup([retry(), compression({ request: "gzip" })], [{ status: 503 }, { status: 503 }, {}]);
    await request({ method: "PUT", body: "again ".repeat(1000) });
    assert.equal(exchanges.length, 3);
    assert.equal(new Set(exchanges.map(({ body }) => body.toString("hex"))).size, 1);
    assert.equal(exchanges[2].headers["content-encoding"], "gzip");
    assert.equal(encodes.mock.callCount(), 1);
});

test("a body that is made anew for each try is encoded anew", async () => {
    const script = [{ fails: "connection.failed" }, {}];
    const { exchanges, transport, clock } = setup([retry(), compression({ request: "gzip" })], script);
    await clock.settle(transport.request({ path: "/", method: "PUT", body: () => Readable.from([large]) }));
    assert.deepEqual(zlib.gunzipSync(exchanges[1].body), large);
});

test("a route that does not get smaller is left alone, and tried again later", async () => {
    const { request, exchanges } = setup([compression({ request: "gzip" })], () => ({}));
    const encoded = () => exchanges.splice(0).map(({ headers }) => headers["content-encoding"] !== undefined);
    const send = (route, body) => request({ method: "POST", path: "/", route, body });
    // These save 3 in 100, which is something, and not worth it.
    const dense = Buffer.concat([randomBytes(10_000), Buffer.alloc(300)]);
    for (let round = 0; round < 75; round++) await send("/images", dense);
    const sent = encoded();
    assert.deepEqual(sent.slice(0, 4), [true, true, true, true]);
    assert.ok(sent.slice(4, 68).every((is) => !is));
    assert.equal(sent[68], true);
    await send("/texts", large);
    assert.deepEqual(encoded(), [true]);
});

test("it learns nothing where it is told not to", async () => {
    const { request, exchanges } = setup([compression({ request: "gzip", learn: false })], () => ({}));
    for (let round = 0; round < 8; round++) await request({ method: "POST", body: Buffer.concat([randomBytes(10_000), Buffer.alloc(300)]) });
    assert.ok(exchanges.every(({ headers }) => headers["content-encoding"] === "gzip"));
});

test("wrong options are refused by their names", () => {
    const wrong = [
        [null, "compression is null"],
        [{ level: 9 }, 'no "level"'],
        [{ accept: "gzip" }, "compression.accept is a string; it takes codings"],
        [{ accept: [] }, "compression.accept is an array of 0"],
        [{ accept: ["gzip", "deflate"] }, "compression.accept[1] is a string; it takes one of gzip, br, zstd"],
        [{ request: true }, "compression.request is true; it takes one of gzip, br, zstd"],
        [{ requestBytesMin: -1 }, "compression.requestBytesMin is -1"],
        [{ learn: "no" }, "compression.learn is a string"],
        ...(hasZstd ? [] : [[{ request: "zstd" }, "which has no zstd"]]),
    ];
    for (const [options, message] of wrong) {
        const error = thrown(() => compression(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
