// The example does what its README says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { started } from "../../node-http/test/started.mjs";

const TEST_MS_MAX = 60_000;
const options = { timeout: TEST_MS_MAX };
const folder = fileURLToPath(new URL("..", import.meta.url));

/** Status, JSON and fields of a request. */
async function ask(base, path, method = "GET", body) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(`${base}${path}`, { method, body, headers, redirect: "manual" });
    const text = await response.text();
    return [response.status, /json/.test(response.headers.get("content-type")) ? JSON.parse(text) : text, response.headers];
}

test("links are made, followed, listed, shown and removed", options, async (t) => {
    const { base, said } = await started(t, folder);
    assert.deepEqual((await ask(base, "/api/links")).slice(0, 2), [200, []]);
    const made = { name: "mill", to: "https://example.com/mill", followed: 0 };
    const [status, link, headers] = await ask(base, "/api/links", "POST", JSON.stringify(made));
    assert.deepEqual([status, link, headers.get("location"), headers.get("x-powered-by")], [201, made, "/api/links/mill", "Express"]);
    const [moved, , where] = await ask(base, "/mill");
    assert.deepEqual([moved, where.get("location")], [302, made.to]);
    assert.deepEqual((await ask(base, "/api/links")).slice(0, 2), [200, [{ ...made, followed: 1 }]]);
    assert.deepEqual((await ask(base, "/api/links/mill", "DELETE")).slice(0, 2), [204, ""]);
    assert.equal((await ask(base, "/mill"))[0], 404);
    assert.deepEqual(said, []);
});

test("the page and its validation", options, async (t) => {
    const { base } = await started(t, folder);
    const [status, page, headers] = await ask(base, "/");
    assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assert.match(page, /<h1>Short links<\/h1>/);
    // Without a word on caching, fetch would ask for a fresh one.
    const again = await fetch(base, { headers: { "if-none-match": headers.get("etag"), "cache-control": "max-age=0" } });
    assert.equal(again.status, 304);
});

const refused = [
    ["a path that is not there", "/nothing", "GET", undefined, 404, "there is nothing at /nothing"],
    ["a link that is not there", "/api/links/none", "GET", undefined, 404, "no link is called none"],
    ["a body that is not JSON", "/api/links", "POST", "{", 400, /JSON/],
    ["a name that is none", "/api/links", "POST", '{"name":"a b"}', 422, /^name must be/],
    ["an address that is none", "/api/links", "POST", '{"name":"a","to":"javascript:1"}', 422, /^to must be/],
    ["a body that is too large", "/api/links", "POST", JSON.stringify({ name: "x".repeat(100_000) }), 413, "request entity too large"],
    ["a name that is taken", "/api/links", "POST", '{"name":"taken","to":"http://example.com"}', 409, "taken is taken"],
];

test("what cannot be done is said", options, async (t) => {
    const { base, said } = await started(t, folder);
    await ask(base, "/api/links", "POST", '{"name":"taken","to":"http://example.com"}');
    for (const [name, path, method, body, status, words] of refused) {
        const [got, { error }] = await ask(base, path, method, body);
        assert.equal(got, status, name);
        if (typeof words === "string") assert.equal(error, words, name);
        else assert.match(error, words, name);
    }
    assert.deepEqual(said, []);
});
