// Bodies: what a caller gives as it stands on the wire, and what comes as the caller gets it.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { FactoryBody, isReplayable, isSendable, ndjson, OnceBody, readNdjson, secret } from "leat/transport";
import { middleware } from "leat/middleware";
import { bodyOf, echo, scripted, served } from "./made.mjs";

const bytes = new TextEncoder();

const GIVEN = [
    ["nothing", undefined, "", { "content-length": "0" }],
    ["null", null, "", { "content-length": "0" }],
    ["text", "grüße", "grüße", { "content-length": "7", "content-type": "text/plain; charset=utf-8" }],
    ["an empty text", "", "", { "content-length": "0" }],
    ["bytes", bytes.encode("abc"), "abc", { "content-length": "3", "content-type": undefined }],
    ["a part of a buffer", bytes.encode("xabcx").subarray(1, 4), "abc", { "content-length": "3" }],
    ["an array buffer", bytes.encode("abc").buffer, "abc", { "content-length": "3" }],
    ["a view of another kind", new DataView(bytes.encode("xabc").buffer, 1), "abc", { "content-length": "3" }],
    ["an object", { a: [1, "ü"] }, '{"a":[1,"ü"]}', { "content-type": "application/json" }],
    ["an array", [1, null], "[1,null]", { "content-type": "application/json" }],
    ["an object with a bigint", { id: 9007199254740993n, text: "big0n" }, '{"id":9007199254740993,"text":"big0n"}', { "content-type": "application/json" }],
    ["a form", new URLSearchParams({ a: "1 2" }), "a=1+2", { "content-type": "application/x-www-form-urlencoded" }],
    ["lines", ndjson([{ index: {} }, '{"a":1}', { n: 1n }]), '{"index":{}}\n{"a":1}\n{"n":1}\n', { "content-type": "application/x-ndjson" }],
    ["a blob", new Blob(["abc"], { type: "text/x-a" }), "abc", { "content-length": "3", "content-type": "text/x-a" }],
    ["a stream", () => Readable.from([Buffer.from("ab"), "c"]), "abc", { "transfer-encoding": "chunked" }, true],
    ["an async iterable", () => (async function* () { yield "ab"; yield bytes.encode("c"); })(), "abc", { "transfer-encoding": "chunked" }, true],
    ["a web stream", () => new Blob(["abc"]).stream(), "abc", { "transfer-encoding": "chunked" }, true],
    ["a function that makes a stream", () => Readable.from(["abc"]), "abc", { "transfer-encoding": "chunked" }],
    ["a factory that knows its length", new FactoryBody(() => Readable.from(["abc"]), 3), "abc", { "content-length": "3" }],
];

test("bodies that are given", async (t) => {
    const { transport } = await served(t, echo);
    for (const [name, body, text, headers, isMade] of GIVEN) {
        await t.test(name, async () => {
            const response = await transport.request({ method: "POST", path: "/", body: isMade ? body() : body });
            assert.equal(response.body.body, text);
            for (const [key, value] of Object.entries(headers)) assert.equal(response.body.headers[key], value, key);
        });
    }
    await t.test("a type of the caller's stands", async () => {
        const response = await transport.request({ method: "POST", path: "/", body: {}, headers: { "Content-Type": "application/vnd.a+json" } });
        assert.equal(response.body.headers["content-type"], "application/vnd.a+json");
    });
    await t.test("a secret in a body is sent, and shown nowhere else", async () => {
        const password = secret("hunter2!");
        const body = { user: "me", password };
        const response = await transport.request({ method: "POST", path: "/", body });
        assert.equal(response.body.body, '{"user":"me","password":"hunter2!"}');
        assert.equal(JSON.stringify(body), '{"user":"me","password":"[secret]"}');
    });
});

/** A form of those parts. */
function formOf(parts) {
    const form = new FormData();
    for (const part of parts) form.append(...part);
    return form;
}

const GIVEN_FORMS = [
    ["nothing", []],
    ["texts", [["a", "1"], ["a", "ü"], ["empty", ""]]],
    ["names that have to be escaped", [['a"b\r\nx: y', "1"], ["\r\n", "2"]]],
    ["files", [["a", "before"], ["file", new Blob(["abc"], { type: "text/x-a" }), 'n"a\nme.txt'], ["file", new Blob([Buffer.alloc(100_000, 7)])], ["b", "after"]]],
];

test("forms arrive as the platform's own decoder reads them", async (t) => {
    const seen = [];
    const { transport } = await served(t, async (request, response) => {
        const body = await bodyOf(request);
        seen.push([request.headers, body, await new Response(body, { headers: { "content-type": request.headers["content-type"] } }).formData()]);
        response.end();
    });
    const shown = (form) => Promise.all([...form].map(async ([name, value]) => [name, typeof value === "string" ? value : [value.name, value.type || "application/octet-stream", Buffer.from(await value.arrayBuffer()).toString("hex")]]));
    for (const [name, parts] of GIVEN_FORMS) {
        await t.test(name, async () => {
            const body = formOf(parts);
            await transport.request({ method: "POST", path: "/", body });
            const [headers, bytes, form] = seen.pop();
            assert.equal(Number(headers["content-length"]), bytes.byteLength);
            assert.deepEqual(await shown(form), await shown(body));
        });
    }
    await t.test("line ends of texts become those of the wire", async () => {
        await transport.request({ method: "POST", path: "/", body: formOf([["a", "1\n2\r3\r\n4"]]) });
        assert.equal(seen.pop()[2].get("a"), "1\r\n2\r\n3\r\n4");
    });
});

test("a form can be sent again, files too, and what is added to it meanwhile is not in it", async () => {
    for (const parts of [[["a", "1"]], [["a", "1"], ["file", new Blob(["abc"])]]]) {
        const body = formOf(parts);
        const again = middleware({ name: "again", scope: "call", repeats: true, around: async (_context, next) => (await next(), body.append("late", "1"), next()) });
        const { transport, sent } = scripted([{ status: 500 }, {}], { middleware: [again] });
        await transport.request({ method: "PUT", path: "/", body });
        const [first, second] = sent.map((each) => String(each.body));
        assert.equal(first, second);
        assert.ok(!first.includes("late"));
        assert.equal(first.includes("abc"), parts.length > 1);
    }
});

test("an object is written once, whatever is tried again", async () => {
    let written = 0;
    const again = middleware({ name: "again", scope: "call", repeats: true, around: async (_context, next) => (await next(), next()) });
    const { transport, sent } = scripted([{ status: 500 }, {}], { middleware: [again] });
    await transport.request({ method: "PUT", path: "/", body: { toJSON: () => ({ written: ++written }) } });
    assert.deepEqual(sent.map(({ body }) => String(body)), ['{"written":1}', '{"written":1}']);
});

test("a factory makes a stream for each try; a stream is sent once, and then refused without being sent", async () => {
    const again = middleware({ name: "again", scope: "call", repeats: true, around: async (_context, next) => (await next(), next()) });
    const { transport, sent } = scripted(() => ({}), { middleware: [again] });
    await transport.request({ method: "PUT", path: "/", body: () => Readable.from(["abc"]) });
    assert.deepEqual(sent.map(({ body }) => String(body)), ["abc", "abc"]);
    await assert.rejects(transport.request({ method: "PUT", path: "/", body: Readable.from(["abc"]) }), ({ code, attempts }) => code === "request.body_used" && attempts.length === 1);
    assert.equal(sent.length, 3);
    assert.equal(transport.nodes()[0].failures, 0, "which is not the node's failure");
});

test("whether a body can be sent again is in its kind", () => {
    for (const body of [undefined, "a", bytes.encode("a"), new FactoryBody(() => Readable.from(["a"]))]) assert.deepEqual([isReplayable(body), isSendable(body)], [true, true]);
    const once = new OnceBody(Readable.from(["a"]));
    assert.deepEqual([isReplayable(once), isSendable(once)], [false, true]);
    once.open();
    assert.deepEqual([isReplayable(once), isSendable(once)], [false, false]);
    assert.throws(() => once.open(), { code: "request.body_used" });
});

test("a body that fails while it is read is told as such, and its connection is not blamed", async (t) => {
    const { transport } = await served(t, (request, response) => request.resume().on("end", () => response.end()));
    const broken = new Error("disk");
    async function* failing() {
        yield "a";
        throw broken;
    }
    await assert.rejects(transport.request({ method: "POST", path: "/", body: failing() }), (error) => error.code === "request.body_failed" && error.cause === broken);
    assert.equal(transport.nodes()[0].state, "alive");
});

test("a body's stream is let go of when the call ends before it", async (t) => {
    const { transport } = await served(t, (request) => request.resume());
    const stalled = new Readable({ read() {} });
    stalled.push("a");
    const abort = new AbortController();
    const call = transport.request({ method: "POST", path: "/", body: stalled, signal: abort.signal });
    setImmediate(() => abort.abort());
    await assert.rejects(call, { code: "call.aborted" });
    assert.equal(stalled.destroyed, true);
});

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

const FORMS = [
    ["JSON by its type", { headers: JSON_TYPE, body: '{"a":1}' }, undefined, { a: 1 }],
    ["JSON by its suffix", { headers: { "content-type": "application/vnd.a+json" }, body: "[]" }, undefined, []],
    ["NDJSON by its type", { headers: { "content-type": "application/x-ndjson" }, body: '{"a":1}\n\n{"a":2}\n' }, undefined, [{ a: 1 }, { a: 2 }]],
    ["text by its type", { headers: { "content-type": "text/html" }, body: "ü" }, undefined, "ü"],
    ["bytes of another type", { headers: { "content-type": "image/png" }, body: "abc" }, undefined, Buffer.from("abc")],
    ["bytes without a type", { body: "abc" }, undefined, Buffer.from("abc")],
    ["nothing", { status: 204 }, undefined, undefined],
    ["nothing as text", { status: 204 }, "text", ""],
    ["nothing as bytes", { status: 204 }, "bytes", Buffer.alloc(0)],
    ["nothing as NDJSON", {}, "ndjson", []],
    ["JSON as text", { headers: JSON_TYPE, body: '{"a":1}' }, "text", '{"a":1}'],
    ["JSON as bytes", { headers: JSON_TYPE, body: "{}" }, "bytes", Buffer.from("{}")],
    ["text as JSON", { body: '"a"' }, "json", "a"],
    ["an encoded body as bytes", { headers: { "content-encoding": "gzip" }, body: "x" }, "bytes", Buffer.from("x")],
];

for (const [name, reply, as, expected] of FORMS) {
    test(`a response: ${name}`, async () => {
        const { transport } = scripted([reply]);
        const { body } = await transport.request({ path: "/", as });
        assert.deepEqual(body instanceof Uint8Array ? Buffer.from(body) : body, expected);
    });
}

const REFUSED = [
    ["JSON that is none", JSON_TYPE, "{secret: 1}", "response.body", /no JSON/],
    ["JSON that ends early", JSON_TYPE, '{"a":', "response.body", /no JSON/],
    ["a prototype", JSON_TYPE, '{"a":[{"__proto__":{"isAdmin":true}}]}', "response.body", /__proto__/],
    ["a prototype in escapes", JSON_TYPE, '{"\\u005f_proto__":{}}', "response.body", /__proto__/],
    ["a prototype of the constructor", JSON_TYPE, '{"constructor":{"prototype":{"a":1}}}', "response.body", /constructor\.prototype/],
    ["text that is no UTF-8", { "content-type": "text/plain" }, Buffer.from([0xff]), "response.body", /UTF-8/],
    ["a body that is encoded, where nothing decodes", { ...JSON_TYPE, "content-encoding": "gzip" }, "x", "response.encoding", /gzip/],
];

for (const [name, headers, body, code, message] of REFUSED) {
    test(`a response is refused: ${name}`, async () => {
        const { transport, clock } = scripted([{ headers, body }]);
        await assert.rejects(transport.request({ path: "/" }), (error) => {
            assert.equal(error.code, code);
            assert.match(error.message, message);
            assert.doesNotMatch(error.message, /secret/);
            assert.equal(error.response.status, 200);
            assert.equal(error.attempts.length, 1);
            return true;
        });
        assert.equal(clock.pending, 0);
    });
}

test("names that only look like a prototype are let through", async () => {
    const text = '{"text":"__proto__","constructor":"a","a":{"constructor":{"b":1}},"\\u0061":1}';
    const { transport } = scripted([{ headers: JSON_TYPE, body: text }]);
    assert.deepEqual((await transport.request({ path: "/" })).body, JSON.parse(text));
});

const NUMBERS = '{"a":9007199254740993,"b":-9007199254740993,"c":9007199254740991,"d":1e20,"e":12345678901234567.5,"f":"9007199254740993","g":[18446744073709551615],"h":"\\"9007199254740993"}';

test("whole numbers that a double cannot hold are bigint where that is asked for, and all else stays", async () => {
    const script = () => ({ headers: JSON_TYPE, body: NUMBERS });
    const { body } = await scripted(script, { bigint: true }).transport.request({ path: "/" });
    assert.deepEqual(body, { ...JSON.parse(NUMBERS), a: 9007199254740993n, b: -9007199254740993n, g: [18446744073709551615n] });
    assert.deepEqual((await scripted(script).transport.request({ path: "/" })).body, JSON.parse(NUMBERS));
    for (const wrong of ["[01234567890123456789]", "[12345678901234567890a]", "12345678901234567890 1"]) {
        await assert.rejects(scripted([{ headers: JSON_TYPE, body: wrong }], { bigint: true }).transport.request({ path: "/" }), { code: "response.body" }, wrong);
    }
});

test("a stream comes as it is sent, and lines of it one by one", async (t) => {
    const { transport } = await served(t, (_request, response) => {
        response.write('{"a":1}\n{"a":');
        setImmediate(() => response.end('2}\n\n{"ü":3}'));
    });
    const { body } = await transport.request({ path: "/", as: "stream" });
    assert.ok(body instanceof Readable);
    const items = [];
    for await (const item of readNdjson(body)) items.push(item);
    assert.deepEqual(items, [{ a: 1 }, { a: 2 }, { ü: 3 }]);
});

test("lines have a limit, and leaving them ends the stream", async () => {
    const long = Readable.from([Buffer.from("x".repeat(50)), Buffer.from("x".repeat(51))]);
    await assert.rejects(async () => {
        for await (const item of readNdjson(long, { bigint: false, lineBytesMax: 100 })) assert.fail(String(item));
    }, { code: "response.limit", limit: "lineBytesMax" });
    const lines = Readable.from([Buffer.from("1\n2\n"), Buffer.from("3\n")]);
    for await (const item of readNdjson(lines)) {
        assert.equal(item, 1);
        break;
    }
    assert.equal(lines.destroyed, true);
});

test("a stream that nobody reads makes the peer wait", async (t) => {
    const TOTAL = 64 * 1024 * 1024;
    let written = 0;
    const { transport } = await served(t, (_request, response) => {
        const more = () => {
            while (written < TOTAL) {
                written += 65_536;
                if (!response.write(Buffer.alloc(65_536))) return response.once("drain", more);
            }
            response.end();
        };
        more();
    });
    const { body } = await transport.request({ path: "/", as: "stream" });
    let before = -1;
    // Until nothing moves any more in a whole while of turns.
    while (before !== written) {
        before = written;
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(written < TOTAL / 2, `${written} bytes`);
    assert.equal((await bodyOf(body)).length, TOTAL);
});
