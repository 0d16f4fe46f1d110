// The middleware `auth`.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { inspect } from "node:util";
import { failure, load, setup, thrown } from "./setup.mjs";

const { auth } = load("builtin/auth");
const { retry } = load("builtin/retry");
const { secret } = load("secret");
const OK = {};
const NO = { status: 401 };

const FIXED = [
    ["basic", { basic: { username: "Aladdin", password: "open sesame" } }, "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["basic with a secret", { basic: { username: "Aladdin", password: secret("open sesame") } }, "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["basic beyond ASCII, as UTF-8", { basic: { username: "test", password: "123£" } }, "authorization", "Basic dGVzdDoxMjPCow=="],
    ["bearer", { bearer: "mF_9.B5f-4.1JqM" }, "authorization", "Bearer mF_9.B5f-4.1JqM"],
    ["an API key", { apiKey: secret("a2V5") }, "authorization", "ApiKey a2V5"],
    ["an API key in a header of its own", { apiKey: "a2V5", header: "x-api-key" }, "x-api-key", "a2V5"],
];

for (const [name, options, header, value] of FIXED) {
    test(`${name} is sent`, async () => {
        const { request, exchanges } = setup([auth(options)], [OK]);
        await request();
        assert.equal(exchanges[0].headers[header], value);
    });
}

test("credentials are in no error, whoever puts them there", async () => {
    for (const [, options, header, value] of FIXED) {
        const { middleware } = await import("leat/middleware");
        const telling = middleware({
            name: "telling",
            scope: "attempt",
            onRequest: ({ request }) => {
                throw Object.assign(new Error(`I saw ${request.headers[header]}`), { headers: request.headers });
            },
        });
        const { request } = setup([auth(options), telling], []);
        const shown = inspect(await failure(request()), { depth: 9, showHidden: true });
        for (const each of [value.split(" ").at(-1), "open sesame", "123£"]) assert.ok(!shown.includes(each), shown);
    }
});

/** A source that gives a1, a2, …, and counts. */
function source(each = (token) => token) {
    const given = { count: 0, refused: [] };
    given.get = ({ refused }) => {
        given.refused.push(refused);
        return Promise.resolve(each(`a${++given.count}`));
    };
    return given;
}
const accepts = (...tokens) => ({ headers }) => (tokens.includes(headers.authorization) ? OK : NO);

test("a token is asked for once, whoever needs it", async () => {
    const tokens = source();
    const { transport, clock } = setup([auth({ bearer: tokens.get })], accepts("Bearer a1"));
    const all = Array.from({ length: 20 }, () => transport.request({ path: "/" }));
    const statuses = (await clock.settle(Promise.all(all))).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(tokens.count, 1);
    assert.equal(clock.pending, 0);
});

test("a refused token is renewed once for all calls, and each call is sent again once", async () => {
    const tokens = source();
    let good = "Bearer a1";
    const { transport, clock, exchanges, request } = setup([auth({ bearer: tokens.get })], ({ headers }) => (headers.authorization === good ? OK : NO));
    await request();
    good = "Bearer a2";
    const all = Array.from({ length: 10 }, () => transport.request({ path: "/" }));
    const statuses = (await clock.settle(Promise.all(all))).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(tokens.count, 2);
    assert.deepEqual(tokens.refused, [undefined, "a1"]);
    assert.equal(exchanges.length, 1 + 2 * 10);
});

test("a server that refuses every token is not asked in a loop", async () => {
    const tokens = source();
    const { request, exchanges, clock } = setup([retry(), auth({ bearer: tokens.get })], () => NO);
    for (let round = 0; round < 10; round++) assert.equal((await request()).status, 401);
    // The first is refused at once, and so is its successor; until a second is over nobody asks for another one.
    assert.equal(tokens.count, 1);
    assert.equal(exchanges.length, 10);
    await clock.advance(1000);
    assert.equal((await request()).status, 401);
    assert.equal(tokens.count, 2);
    assert.equal(exchanges.length, 12);
});

test("a token is renewed before it runs out", async () => {
    const tokens = source((token) => ({ token: secret(token), expiresInMs: 60_000 }));
    const { request, exchanges, clock } = setup([auth({ bearer: tokens.get })], () => OK);
    await request();
    await clock.advance(53_999);
    await request();
    await clock.advance(1);
    await request();
    assert.deepEqual(exchanges.map(({ headers }) => headers.authorization), ["Bearer a1", "Bearer a1", "Bearer a2"]);
});

test("a call whose body is gone has its 401 as the result", async () => {
    const tokens = source();
    let good = "Bearer a1";
    const { request, exchanges } = setup([auth({ bearer: tokens.get })], ({ headers }) => (headers.authorization === good ? OK : NO));
    await request();
    good = "Bearer a2";
    assert.equal((await request({ method: "PUT", body: Readable.from(["once"]) })).status, 401);
    assert.equal((await request({ method: "PUT", body: () => Readable.from(["anew"]) })).status, 200);
    assert.equal(exchanges.length, 4);
});

const FAILS = {
    "a function that throws": [() => { throw new Error("the token a1b2c3 is bad"); }, /the function that gets them failed/],
    "a function that rejects": [() => Promise.reject(new Error("no")), /the function that gets them failed/],
    "nothing": [() => undefined, /something else/],
    "a token with a line break": [() => "a\r\nb: c", /something else/],
    "an empty token": [() => ({ token: "" }), /something else/],
    "a time that is none": [() => ({ token: "abc", expiresInMs: -1 }), /expiresInMs/],
};
for (const [name, [get, message]] of Object.entries(FAILS)) {
    test(`no credentials by ${name}: auth.failed, and the next call asks again`, async () => {
        let calls = 0;
        const { request, exchanges, clock } = setup([retry(), auth({ bearer: (asked) => (calls++ === 0 ? get(asked) : "good") })], [OK]);
        const error = await failure(request());
        assert.equal(error.code, "auth.failed");
        assert.match(error.message, message);
        assert.equal(exchanges.length, 0);
        assert.equal((await request()).status, 200);
        assert.equal(clock.pending, 0);
    });
}

test("a function that does not come back ends in time, and is told", async () => {
    let told;
    const { clock, transport } = setup([auth({ bearer: ({ signal }) => new Promise(() => (told = signal)), tokenTimeoutMs: 500 })], []);
    const error = await failure(clock.settle(transport.request({ path: "/" })));
    assert.equal(error.code, "auth.failed");
    assert.equal(clock.nowMs(), 500);
    assert.equal(told.aborted, true);
});

test("who waits for a token leaves with its own signal, and the others go on", async () => {
    let give;
    const { transport, clock } = setup([auth({ bearer: () => new Promise((resolve) => (give = resolve)) })], [OK]);
    const controller = new AbortController();
    const impatient = failure(transport.request({ path: "/", signal: controller.signal }));
    const patient = transport.request({ path: "/" });
    await clock.waiting(1);
    controller.abort();
    assert.equal((await impatient).code, "call.aborted");
    give("late");
    assert.equal((await patient).status, 200);
});

test("wrong options are refused by their names, and never with a credential", () => {
    const wrong = [
        [undefined, "auth is missing; it takes an object"],
        [{}, "one of basic, bearer and apiKey, and has none"],
        [{ bearer: "hunter2", apiKey: "hunter2" }, "has bearer and apiKey"],
        [{ bearer: 5 }, "auth.bearer is 5"],
        [{ bearer: "hunter2\n" }, "auth.bearer is a string; it takes"],
        [{ bearer: "hunter2", header: "x-token" }, "auth.header is a string; it takes nothing beside basic and bearer"],
        [{ apiKey: "hunter2", header: "X-Api-Key" }, "auth.header is a string; it takes the name of a header in lower case"],
        [{ basic: "hunter2" }, "auth.basic is a string"],
        [{ basic: { username: "a:b", password: "hunter2" } }, "auth.basic.username is a string; it takes a text without a colon"],
        [{ basic: { username: "a" } }, "auth.basic.password is missing"],
        [{ bearer: () => "a", tokenTimeoutMs: 0 }, "auth.tokenTimeoutMs is 0"],
        [{ token: "hunter2" }, 'no "token"'],
    ];
    for (const [options, message] of wrong) {
        const error = thrown(() => auth(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
        assert.ok(!error.message.includes("hunter2"));
    }
});
