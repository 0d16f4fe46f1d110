// The middleware `cache`.
import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";
import { middleware } from "leat/middleware";
import { failure, load, setup, thrown } from "./setup.mjs";

const { auth } = load("builtin/auth");
const { cache } = load("builtin/cache");
const { compression } = load("builtin/compression");
const { directivesOf, lifetimeMs } = load("builtin/caching/freshness");

/** A peer that numbers its answers. */
const numbered = (headers, more = {}) => ({ number }) => ({ headers: { "content-type": "text/plain", ...headers }, body: `${number}`, ...more });
const DATE = "Thu, 01 Jan 2026 00:00:00 GMT";

/** Two calls, the second so much later: what it came to, and how often the peer was asked. */
const TWICE = [
    ["fresh", { "cache-control": "max-age=60" }, 59_999, "0", 1],
    ["stale at the very time", { "cache-control": "max-age=60" }, 60_000, "1", 2],
    ["private is ours", { "cache-control": "private, MAX-AGE=\"60\"" }, 1000, "0", 1],
    ["a shared cache's time is not", { "cache-control": "s-maxage=60" }, 0, "1", 2],
    ["old when it came", { "cache-control": "max-age=60", age: "50" }, 10_000, "1", 2],
    ["not to be kept", { "cache-control": "max-age=60, no-store" }, 0, "1", 2],
    ["to be asked about each time", { "cache-control": "max-age=60, no-cache" }, 0, "1", 2],
    ["a time that is none", { "cache-control": "max-age=soon" }, 0, "1", 2],
    ["a date", { expires: "Thu, 01 Jan 2026 00:01:00 GMT", date: DATE }, 59_999, "0", 1],
    ["a date that is over", { expires: "Thu, 01 Jan 2026 00:01:00 GMT", date: DATE }, 60_000, "1", 2],
    ["a date that is none", { expires: "0", date: DATE }, 0, "1", 2],
    ["max-age before a date", { "cache-control": "max-age=0", expires: "Thu, 01 Jan 2026 00:01:00 GMT", date: DATE }, 0, "1", 2],
    ["nothing said", {}, 0, "1", 2],
    ["everything matters", { "cache-control": "max-age=60", vary: "*" }, 0, "1", 2],
];
for (const [name, headers, laterMs, body, sent] of TWICE) {
    test(`${name}: the peer is asked ${sent === 1 ? "once" : "twice"}`, async () => {
        const { request, exchanges, clock } = setup([cache()], numbered(headers));
        await request({ path: "/a" });
        await clock.advance(laterMs);
        assert.equal((await request({ path: "/a" })).body, body);
        assert.equal(exchanges.length, sent);
    });
}

test("an answer tells its age, and is the caller's own", async () => {
    const { request, clock } = setup([cache()], numbered({ "cache-control": "max-age=60" }));
    const first = await request({ as: "bytes" });
    first.body[0] = 120;
    await clock.advance(1500);
    const second = await request({ as: "bytes" });
    assert.equal(second.headers.age, "1");
    assert.equal(Buffer.from(second.body).toString(), "0");
    second.body[0] = 120;
    assert.equal((await request({ as: "text" })).body, "0");
    assert.deepEqual(second.attempts, []);
});

const NOT_FROM_IT = {
    "another method": { method: "HEAD" },
    "a stream": { as: "stream" },
    "a condition of the caller's": { headers: { "if-none-match": '"a"' } },
    "a range": { headers: { range: "bytes=0-1" } },
    "a request that wants none kept": { headers: { "cache-control": "no-store" } },
    "a request that wants none of it": { headers: { "cache-control": "no-cache" } },
    "another path": { path: "/b" },
    "other credentials": { headers: { authorization: "Basic b" } },
    "another cookie": { headers: { cookie: "b=1" } },
};
for (const [name, options] of Object.entries(NOT_FROM_IT)) {
    test(`${name} is not answered from it`, async () => {
        const { request, exchanges, clock } = setup([cache()], numbered({ "cache-control": "max-age=60" }));
        await request({ path: "/a" });
        const { body } = await request({ path: "/a", ...options });
        if (options.as === "stream") await clock.settle(body.toArray());
        assert.equal(exchanges.length, 2);
    });
}

test("what a response varies by chooses it", async () => {
    const { request, exchanges } = setup([cache()], numbered({ "cache-control": "max-age=60", vary: "Accept-Language, x-b" }));
    const ask = async (language) => (await request({ headers: { "accept-language": language } })).body;
    assert.deepEqual([await ask("de"), await ask("en"), await ask("de"), await ask("en"), await ask("fr")], ["0", "1", "0", "1", "2"]);
    assert.equal(exchanges.length, 3);
});

test("what is stale is asked about, and a 304 makes it good again", async () => {
    const script = [
        { headers: { etag: '"a"', "last-modified": DATE, "cache-control": "max-age=10", "x-kept": "1", "content-type": "text/plain" }, body: "first" },
        { status: 304, headers: { etag: '"a"', "cache-control": "max-age=20", "x-new": "1" } },
        { headers: { etag: '"b"', "content-type": "text/plain" }, body: "second" },
        { status: 304 },
    ];
    const { request, exchanges, clock } = setup([cache()], script);
    const ask = async (laterMs) => {
        await clock.advance(laterMs);
        const { status, body, headers } = await request();
        return { status, body, kept: headers["x-kept"], new: headers["x-new"], sent: exchanges.length };
    };
    assert.deepEqual(await ask(0), { status: 200, body: "first", kept: "1", new: undefined, sent: 1 });
    assert.deepEqual(await ask(10_000), { status: 200, body: "first", kept: "1", new: "1", sent: 2 });
    assert.deepEqual(await ask(19_999), { status: 200, body: "first", kept: "1", new: "1", sent: 2 });
    assert.deepEqual(await ask(1), { status: 200, body: "second", kept: undefined, new: undefined, sent: 3 });
    assert.deepEqual(await ask(0), { status: 200, body: "second", kept: undefined, new: undefined, sent: 4 });
    assert.deepEqual(exchanges.map(({ headers }) => [headers["if-none-match"], headers["if-modified-since"]]), [[undefined, undefined], ['"a"', DATE], ['"a"', DATE], ['"b"', undefined]]);
});

/** What the peer said, what the second try comes to, how much later, and what the caller gets. */
const STAND_INS = [
    ["an error", "max-age=60, stale-if-error=30", { status: 503, headers: { "retry-after": "9" } }, 89_999, [200, "kept"]],
    ["an error, without max-age", "stale-if-error=30", { status: 500 }, 29_999, [200, "kept"]],
    ["a connection that fails", "max-age=60, stale-if-error=30", { fails: "connection.failed" }, 70_000, [200, "kept"]],
    ["a connection that breaks", "max-age=60, stale-if-error=30", { fails: "connection.broken" }, 70_000, [200, "kept"]],
    ["an error when it is too old", "max-age=60, stale-if-error=30", { status: 503 }, 90_000, [503, ""]],
    ["a failure when it is too old", "max-age=60, stale-if-error=30", { fails: "connection.failed" }, 90_000, "connection.failed"],
    ["an error that is the caller's", "max-age=60, stale-if-error=30", { status: 404 }, 70_000, [404, ""]],
    ["an error, where it must be asked for", "max-age=60, stale-if-error=30, must-revalidate", { status: 503 }, 70_000, [503, ""]],
    ["an error, where nobody allowed it", "max-age=60", { status: 503 }, 70_000, [503, ""]],
    ["a time that is none", "max-age=60, stale-if-error=soon", { status: 503 }, 70_000, [503, ""]],
];
for (const [name, control, second, laterMs, outcome] of STAND_INS) {
    test(`what is kept and ${name}: ${outcome}`, async () => {
        const first = { headers: { "cache-control": control, etag: '"1"', "content-type": "text/plain" }, body: "kept" };
        const { request, clock } = setup([cache()], [first, second]);
        await request({ path: "/a" });
        await clock.advance(laterMs);
        if (typeof outcome === "string") return assert.equal((await failure(request({ path: "/a" }))).code, outcome);
        const { status, body, headers } = await request({ path: "/a", as: "text" });
        assert.deepEqual([status, body], outcome);
        if (status !== 200) return undefined;
        assert.equal(headers.age, String(Math.floor(laterMs / 1000)));
        assert.equal(headers["retry-after"], undefined);
        return undefined;
    });
}

test("a call at its end gets no answer that stands in", async () => {
    const { request, clock } = setup([cache()], [{ headers: { "cache-control": "stale-if-error=60" }, body: "kept" }, "silent"]);
    await request({ path: "/a" });
    await clock.advance(1000);
    assert.equal((await failure(request({ path: "/a", timeoutMs: 50 }))).code, "call.deadline");
});

test("another's credentials get no answer that stands in", async () => {
    const first = { headers: { "cache-control": "max-age=1, stale-if-error=60" }, body: "ada's" };
    const { request, clock } = setup([cache()], [first, { status: 503 }]);
    await request({ path: "/a", headers: { authorization: "Bearer ada" } });
    await clock.advance(2000);
    assert.equal((await request({ path: "/a", headers: { authorization: "Bearer bob" } })).status, 503);
});

test("a 304 that nobody asked for is the caller's", async () => {
    const { request } = setup([cache()], [{ status: 304 }]);
    assert.equal((await request({ headers: { "if-none-match": '"a"' } })).status, 304);
});

test("a request that changes a path lets go of it, and one that failed does not", async () => {
    for (const [status, sent] of [[200, 3], [303, 3], [409, 2]]) {
        const { request, exchanges } = setup([cache()], ({ method, number }) => ({ status: method === "GET" ? 200 : status, headers: { "cache-control": "max-age=60" }, body: `${number}` }));
        await request({ path: "/a" });
        await request({ method: "POST", path: "/a", body: "x" });
        await request({ path: "/a" });
        assert.equal(exchanges.length, sent);
    }
});

test("other statuses are not kept", async () => {
    for (const status of [203, 301, 404, 503]) {
        const { request, exchanges } = setup([cache()], numbered({ "cache-control": "max-age=60" }, { status }));
        await request();
        await request();
        assert.equal(exchanges.length, 2);
    }
});

test("credentials that are set further out choose, and those that are set further in keep it from being kept", async () => {
    const perUser = middleware({ name: "perUser", scope: "attempt", reads: [load("call").call], onRequest: (context) => ({ headers: { authorization: context.get(load("call").call).options.meta } }) });
    const ask = async (list) => {
        const { request, exchanges } = setup(list, numbered({ "cache-control": "max-age=60" }));
        for (const meta of ["a", "b", "a"]) await request({ meta });
        return exchanges.map(({ headers }) => headers.authorization);
    };
    assert.deepEqual(await ask([perUser, cache()]), ["a", "b"]);
    assert.deepEqual(await ask([cache(), perUser]), ["a", "b", "a"]);
    assert.deepEqual(await ask([auth({ apiKey: "abcd" }), cache()]), ["ApiKey abcd"]);
});

test("inside of compression it keeps what came, and it is decoded each time", async () => {
    const body = zlib.gzipSync("plain");
    const { request, exchanges } = setup([compression(), cache()], [{ headers: { "content-encoding": "gzip", "cache-control": "max-age=60", vary: "accept-encoding", "content-type": "text/plain" }, body }]);
    assert.equal((await request()).body, "plain");
    assert.equal((await request()).body, "plain");
    assert.equal(exchanges.length, 1);
});

test("no more is kept than it may, and those go that were not used for longest", async () => {
    const script = numbered({ "cache-control": "max-age=60" });
    for (const options of [{ entriesMax: 2 }, { bytesMax: 2 * 1025 }]) {
        const { request, exchanges } = setup([cache(options)], script);
        for (const path of ["/a", "/b", "/a", "/c", "/a", "/b"]) await request({ path });
        assert.deepEqual(exchanges.map(({ path }) => path), ["/a", "/b", "/c", "/b"]);
    }
    const { request, exchanges } = setup([cache({ bodyBytesMax: 0 })], script);
    await request();
    await request();
    assert.equal(exchanges.length, 2);
});

test("a path with many variants keeps the last eight", async () => {
    const { request, exchanges } = setup([cache()], numbered({ "cache-control": "max-age=60", vary: "x-a" }));
    const ask = (value) => request({ headers: { "x-a": `${value}` } });
    for (let value = 0; value < 9; value++) await ask(value);
    for (let value = 1; value < 9; value++) await ask(value);
    assert.equal(exchanges.length, 9);
    await ask(0);
    assert.equal(exchanges.length, 10);
});

test("cache-control is read as it may be written", () => {
    const cases = [
        ["max-age=5", { "max-age": "5" }],
        ['private="x, y", Max-Age = 5', { private: "x, y", "max-age": "" , 5: "" }],
        [["no-cache", "max-age=1, max-age=2"], { "no-cache": "", "max-age": "1" }],
        ["", {}],
    ];
    for (const [value, expected] of cases) assert.deepEqual(Object.fromEntries(directivesOf({ "cache-control": value })), expected);
    assert.equal(lifetimeMs({ "cache-control": `max-age=${"9".repeat(30)}` }), 2 ** 31 * 1000);
});

test("wrong options are refused by their names", () => {
    for (const [options, message] of [
        [{ entriesMax: 0 }, "cache.entriesMax is 0"],
        [{ bytesMax: "16M" }, "cache.bytesMax is a string"],
        [{ bodyBytesMax: -1 }, "cache.bodyBytesMax is -1"],
        [{ ttl: 5 }, 'no "ttl"'],
    ]) {
        const error = thrown(() => cache(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
