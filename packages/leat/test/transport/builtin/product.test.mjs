// The middleware `product`, `deadline` and `limits`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, load, setup, thrown } from "./setup.mjs";

const { product } = load("builtin/product");
const { deadline } = load("builtin/deadline");
const { limits } = load("builtin/limits");
const { retry } = load("builtin/retry");

const check = { header: "x-elastic-product", value: "Elasticsearch" };

test("product sets headers and takes them away, whatever the call says", async () => {
    const { request, exchanges } = setup([product({ headers: { "user-agent": "sdk/1", "x-list": ["a", "b"], cookie: null } })], [{}]);
    await request({ headers: { "user-agent": "mine", cookie: "a=b", "x-own": "1" } });
    assert.deepEqual({ ...exchanges[0].headers }, { "user-agent": "sdk/1", "x-list": ["a", "b"], "x-own": "1" });
});

const CHECKED = [
    ["the product", 200, { "x-elastic-product": "Elasticsearch" }, undefined],
    ["no product", 200, {}, /has no header "x-elastic-product"/],
    ["another one", 200, { "x-elastic-product": "secret" }, /has another value in the header "x-elastic-product"/],
    ["two at once", 201, { "x-elastic-product": ["Elasticsearch", "Elasticsearch"] }, /has another value/],
    ["a status of something before it", 502, {}, undefined],
    ["a redirection", 301, {}, undefined],
];
for (const [name, status, headers, message] of CHECKED) {
    test(`product checks a response with ${name} and ${status}`, async () => {
        const { request } = setup([product({ check })], [{ status, headers }]);
        if (message === undefined) return void assert.equal((await request()).status, status);
        const error = await failure(request());
        assert.equal(error.code, "product.mismatch");
        assert.match(error.message, message);
        assert.ok(!error.message.includes("secret"));
        assert.equal(error.response.status, status);
    });
}

test("deadline moves the ends of calls and tries nearer, and never further", async () => {
    const cases = [
        [{ callMs: 500 }, {}, "call.deadline", 500],
        [{ callMs: 500 }, { timeoutMs: 200 }, "call.deadline", 200],
        [{ callMs: 500 }, { timeoutMs: 900 }, "call.deadline", 500],
        [{ tryMs: 300 }, {}, "connection.timeout", 300],
        [{ tryMs: 300 }, { tryTimeoutMs: 100 }, "connection.timeout", 100],
        [{ callMs: 200, tryMs: 300 }, {}, "call.deadline", 200],
    ];
    for (const [options, call, code, atMs] of cases) {
        const { request, clock } = setup([deadline(options)], ["silent"]);
        assert.equal((await failure(request(call))).code, code);
        assert.equal(clock.nowMs(), atMs);
        assert.equal(clock.pending, 0);
    }
});

test("one deadline is over waits, tries and bodies that drip", async () => {
    const { request, clock, exchanges } = setup([deadline({ callMs: 500 }), retry()], [{ status: 503 }, { body: Array(64).fill("x"), everyMs: 50 }]);
    const error = await failure(request());
    assert.equal(error.code, "call.deadline");
    assert.equal(clock.nowMs(), 500);
    assert.equal(exchanges.length, 2);
});

test("limits are the smaller of both", async () => {
    const cases = [
        [{ rawBytesMax: 10 }, 100, 11, "rawBytesMax"],
        [{ rawBytesMax: 100 }, 10, 11, "rawBytesMax"],
        [{ rawBytesMax: 11 }, 100, 11, undefined],
    ];
    for (const [options, rawBytesMax, bytes, limit] of cases) {
        for (const as of ["bytes", "stream"]) {
            const { request, clock } = setup([limits(options)], [{ body: Buffer.alloc(bytes) }], { limits: { rawBytesMax } });
            const read = request({ as }).then(({ body }) => (as === "stream" ? clock.settle(body.toArray()) : body));
            if (limit === undefined) await read;
            else assert.equal((await failure(read)).limit, limit);
        }
    }
});

const WRONG = [
    [() => product({}), "product is an object (Object); it takes headers, check, or both"],
    [() => product({ header: {} }), 'no "header"'],
    [() => product({ headers: { "User-Agent": "a" } }), "names of headers in lower case"],
    [() => product({ headers: { "user-agent": 5 } }), 'product.headers["user-agent"] is 5'],
    [() => product({ headers: "a" }), "product.headers is a string"],
    [() => product({ check: { header: "X" } }), "product.check.header is a string"],
    [() => product({ check: { header: "x", value: "" } }), "product.check.value is an empty string"],
    [() => deadline({ ms: 5 }), 'no "ms"'],
    [() => deadline({ callMs: 0 }), "deadline.callMs is 0"],
    [() => deadline(), "deadline is missing"],
    [() => limits({ rawBytesMax: 1.5 }), "limits.rawBytesMax is 1.5"],
    [() => limits({ ratioMax: NaN }), "limits.ratioMax is NaN"],
    [() => limits(5), "limits is 5"],
];
test("wrong options are refused by their names", () => {
    for (const [make, message] of WRONG) {
        const error = thrown(make);
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
