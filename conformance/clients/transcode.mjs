// Clients that others wrote, through a `transcode` route to a server that speaks gRPC and nothing else is asked of: connect-node by
// each of its protocols, REST by fetch, and connect-web in Chromium from a page of another origin.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { openPage, PAGE_FOUND, PAGE_PROTOCOLS, servePage } from "./browser.mjs";
import { here, launch, start } from "./mock.mjs";
import { notesService } from "./schema.mjs";
import { needs } from "./tool.mjs";

const Notes = notesService();
/** How long the log may take to be written. */
const LOG_MS_MAX = 10_000;
const TRANSPORTS = {
    "Connect, HTTP/1.1": (options) => createConnectTransport({ httpVersion: "1.1", ...options }),
    "Connect, HTTP/2": (options) => createConnectTransport({ httpVersion: "2", ...options }),
    "Connect by GET": (options) => createConnectTransport({ httpVersion: "1.1", useHttpGet: true, ...options }),
    "gRPC-Web, HTTP/1.1": (options) => createGrpcWebTransport({ httpVersion: "1.1", ...options }),
    "gRPC-Web, HTTP/2": (options) => createGrpcWebTransport({ httpVersion: "2", ...options }),
    "gRPC": (options) => createGrpcTransport(options),
};
/** The fields that clients of gRPC-Web and Connect send, as docs/guide/transcode.md has them, and those of the test. */
const CORS_HEADERS = ["content-type", "connect-protocol-version", "connect-timeout-ms", "grpc-timeout", "x-grpc-web", "x-user-agent", "x-ask"];
const CORS_EXPOSE = ["grpc-status", "grpc-message", "grpc-status-details-bin", "x-head", "x-trail", "trailer-x-trail"];

const folder = mkdtempSync(join(tmpdir(), "leat-transcode-"));
const stops = [];
let upstream;
let baseUrl;

/** A gateway before the mock, with these lines below its route. */
async function gateway(...lines) {
    const config = join(folder, `${stops.length}.yaml`);
    writeFileSync(config, [
        "listeners: 127.0.0.1:0", "workers: 1", "routes:",
        `  - transcode: { upstream: "h2c://${upstream}", proto: ${join(here, "rest.proto")} }`, ...lines.map((line) => `    ${line}`), "",
    ].join("\n"));
    const started = await launch("gateway", config);
    stops.push(started.stop);
    return `http://${started.address}`;
}

before(async () => {
    const mock = await start();
    stops.push(mock.stop);
    upstream = mock.address;
    baseUrl = await gateway();
});
after(() => {
    stops.forEach((stop) => stop());
    rmSync(folder, { recursive: true, force: true });
});

async function all(iterable) {
    const found = [];
    for await (const each of iterable) found.push(each);
    return found;
}

async function* texts(...given) {
    for (const text of given) yield { text };
}

for (const [name, transport] of Object.entries(TRANSPORTS)) {
    for (const useBinaryFormat of [true, false]) {
        describe(`${name}, ${useBinaryFormat ? "binary" : "JSON"}`, () => {
            const client = (options) => createClient(Notes, transport({ baseUrl, useBinaryFormat, ...options }));

            test("messages and metadata", async () => {
                const seen = {};
                const reply = await client().say({ text: "hi", id: 7n, data: new Uint8Array([0, 255]), tags: ["a", "b"] }, {
                    headers: { "x-ask": "1" }, onHeader: (headers) => { seen.head = headers.get("x-head"); }, onTrailer: (headers) => { seen.trail = headers.get("x-trail"); },
                });
                assert.deepEqual([reply.text, reply.id, [...reply.data], reply.tags], ["re: hi", 7n, [0, 255], ["a", "b"]]);
                assert.deepEqual(seen, { head: "1", trail: "end" });
            });

            test("an error with its details", async () => {
                const error = await client().say({ text: "refuse" }).then(assert.fail, ConnectError.from);
                assert.deepEqual([error.code, error.rawMessage], [Code.PermissionDenied, "no, grüße 100 %"]);
                assert.deepEqual(error.details.map(({ type }) => type), ["google.rpc.ErrorInfo"]);
                assert.match(Buffer.from(error.details[0].value).toString("latin1"), /RULE.*clients\.example/s);
            });

            test("a stream of replies, with its trailers", async () => {
                let trail;
                const replies = await all(client().count({}, { onTrailer: (headers) => { trail = headers.get("x-trail"); } }));
                assert.deepEqual([replies.map(({ id }) => id), trail], [[0n, 1n, 2n, 3n, 4n], "counted"]);
            });

            test("a deadline", async () => {
                await assert.rejects(client().say({ text: "slow" }, { timeoutMs: 200 }), (error) => error.code === Code.DeadlineExceeded);
            });

            test("compressed both ways", async () => {
                const text = "x".repeat(100_000);
                const compressing = client({ sendCompression: compressionGzip, acceptCompression: [compressionGzip, compressionBrotli], compressMinBytes: 0 });
                assert.equal((await compressing.say({ text })).text, `re: ${text}`);
            });

            // Over HTTP/1.1 connect-node has none of them.
            if (name.includes("1.1") || name.includes("GET")) return;
            test("streams of requests, and of both", async () => {
                assert.equal((await client().join(texts("a", "b"))).text, "a b");
                assert.deepEqual((await all(client().talk(texts("a", "b")))).map(({ text }) => text), ["re: a", "re: b"]);
            });
        });
    }
}

describe("REST", () => {
    const json = async (path, options) => {
        const reply = await fetch(`${baseUrl}${path}`, options);
        return { status: reply.status, type: reply.headers.get("content-type"), headers: reply.headers, body: await reply.json() };
    };
    const posted = (body, headers = {}) => ({ method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

    test("a call by POST and by GET, with metadata", async () => {
        const post = await json("/v1/notes", posted({ text: "hi", id: "7", data: "AP8=", tags: ["a", "b"] }, { "x-ask": "1" }));
        assert.deepEqual([post.status, post.body], [200, { text: "re: hi", id: "7", data: "AP8=", tags: ["a", "b"] }]);
        assert.deepEqual([post.headers.get("x-head"), post.headers.get("grpc-trailer-x-trail")], ["1", "end"]);
        const got = await json("/v1/notes/h%C3%AF?id=7&tags=a&tags=b");
        assert.deepEqual([got.status, got.body], [200, { text: "re: hï", id: "7", tags: ["a", "b"] }]);
    });

    test("an error with its details", async () => {
        const { status, body } = await json("/v1/notes/refuse");
        assert.deepEqual([status, body.code, body.message], [403, 7, "no, grüße 100 %"]);
        assert.deepEqual(body.details, [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "RULE", domain: "clients.example" }]);
    });

    test("a deadline", async () => {
        const { status, body } = await json("/v1/notes/slow", { headers: { "grpc-timeout": "200m" } });
        assert.deepEqual([status, body.code], [504, 4]);
    });

    test("a stream of replies: an array, lines, events", async () => {
        const ids = ["0", "1", "2", "3", "4"];
        const idOf = ({ id = "0" }) => id;
        assert.deepEqual((await json("/v1/counts")).body.map(idOf), ids);
        const text = async (accept) => (await fetch(`${baseUrl}/v1/counts`, { headers: { accept } })).text();
        assert.deepEqual((await text("application/x-ndjson")).trim().split("\n").map((line) => idOf(JSON.parse(line))), ids);
        const events = (await text("text/event-stream")).split("\n\n").filter((event) => event.startsWith("data: "));
        assert.deepEqual(events.map((event) => idOf(JSON.parse(event.slice(6)))), ids);
    });

    test("a stream of requests: an array", async () => {
        assert.deepEqual((await json("/v1/joins", posted([{ text: "a" }, { text: "b" }]))).body, { text: "a b", id: "2" });
    });

    test("what is no path, and what is no field", async () => {
        assert.equal((await json("/v1/nothing")).status, 404);
        const { status, body } = await json("/v1/notes/hi?color=red");
        assert.deepEqual([status, body.code, /color/.test(body.message)], [400, 3, true]);
    });
});

describe("pages", () => {
    const cors = (origin) => ["cors:", `  origins: ["${origin}"]`, "  methods: [GET, POST]", `  headers: [${CORS_HEADERS}]`, `  expose: [${CORS_EXPOSE}]`];
    const preflight = (base, path, origin, headers) => fetch(`${base}${path}`, {
        method: "OPTIONS", headers: { origin, "access-control-request-method": "POST", ...(headers && { "access-control-request-headers": headers }) },
    });

    test("a preflight for each protocol's fields", async () => {
        const base = await gateway(...cors("https://shop.example"));
        for (const [path, headers] of [
            ["/clients.v1.Notes/Say", "connect-protocol-version,content-type"],
            ["/clients.v1.Notes/Say", "content-type,grpc-timeout,x-grpc-web,x-user-agent"],
            ["/v1/notes", "content-type"],
        ]) {
            const reply = await preflight(base, path, "https://shop.example", headers);
            assert.ok(reply.ok, `${path} ${headers}: ${reply.status}`);
            assert.equal(reply.headers.get("access-control-allow-origin"), "https://shop.example");
            const allowed = reply.headers.get("access-control-allow-headers").toLowerCase().split(/, */);
            assert.deepEqual(headers.split(",").filter((name) => !allowed.includes(name)), []);
            const elsewhere = await preflight(base, path, "https://elsewhere.example", headers);
            assert.equal(elsewhere.headers.get("access-control-allow-origin"), null);
        }
    });

    test("replies say who may read them, errors too", async () => {
        const base = await gateway(...cors("https://shop.example"));
        for (const text of ["hi", "refuse"]) {
            const reply = await fetch(`${base}/v1/notes/${text}`, { headers: { origin: "https://shop.example" } });
            assert.equal(reply.headers.get("access-control-allow-origin"), "https://shop.example", text);
            assert.match(reply.headers.get("vary"), /origin/i);
        }
    });

    test("connect-web in Chromium, from its own origin and from one that may not", { ...needs("chromium"), timeout: 120_000 }, async (t) => {
        const origin = await servePage(t);
        if (origin === undefined) return;
        const base = await gateway(...cors(origin));
        const page = await openPage(t, origin);
        for (const [protocol, options] of PAGE_PROTOCOLS) {
            assert.deepEqual(await page.ask(base, protocol, options), PAGE_FOUND, `${protocol} ${JSON.stringify(options)}`);
        }
        const other = await gateway(...cors("https://shop.example"));
        await assert.rejects(page.ask(other, "connect", {}), /fetch/i);
    });
});

test("access records of both kinds of route name the protocol that the client speaks", async (t) => {
    const log = (name) => join(folder, `${name}.log`);
    const mock = await launch("mock", "--proto", join(here, "rest.proto"), "--rules", join(here, "rules.yaml"), "--listen", "127.0.0.1:0", "--access-log", log("mock"));
    t.after(() => mock.stop());
    const config = join(folder, "records.yaml");
    writeFileSync(config, `listeners: 127.0.0.1:0\nworkers: 1\naccess_log: { path: ${log("transcode")} }\nroutes:\n  - transcode: { upstream: "h2c://${mock.address}", proto: ${join(here, "rest.proto")} }\n`);
    const passing = await launch("gateway", config);
    t.after(() => passing.stop());
    for (const [name, { address }] of Object.entries({ mock, transcode: passing })) {
        const base = { baseUrl: `http://${address}` };
        await fetch(`http://${address}/v1/notes/hi`).then((reply) => reply.text());
        for (const make of [() => createConnectTransport({ httpVersion: "1.1", ...base }), () => createGrpcWebTransport({ httpVersion: "1.1", ...base }), () => createGrpcTransport(base)]) {
            await createClient(Notes, make()).say({ text: "hi" });
        }
        const wanted = ["connect", "grpc", "grpc_web", "rest"];
        let seen = [];
        for (const end = Date.now() + LOG_MS_MAX; Date.now() < end && seen.length < wanted.length;) {
            await pause(50);
            const lines = readFileSync(log(name), "utf8").trim().split("\n").filter((line) => line !== "").slice(0, wanted.length);
            seen = lines.map((line) => JSON.parse(line).rpc);
        }
        assert.deepEqual(seen.sort(), wanted, name);
    }
});
