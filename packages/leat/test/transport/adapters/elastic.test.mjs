// @elastic/elasticsearch from npm, on its own transport and on Leat's: the same calls come to the same results, errors and requests.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { inspect } from "node:util";
import { Client, errors } from "@elastic/elasticsearch";
import * as elastic from "@elastic/transport";
import { elasticTransport } from "leat/transport";
import { elasticsearch } from "./elasticsearch.mjs";

const OWN = {};
const LEAT = { Transport: elasticTransport(elastic) };

async function opened(t, transport, options = {}, trouble = undefined) {
    const { url, seen } = await elasticsearch(t, trouble);
    const client = new Client({ node: url, ...options, ...transport });
    t.after(async () => {
        await client.close();
        await client.transport.close?.();
    });
    return { client, seen };
}

/** What a call came to, as both transports should tell it. */
async function outcome(calling) {
    try {
        const result = await calling;
        if (result instanceof Readable || typeof result?.pipe === "function") return { stream: Buffer.concat(await result.toArray()).toString() };
        return { result };
    } catch (error) {
        const known = Object.entries(errors).find(([name]) => name === error.name)?.[1];
        return { error: error.name, isOfLibrary: known !== undefined && error instanceof known, message: error.message, statusCode: error.statusCode, body: error.body };
    }
}

/** Fields that the connection decides on, and compression. */
const CONNECTIONS = new Set(["host", "connection", "accept-encoding", "content-encoding", "content-length", "transfer-encoding"]);
const BIG = { text: "abc ".repeat(200) };
const CALLS = {
    info: (client) => client.info(),
    ping: (client) => client.ping(),
    "a document, created": (client) => client.index({ index: "mills", id: "1", document: { name: "Upper", wheels: 2 } }),
    "a document, read": (client) => client.get({ index: "mills", id: "1" }),
    "a document that is not there": (client) => client.get({ index: "mills", id: "none" }),
    "a document that is not there, ignored": (client) => client.get({ index: "mills", id: "none" }, { ignore: [404] }),
    "a conflict": (client) => client.create({ index: "mills", id: "1", document: {} }),
    "an index that exists": (client) => client.indices.exists({ index: "mills" }),
    "an index that does not": (client) => client.indices.exists({ index: "none" }),
    bulk: (client) => client.bulk({ operations: [{ index: { _index: "mills", _id: "2" } }, { name: "Lower", wheels: 1 }, { index: { _index: "mills", _id: "3" } }, BIG] }),
    "a search": (client) => client.search({ index: "mills", query: { term: { name: "Lower" } } }),
    "a search of two indices, with a query": (client) => client.search({ index: ["mills", "dams"], ignore_unavailable: true, size: 5 }),
    "a search, as a stream": (client) => client.search({ index: "mills", query: { term: { wheels: 2 } } }, { asStream: true }),
    "a search, with all that is known of it": async (client) => {
        const { body, statusCode, headers, warnings, meta } = await client.search({ index: "mills" }, { meta: true, opaqueId: "mine" });
        return { body, statusCode, type: headers["content-type"], warnings, name: meta.name, attempts: meta.attempts, aborted: meta.aborted, node: meta.connection.url.hostname, method: meta.request.params.method, path: meta.request.params.path };
    },
    "a text as the body": (client) => client.transport.request({ method: "PUT", path: "/mills/_doc/4", body: JSON.stringify(BIG) }, { headers: { "content-type": "application/json" } }),
    "a stream as the body": (client) => client.transport.request({ method: "PUT", path: "/mills/_doc/5", body: Readable.from([Buffer.from('{"name":'), Buffer.from('"Streamed"}')]) }, { headers: { "content-type": "application/json" } }),
    "what the server does not know": (client) => client.transport.request({ method: "POST", path: "/mills/_unknown", querystring: { list: ["a", "b"], none: undefined } }),
    "the helper of bulk": async (client) => {
        const { total, successful, failed } = await client.helpers.bulk({ datasource: [{ name: "Helped" }], onDocument: () => ({ index: { _index: "mills", _id: "6" } }) });
        return { total, successful, failed };
    },
    "the helper of search": async (client) => (await client.helpers.search({ index: "mills", query: { term: { name: "Helped" } } })).length,
    "a child's call": (client) => client.child({ headers: { "x-child": "1" } }).get({ index: "mills", id: "1" }),
    "a document, deleted": (client) => client.delete({ index: "mills", id: "1" }),
};

for (const [what, options] of [["as it is", {}], ["with compression", { compression: true }], ["with credentials", { auth: { username: "a", password: "b" } }]]) {
    test(`the client comes to the same results, ${what}`, async (t) => {
        const [own, leat] = await Promise.all([OWN, LEAT].map((transport) => opened(t, transport, options)));
        for (const [name, call] of Object.entries(CALLS)) {
            // Leat's streams are decoded, as all its bodies are.
            if (options.compression && name.endsWith("as a stream")) continue;
            const [theirs, ours] = [await outcome(call(own.client)), await outcome(call(leat.client))];
            assert.deepEqual(ours, theirs, name);
            const shown = ({ method, path, headers, body }) => {
                // What does not get smaller by it is sent as it is by Leat.
                const fields = Object.fromEntries(Object.entries(headers).filter(([field]) => !CONNECTIONS.has(field)));
                const has = (...names) => names.some((each) => headers[each] !== undefined);
                return { method, path, body, fields, accepts: has("accept-encoding"), hasLength: has("content-length", "transfer-encoding") };
            };
            assert.deepEqual(shown(leat.seen.at(-1)), shown(own.seen.at(-1)), `the request of ${name}`);
        }
        assert.equal(leat.seen.length, own.seen.length);
    });
}

test("failures are the library's, by class, name and status", async (t) => {
    const cases = {
        "a server that is not Elasticsearch": [() => ({ status: 200, headers: { "x-elastic-product": "other" }, body: {} }), {}, "ProductNotSupportedError"],
        "an error of the server": [() => ({ status: 500, body: { error: { type: "oops", reason: "no" }, status: 500 } }), {}, "ResponseError"],
        "JSON that is none": [() => ({ body: "{" }), {}, "DeserializationError"],
        "a connection that breaks": [() => "broken", { maxRetries: 0 }, "ConnectionError"],
        "no answer in time": [() => "silent", { maxRetries: 0, requestTimeout: 50 }, "TimeoutError"],
        "an abort": [({ abort }) => abort(), { maxRetries: 0 }, "RequestAbortedError"],
    };
    for (const [what, [trouble, options, name]] of Object.entries(cases)) {
        for (const transport of [OWN, LEAT]) {
            const controller = new AbortController();
            const abort = () => {
                controller.abort();
                return "silent";
            };
            const { client } = await opened(t, transport, options, () => trouble({ abort }));
            const found = await outcome(client.get({ index: "a", id: "1" }, { signal: controller.signal }));
            assert.equal(found.error, name, `${what}: ${inspect(found)}`);
            assert.ok(found.isOfLibrary, what);
        }
    }
});

test("calls are tried again on Leat's rules", async (t) => {
    const cases = [
        ["a GET answered 503", (client) => client.get({ index: "a", id: "1" }), 503, 2],
        ["a GET answered 429", (client) => client.get({ index: "a", id: "1" }), 429, 2],
        ["a POST answered 503", (client) => client.search({ index: "a", query: { term: { a: 1 } } }), 503, 1],
        ["a POST answered 429", (client) => client.search({ index: "a", query: { term: { a: 1 } } }), 429, 2],
    ];
    for (const [what, call, status, sent] of cases) {
        const { client, seen } = await opened(t, { Transport: elasticTransport(elastic, { retry: { baseMs: 1, maxMs: 1 } }) }, {}, ({ number }) => (number === 0 ? { status, body: {} } : undefined));
        await call(client).catch(() => {});
        assert.equal(seen.length, sent, what);
    }
});

test("an error tells nothing of what was sent but its address", async (t) => {
    const { client } = await opened(t, LEAT, { auth: { apiKey: "s3cr3t-key" }, headers: { cookie: "s3cr3t-cookie" } }, () => ({ status: 500, headers: { "set-cookie": "s3cr3t-answer" }, body: { error: "no" } }));
    const error = await client.index({ index: "a", id: "1", document: { password: "s3cr3t-password" } }).catch((each) => each);
    assert.equal(error.name, "ResponseError");
    assert.equal(error.meta.meta.request.params.path, "/a/_doc/1");
    assert.ok(!`${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error)}`.includes("s3cr3t"));
});

test("the client's events come as before", async (t) => {
    for (const transport of [OWN, LEAT]) {
        const { client } = await opened(t, transport);
        const events = [];
        for (const event of ["serialization", "request", "deserialization", "response"]) client.diagnostic.on(event, (error, result) => events.push(`${event} ${error?.name ?? "fine"} ${result?.statusCode ?? ""}`));
        await client.info();
        await client.get({ index: "a", id: "1" }).catch(() => {});
        assert.equal(events.filter((each) => each.startsWith("response")).join(), "response fine 200,response ResponseError 404");
        assert.equal(events.filter((each) => each.startsWith("request")).length, 2);
    }
});

test("middleware of one's own see every call", async (t) => {
    const { middleware } = await import("leat/middleware");
    const paths = [];
    const own = middleware({ name: "own", scope: "call", onRequest: ({ request }) => void paths.push(request.path) });
    const { client } = await opened(t, { Transport: elasticTransport(elastic, { middleware: [own] }) });
    await client.info();
    await client.search({ index: "mills" });
    assert.deepEqual(paths, ["/", "/mills/_search"]);
});
