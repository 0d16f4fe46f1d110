// The record: read-only, one object for all of a run, and patches that copy what they change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { compile, middleware, patchHeaders, patchRequest, patchResponse, slot } from "leat/middleware";
import { GET, OK, ok, thrown } from "./run.mjs";

const does = (name, hooks, more) => middleware({ name, scope: "call", ...hooks, ...more });
const code = (expected) => (error) => (assert.equal(error.code, expected, error.stack), true);

test("the record is one object from the first hook to the last, also while something waits", async () => {
    for (const development of [false, true]) {
        const seen = new Set();
        const see = (context) => void seen.add(context);
        const hooks = { onRequest: async (context) => see(context), onResponse: see, onError: see, onComplete: see };
        const plan = compile([does("a", hooks), does("b", { around: async (context, next) => (see(context), next()) }), does("c", { ...hooks, onRequest: see }, { scope: "attempt" })], { development });
        await plan.run(GET, async (_request, context) => (see(context), OK));
        assert.equal(seen.size, 1);
    }
});

test("runs that overlap have records of their own, and runs after each other one", () => {
    const seen = [];
    const plan = compile([does("a", { onRequest: (context) => void seen.push(context) })]);
    plan.run(GET, () => plan.run(GET, ok));
    plan.run(GET, ok);
    assert.notEqual(seen[0], seen[1]);
    assert.equal(seen[2] === seen[0] || seen[2] === seen[1], true);
});

test("a record that was kept tells nothing of its run", () => {
    let kept;
    const name = slot("name").of();
    const plan = compile([does("a", { onRequest: (context) => ((kept = context), { headers: { authorization: "secret" }, set: { name: "secret" } }) }, { writes: [name] })]);
    plan.run(GET, ok);
    assert.equal(inspect([kept.request, kept.response, kept.error, kept.signal, kept.get(name)]).includes("secret"), false);
    assert.deepEqual([kept.request.path, kept.response, kept.get(name)], ["", undefined, undefined]);
});

test("the next run starts with nothing of the one before, whatever that came to", () => {
    const count = slot("count").of();
    const seen = [];
    const plan = compile([does("a", { onRequest: (context) => (seen.push([context.request, context.get(count), context.attempt]), { set: { count: 1 } }) }, { writes: [count] })]);
    plan.run(GET, ok);
    assert.throws(() => plan.run(GET, () => { throw new Error("no"); }));
    plan.run(GET, ok);
    for (const each of seen) assert.deepEqual(each, [GET, undefined, 0]);
});

for (const [what, write] of [
    ["a member", (context) => (context.request = GET)],
    ["a new member", (context) => (context.user = "me")],
    ["a member's deletion", (context) => delete context.request],
    ["a definition", (context) => Object.defineProperty(context, "user", { value: 1 })],
    ["the prototype", (context) => Object.setPrototypeOf(context, null)],
]) {
    test(`in development mode ${what} of the record cannot be written`, () => {
        const plan = compile([does("a", { onRequest: (context) => void write(context) })], { development: true });
        const error = thrown(() => plan.run(GET, ok));
        assert.equal(error.code, "record.write");
        assert.match(error.message, /return a patch/);
    });
}

test("in development mode requests, responses and headers are frozen, those of the caller stay as they are", () => {
    const request = { method: "GET", path: "/", headers: { host: "a" } };
    const response = { status: 200, headers: {} };
    const seen = [];
    const see = ({ request: asked, response: answered }) => void seen.push(asked, asked.headers, ...(answered === undefined ? [] : [answered, answered.headers]));
    const change = { onRequest: () => ({ headers: { "x-a": "1" } }), onResponse: () => ({ headers: { "x-b": "1" } }) };
    const plan = compile([does("a", { onRequest: see, onResponse: see }), does("b", change), does("c", { onRequest: see, onResponse: see })], { development: true });
    plan.run(request, () => response);
    assert.equal(seen.length, 12);
    for (const each of seen) assert.ok(Object.isFrozen(each));
    for (const each of [request, request.headers, response, response.headers]) assert.equal(Object.isFrozen(each), false);
    assert.deepEqual([request.headers, response.headers], [{ host: "a" }, {}]);
});

test("in development mode a record that was kept throws at every touch", async () => {
    let kept;
    const plan = compile([does("a", { onRequest: (context) => void (kept = context) })], { development: true });
    plan.run(GET, ok);
    for (const touch of [() => kept.request, () => kept.response, () => kept.get, () => "request" in kept]) assert.throws(touch, code("record.kept"));
    const { get } = await plan.run(GET, async (_request, context) => ({ ...OK, get: context.get }));
    assert.throws(() => get(slot("a").of()), code("record.kept"));
});

test("in development mode nothing of the plan's own can be reached", () => {
    compile([does("a", { onRequest: (context) => void assert.deepEqual([context.frame, context.values, context.send, "frame" in context, "request" in context], [undefined, undefined, undefined, false, true]) })], { development: true }).run(GET, ok);
});

test("slots carry values between those who declare them", () => {
    const [user, count] = [slot("user").of(), slot("count").of()];
    for (const development of [false, true]) {
        const plan = compile(
            [
                does("count", { onRequest: () => ({ set: { count: 1 } }), onResponse: (context) => ({ set: { count: context.get(count) + 1 } }), onComplete: (context) => void assert.equal(context.get(count), 2) }, { writes: [count] }),
                does("read", { onRequest: (context) => ({ headers: { "x-user": `${context.get(user)}${context.get(count)}` } }) }, { reads: [user, count] }),
            ],
            { provides: [user], development },
        );
        assert.equal(plan.run(GET, (request) => ({ ...OK, body: request.headers["x-user"] }), { set: { user: "me" } }).body, "me1");
    }
});

test("slots that are not declared are refused", () => {
    const [mine, yours, nobodys] = [slot("mine").of(), slot("yours").of(), slot("nobodys").of()];
    const writer = does("writer", { onRequest: () => ({ set: { mine: 1 } }) }, { writes: [mine] });
    const plan = (onRequest, development) => compile([writer, does("a", { onRequest }, { writes: [yours] })], { development });
    assert.throws(() => plan(() => ({ set: { mine: 2 } })).run(GET, ok), code("slot.undeclared"));
    assert.throws(() => plan((context) => context.get(nobodys)).run(GET, ok), code("slot.undeclared"));
    assert.throws(() => plan((context) => void context.get(mine), true).run(GET, ok), code("slot.undeclared"));
    assert.throws(() => plan(() => undefined).run(GET, ok, { set: { mine: 1 } }), code("slot.undeclared"));
    // The sender reads what it likes.
    assert.equal(compile([writer, does("a", { around: (_context, next) => next() })], { development: true }).run(GET, (_request, context) => ({ ...OK, body: context.get(mine) })).body, 1);
});

for (const [hook, result] of [
    ["onRequest", "GET"],
    ["onRequest", true],
    ["onRequest", null],
    ["onRequest", []],
    ["onRequest", { respond: "fine" }],
    ["onResponse", 200],
    ["onError", "fine"],
    ["onError", { respond: { status: "200", headers: {} } }],
    ["onComplete", {}],
    ["around", {}],
    ["around", null],
]) {
    test(`${JSON.stringify(result)} is refused as what ${hook} returns`, () => {
        const plan = compile([does("a", { [hook]: () => result })]);
        const error = thrown(() => plan.run(GET, hook === "onError" ? () => { throw new Error("no"); } : ok));
        assert.equal(error.code, "result.kind");
        assert.match(error.message, /^middleware "a" returned/);
    });
}

test("what the sender and next take is looked at too, and in development mode the members of patches", () => {
    assert.throws(() => compile([]).run(GET, () => undefined), { code: "result.kind", message: /^the sender returned undefined/ });
    assert.throws(() => compile([does("a", { around: (_context, next) => next("GET") })]).run(GET, ok), { code: "result.kind", message: /gave next string/ });
    assert.throws(() => compile([does("a", { onRequest: () => ({ header: {} }) })], { development: true }).run(GET, ok), { code: "result.kind", message: /without "header"/ });
    assert.throws(() => compile([does("a", { onResponse: () => ({ ...OK, url: "/" }) })], { development: true }).run(GET, ok), { code: "result.kind", message: /without "url"/ });
});

const HEADERS = Object.freeze({ host: "a", accept: "b", "set-cookie": Object.freeze(["a", "b"]) });
for (const [what, patch, merged] of [
    ["nothing", {}, undefined],
    ["what is there", { host: "a" }, undefined],
    ["an array that is alike", { "set-cookie": ["a", "b"] }, undefined],
    ["undefined", { host: undefined }, undefined],
    ["the deletion of what is not there", { "x-a": null, constructor: null }, undefined],
    ["another value", { host: "c" }, { ...HEADERS, host: "c" }],
    ["another array", { "set-cookie": ["a", "c"] }, { ...HEADERS, "set-cookie": ["a", "c"] }],
    ["an array in place of a string", { host: ["a"] }, { ...HEADERS, host: ["a"] }],
    ["a new header", { "x-a": "1" }, { ...HEADERS, "x-a": "1" }],
    ["a deletion", { accept: null }, { host: "a", "set-cookie": ["a", "b"] }],
    ["a deletion after a change", { host: "c", accept: null, "x-a": "1" }, { host: "c", "set-cookie": ["a", "b"], "x-a": "1" }],
    ["a change after a deletion", { accept: null, host: "c" }, { host: "c", "set-cookie": ["a", "b"] }],
    ["a deletion of all", { host: null, accept: null, "set-cookie": null }, {}],
]) {
    test(`a patch of headers with ${what} ${merged === undefined ? "is no copy" : "copies them once"}`, () => {
        const after = patchHeaders(HEADERS, patch);
        if (merged === undefined) assert.equal(after, HEADERS);
        else assert.deepEqual(after, merged);
        if (merged !== undefined) assert.deepEqual(Object.keys(after), Object.keys(merged));
    });
}

test("messages are copied if something changes, and share what does not", () => {
    const request = { method: "GET", path: "/", headers: HEADERS, body: "a" };
    for (const same of [{}, { method: "GET" }, { path: "/", headers: { host: "a" } }, { body: "a" }, { body: undefined }]) assert.equal(patchRequest(request, same), request);
    const changed = patchRequest(request, { path: "/b" });
    assert.deepEqual(changed, { ...request, path: "/b" });
    assert.equal(changed.headers, HEADERS);
    assert.equal(patchRequest(request, { body: null }).body, undefined);
    const response = { status: 200, headers: HEADERS, body: 0 };
    for (const same of [{}, { status: 200 }, { headers: { host: "a" } }, { body: 0 }]) assert.equal(patchResponse(response, same), response);
    assert.deepEqual(patchResponse({ ...response, trailers: "a" }, { status: 404 }), { ...response, trailers: "a", status: 404 });
    assert.deepEqual(patchRequest({ ...request, id: 1 }, { path: "/b" }), { ...request, id: 1, path: "/b" });
    assert.deepEqual(patchResponse(response, { status: 404, body: "" }), { status: 404, headers: HEADERS, body: "" });
});

test("names of headers are refused that would stand twice, or are no header", () => {
    for (const name of ["Host", "x-A", "", "__proto__"]) assert.throws(() => patchHeaders(HEADERS, { [name]: "a" }), code("header.name"), name);
    assert.throws(() => patchHeaders(HEADERS, { Authorization: "a" }), /"authorization"/);
});

test("what somebody put on Object.prototype is no header, no slot and no patch", (t) => {
    Object.prototype["x-polluted"] = "1";
    t.after(() => delete Object.prototype["x-polluted"]);
    assert.equal(patchHeaders(HEADERS, {}), HEADERS);
    assert.deepEqual(Object.keys(patchHeaders(HEADERS, { accept: null, host: "c" })), ["host", "set-cookie"]);
    const count = slot("count").of();
    compile([does("a", { onRequest: () => ({ set: { count: 1 } }) }, { writes: [count] })]).run(GET, ok);
});
