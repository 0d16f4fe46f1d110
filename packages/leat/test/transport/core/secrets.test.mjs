// No secret gets into anything that a program may log: errors, their causes, their tries, and what is told of nodes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { middleware } from "leat/middleware";
import { reveal, Secret, secret, Transport, TransportError } from "leat/transport";
import { scripted } from "./made.mjs";

const VALUE = "hunter2 &\"ü\"/+";
const FORMS = [VALUE, encodeURIComponent(VALUE), "hunter2", Buffer.from(VALUE).toString("base64"), JSON.stringify(VALUE).slice(1, -1)];

/** All that a logger could find. */
function told(error) {
    return [String(error), error.stack, JSON.stringify(error), inspect(error, { depth: 20, showHidden: true }), inspect(error, { depth: 20, getters: false })].join("\n");
}

test("a secret is [secret] wherever it is shown", () => {
    const password = secret(VALUE);
    assert.ok(password instanceof Secret);
    for (const shown of [String(password), `${password}`, JSON.stringify({ password }), inspect({ password }), inspect(password, { showHidden: true }), Object.keys(password).join()]) assert.doesNotMatch(shown, /hunter2/);
    assert.equal(JSON.stringify({ password }), '{"password":"[secret]"}');
    assert.equal(reveal(password), VALUE);
    assert.throws(() => { password.value = "a"; }, TypeError);
});

const thrower = (make) => middleware({ name: "thrower", scope: "attempt", onRequest: (context) => { throw make(context.request); } });

const LEAKS = [
    ["an error with a header in its message", (request) => new Error(`sent ${request.headers["x-api-key"]}`)],
    ["an error with all headers as a member", (request) => Object.assign(new Error("failed"), { request, code: "E_A" })],
    ["an error with the body in its message", (request) => new Error(`sent ${request.body}`)],
    ["an error with the query in its message", (request) => new Error(`sent ${request.path}`)],
    ["an error whose cause has it", (request) => new Error("outer", { cause: new Error(`inner ${request.headers["x-api-key"]}`) })],
    ["an error with it in Base64", () => new Error(`Basic ${Buffer.from(VALUE).toString("base64")}`)],
    ["a text", (request) => `failed with ${request.headers["x-api-key"]}`],
    ["an object", (request) => ({ headers: request.headers })],
    ["an error of the transport", (request) => new TransportError("connection.failed", `with ${request.headers["x-api-key"]}`)],
];

for (const [name, make] of LEAKS) {
    test(`a middleware throws ${name}`, async () => {
        const { transport } = scripted([], { middleware: [thrower(make)] });
        const key = secret(VALUE.replace("ü", "u"));
        const error = await transport
            .request({ method: "POST", path: "/login", querystring: { token: secret(VALUE) }, headers: { "x-api-key": key }, body: { password: secret(VALUE) } })
            .catch((caught) => caught);
        assert.ok(error instanceof TransportError);
        for (const form of FORMS) assert.ok(!told(error).includes(form), told(error));
        // Members of other errors are left out as a whole.
        if (!name.includes("as a member")) assert.match(told(error), /\[secret\]|with a secret/);
        if (error.code === "middleware.failed") assert.notEqual(error.cause, undefined);
    });
}

const SENT = { method: "POST", path: "/login", querystring: { token: "tok-hunter2" }, headers: { cookie: "sid=hunter2", "x-api-key": "hunter2", authorization: "Basic hunter2" }, body: { user: "me", password: "hunter2" } };
const GOT = { "set-cookie": "sid=hunter2", "content-type": "application/json" };

const FAILURES = [
    ["a status", [{ status: 401, headers: GOT, body: '{"echo":"hunter2"}' }], { throwStatus: true }, "response.status"],
    ["a body that is none", [{ headers: GOT, body: "hunter2" }], {}, "response.body"],
    ["a connection", [{ fails: "connection.broken" }], {}, "connection.broken"],
    ["a time that is over", ["silent"], { timeoutMs: 10 }, "call.deadline"],
];

for (const [name, script, options, code] of FAILURES) {
    test(`headers and bodies are in no error, secret or not: ${name}`, async () => {
        const { transport, clock } = scripted(script, options);
        const error = await clock.settle(transport.request(SENT).catch((caught) => caught));
        assert.equal(error.code, code);
        assert.doesNotMatch(told(error), /hunter2/);
        assert.doesNotMatch(JSON.stringify([error.attempts, transport.nodes()]), /hunter2/);
        if (code === "response.status") {
            assert.equal(error.response.headers["set-cookie"], "sid=hunter2", "whoever asks for the response gets it");
            assert.match(error.message, /^POST \/login came to 401$/);
        }
    });
}

test("a wrong value is named by its kind, and never shown", async () => {
    const { transport } = scripted([]);
    for (const request of [{ path: "/", headers: { "x-api-key": "hunter2\n" } }, { path: "/", headers: { "x-api-key": secret("hunter2\n") } }, { path: "/?hunter2 " }, { method: "hunter2 ", path: "/" }]) {
        assert.doesNotMatch(told(await transport.request(request).catch((error) => error)), /hunter2/);
    }
    assert.throws(() => new Transport({ nodes: "http://a.test", headers: { authorization: "hunter2\n" } }), (error) => !told(error).includes("hunter2"));
});

test("the caller's own reason for an abort stays what it was", async () => {
    const why = Object.assign(new Error("gone"), { detail: 1 });
    const { transport } = scripted([]);
    const error = await transport.request({ path: "/", signal: AbortSignal.abort(why), headers: { a: secret("another") } }).catch((caught) => caught);
    assert.equal(error.cause, why);
});
