// The middleware `bulkRetry`: only what was turned away is sent again.
import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";
import { failure, load, setup, thrown, times } from "./setup.mjs";

const { bulkRetry } = load("builtin/bulk_retry");
const { compression } = load("builtin/compression");
const { retry } = load("builtin/retry");
const { elementsOf, membersOf, operationsOf, statusOf } = load("builtin/bulk_items");

const JSON_TYPE = { "content-type": "application/json" };
const index = (id) => `{"index":{"_id":"${id}"}}\n{"n":"${id}"}\n`;
const remove = (id) => `{"delete":{"_id":"${id}"}}\n`;
const result = (id, status = 201, action = "index") => `{"${action}":{"_id":"${id}","_seq_no":9007199254740993,"status":${status}${status >= 300 ? ',"error":{"type":"es_rejected"}' : ""}}}`;
const reply = (...items) => ({ headers: JSON_TYPE, body: `{"took":5,"errors":${items.some((item) => item.includes("error"))},"items":[${items.join(",")}]}` });
const bodies = (exchanges) => exchanges.map(({ body }) => body.toString());
const statuses = ({ body }) => body.items.map((item) => Object.values(item)[0].status);

const bulk = (script, more = []) => {
    const made = setup([...more, bulkRetry()], script);
    return { ...made, send: (body, options) => made.request({ method: "POST", path: "/_bulk", body, headers: { "content-type": "application/x-ndjson" }, ...options }) };
};

test("only the items that were turned away are sent again, and all results are at their places", async () => {
    const { send, exchanges } = bulk([reply(result("a"), result("b", 429), result("c", 404, "delete"), result("d", 429)), reply(result("b"), result("d", 429)), reply(result("d"))]);
    const response = await send(index("a") + index("b") + remove("c") + index("d"));
    assert.deepEqual(bodies(exchanges), [index("a") + index("b") + remove("c") + index("d"), index("b") + index("d"), index("d")]);
    assert.deepEqual(times(exchanges), [0, 50, 150]);
    assert.deepEqual(statuses(response), [201, 201, 404, 201]);
    assert.equal(response.body.errors, true);
    assert.equal(response.body.took, 15);
});

test("errors is false when all went through in the end, and no digit of a number is lost", async () => {
    const { send } = bulk([reply(result("a", 429), result("b")), reply(result("a"))]);
    const { body } = await send(index("a") + index("b"), { as: "text" });
    assert.equal(body, `{"took":10,"errors":false,"items":[${result("a")},${result("b")}]}`);
});

test("what stays turned away is in the result", async () => {
    const { send, exchanges } = bulk(() => reply(result("a", 429)));
    const response = await send(index("a"));
    assert.equal(exchanges.length, 4);
    assert.deepEqual(statuses(response), [429]);
    assert.equal(response.body.errors, true);
});

test("a whole response of 429 is waited for, and another status ends it with what there is", async () => {
    const { send, exchanges } = bulk([reply(result("a"), result("b", 429)), { status: 429, headers: { "retry-after": "2" } }, { status: 503, body: "<html>", headers: { "content-type": "text/html" } }]);
    const response = await send(index("a") + index("b"));
    assert.deepEqual(times(exchanges), [0, 50, 2050]);
    assert.equal(response.status, 200);
    assert.equal(response.headers["content-type"], "application/json");
    assert.deepEqual(statuses(response), [201, 429]);
});

test("a call that retry tries again sends no item twice that went through", async () => {
    const { send, exchanges } = bulk([{ status: 429 }, reply(result("a"), result("b", 429)), { fails: "connection.failed" }, reply(result("b"))], [retry()]);
    const response = await send(index("a") + index("b"));
    assert.deepEqual(bodies(exchanges), [index("a") + index("b"), index("a") + index("b"), index("b"), index("b")]);
    assert.deepEqual(statuses(response), [201, 201]);
});

test("an error of a later round is the call's", async () => {
    const { send, exchanges } = bulk([reply(result("a", 429)), { fails: "connection.broken" }], [retry()]);
    assert.equal((await failure(send(index("a")))).code, "connection.broken");
    assert.equal(exchanges.length, 2);
});

test("it works inside of compression when it is listed before, and says so when it is not", async () => {
    const packed = (text) => ({ headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: zlib.gzipSync(text.body) });
    const script = [packed(reply(result("a", 429), result("b"))), packed(reply(result("a")))];
    // Long enough to get smaller.
    const long = index("a".repeat(200));
    const options = { method: "POST", path: "/i/_bulk?refresh=true", body: long + index("b") };
    const right = setup([bulkRetry(), compression({ request: "gzip", requestBytesMin: 0 })], script);
    assert.deepEqual(statuses(await right.request(options)), [201, 201]);
    assert.equal(zlib.gunzipSync(right.exchanges[1].body).toString(), long);
    for (const coding of ["gzip", false]) {
        const wrong = setup([compression({ request: coding, requestBytesMin: 0 }), bulkRetry()], script);
        const error = await failure(wrong.request(options));
        assert.equal(error.code, "options.invalid");
        assert.match(error.message, /list it before compression/);
    }
});

const UNTOUCHED = {
    "other paths": [{ path: "/_search" }, reply(result("a", 429))],
    "other methods": [{ method: "PATCH" }, reply(result("a", 429))],
    "streams": [{ as: "stream" }, reply(result("a", 429))],
    "a response with more results than operations": [{}, reply(result("a", 429), result("b", 429))],
    "a response that is no JSON": [{ as: "text" }, { body: '{"took":1,"errors":true,"items":[{"index":' }],
    "a response without items": [{}, { headers: JSON_TYPE, body: '{"took":1,"errors":true}' }],
    "a response of another kind": [{}, { headers: JSON_TYPE, body: "[429]" }],
};
for (const [name, [options, answer]] of Object.entries(UNTOUCHED)) {
    test(`${name} pass untouched`, async () => {
        const { send, exchanges, clock } = bulk([answer]);
        const { body } = await send(index("a"), options);
        if (options.as === "stream") await clock.settle(body.toArray());
        assert.equal(exchanges.length, 1);
    });
}

test("JSON is told apart as texts", () => {
    const members = [
        ["{}", []],
        [' { "a" : 1 , "b":[1,{"c":"]}"}] ,"d\\"":"\\\\" }', [["a", "1"], ["b", '[1,{"c":"]}"}]'], ['d\\"', '"\\\\"']]],
        ['{"a":{"b":{}},"c":null}', [["a", '{"b":{}}'], ["c", "null"]]],
        ["[]", undefined],
        ["{", undefined],
        ['{"a"', undefined],
        ['{"a":}', undefined],
        ['{"a":1 2}', undefined],
        ['{"a":"', undefined],
        ['{"a":[1}', undefined],
        ["", undefined],
    ];
    for (const [text, expected] of members) assert.deepEqual(membersOf(text) && [...membersOf(text)], expected, text);
    const elements = [
        ["[]", []],
        ['[ 1 , "a,]" ,{"b":[2]}]', ["1", '"a,]"', '{"b":[2]}']],
        ["[1", undefined],
        ["[,]", undefined],
        ["{}", undefined],
    ];
    for (const [text, expected] of elements) assert.deepEqual(elementsOf(text), expected, text);
    assert.deepEqual(operationsOf(`${index("a")}${remove("delete")}${index("b")}`), [index("a"), remove("delete"), index("b")]);
    assert.equal(operationsOf('{"index":{}}\n'), undefined);
    for (const [item, status] of [[result("a", 429), 429], ["{}", undefined], ['{"index":5}', undefined], ['{"index":{"status":"429"}}', undefined]]) assert.equal(statusOf(item), status);
});

test("wrong options are refused by their names", () => {
    for (const [options, message] of [
        [{ matches: "/_bulk" }, "bulkRetry.matches is a string"],
        [{ budget: {} }, 'no "budget"'],
        [{ statuses: [1] }, "statusesAnyMethod[0] is 1"],
    ]) {
        const error = thrown(() => bulkRetry(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
