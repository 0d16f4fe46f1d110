// The middleware `redaction`: secrets by their values, wherever they got to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { middleware } from "leat/middleware";
import { failure, load, setup, thrown } from "./setup.mjs";

const { redaction } = load("builtin/redaction");
const { compression } = load("builtin/compression");
const { secret } = load("secret");

/** A middleware that tells all that it sees, as somebody's logger would. */
const telling = middleware({
    name: "telling",
    scope: "attempt",
    onRequest: ({ request }) => {
        const decoded = decodeURIComponent(request.path);
        throw Object.assign(new Error(`failed: ${request.path} ${decoded} ${JSON.stringify(request.headers)} ${String(request.body?.texts ?? request.body)}`), { headers: { ...request.headers }, body: request.body });
    },
});

function formOf(parts) {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    return form;
}

const LEAKS = {
    "a cookie": { headers: { cookie: "a=1; sid=hunter2hunter2" } },
    "an API key": { headers: { "x-api-key": "hunter2" } },
    "credentials behind their scheme": { headers: { authorization: "Bearer hunter2" } },
    "a header of one's own": { headers: { "x-mine": "hunter2" } },
    "a parameter": { querystring: { access_token: "hunter2", page: "1" } },
    "a parameter that is encoded": { path: "/a?password=hunter2%20%26" },
    "a parameter of one's own": { path: "/a?b=c&Mine=hunter2" },
    "a password in JSON": { method: "POST", body: { user: "me", deep: [{ password: "hunter2" }] } },
    "a password with a quote in it": { method: "POST", body: { Password: 'hunter2"\\' } },
    "a password in bytes": { method: "POST", body: Buffer.from('{"client_secret" : "hunter2"}'), headers: { "content-type": "application/json" } },
    "a member of one's own": { method: "POST", body: '{"mine":"hunter2"}' },
    "a form": { method: "POST", body: "a=b&password=hunter2%21", headers: { "content-type": "application/x-www-form-urlencoded" } },
    "a form of parts": { method: "POST", body: formOf([["a", "b"], ["password", "hunter2\r\n!"], ["c", "d"]]) },
    "a form with a file": { method: "POST", body: formOf([["password", "hunter2"], ["file", new Blob(["abc"])]]) },
    "a value that is known": { method: "POST", body: "this is known-hunter2 and so on" },
    "a secret": { headers: { "x-other": secret("hunter2") } },
};

for (const [name, options] of Object.entries(LEAKS)) {
    test(`${name} is in no error`, async () => {
        const { request } = setup([redaction({ values: [secret("known-hunter2")], headers: ["X-Mine"], query: ["mine"], body: ["mine"] }), telling], []);
        const error = await failure(request(options));
        const shown = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error) + error.stack;
        assert.ok(!shown.includes("hunter2"), shown);
        assert.match(shown, /\[secret\]/);
    });
}

test("what is not named stays readable", async () => {
    const { request } = setup([redaction(), telling], []);
    const error = await failure(request({ method: "POST", path: "/users?page=2", body: { name: "readable" } }));
    assert.match(inspect(error), /users\?page=2/);
    assert.match(inspect(error), /readable/);
});

test("a body is looked at as it was before it was compressed", async () => {
    const leaking = middleware({ name: "leaking", scope: "attempt", onRequest: () => { throw new Error("it was hunter2"); } });
    const { request } = setup([redaction(), compression({ request: "gzip", requestBytesMin: 0 }), leaking], []);
    const error = await failure(request({ method: "POST", body: { password: "hunter2", more: "x".repeat(100) } }));
    assert.ok(!inspect(error).includes("hunter2"), inspect(error));
});

test("a cookie that a response sets is learnt too", async () => {
    const leaking = middleware({ name: "leaking", scope: "call", onResponse: ({ response }) => { throw new Error(`session ${response.headers["set-cookie"][0].slice(4, 11)}`); } });
    const { request } = setup([leaking, redaction()], [{ headers: { "set-cookie": ["sid=hunter2; Path=/", "b=c"] } }]);
    assert.ok(!inspect(await failure(request())).includes("hunter2"));
});

test("wrong options are refused by their names", () => {
    for (const [options, message] of [
        [{ values: "hunter2" }, "redaction.values is a string"],
        [{ values: ["abc"] }, "redaction.values[0] is a string; it takes secret"],
        [{ headers: [""] }, "redaction.headers[0] is an empty string"],
        [{ query: {} }, "redaction.query is an object"],
        [{ keys: [] }, 'no "keys"'],
    ]) {
        const error = thrown(() => redaction(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
