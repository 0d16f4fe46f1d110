// `fetch` by a transport beside the platform's own, on the same server: what comes back, and what was asked, is the same.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { compression, fetchBy, retry, Transport } from "leat/transport";
import { gzipSync } from "node:zlib";
import { json, origin } from "../faults/origin.mjs";

/** Answers by path; the body that was sent comes back. */
function script({ path, method, headers, body, reply }) {
    const [, kind, ...rest] = new URL(path, "http://a").pathname.split("/");
    if (kind === "status") return void reply.writeHead(Number(rest[0])).end();
    if (kind === "redirect") return void reply.writeHead(Number(rest[0]), { location: `/${rest.slice(1).join("/")}?by=${rest[0]}` }).end("elsewhere");
    if (kind === "loop") return void reply.writeHead(302, { location: path }).end();
    if (kind === "away") return void reply.writeHead(302, { location: "http://127.0.0.1:9/" }).end();
    if (kind === "gzip") return void reply.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" }).end(gzipSync("unpacked"));
    if (kind === "cookies") return void reply.writeHead(200, [["set-cookie", "a=1"], ["set-cookie", "b=2"]].flat()).end("two");
    if (kind === "silent") return undefined;
    if (kind === "broken") return void reply.destroy();
    if (kind === "half") {
        reply.writeHead(200, { "content-length": "100" });
        return void reply.write("half", () => reply.destroy());
    }
    return json(reply, 200, { method, path, type: headers["content-type"] ?? null, own: headers["x-own"] ?? null, body });
}

async function both(t) {
    const { url, seen } = await origin(t, script);
    const transport = new Transport({ nodes: url, middleware: [compression()] });
    t.after(() => transport.close());
    return { url, seen, transport, ways: [(path, init) => fetch(url + path, init), fetchBy(transport)] };
}

const shown = async (response) => ({
    status: response.status,
    ok: response.ok,
    redirected: response.redirected,
    path: new URL(response.url).pathname,
    type: response.headers.get("content-type"),
    cookies: response.headers.getSetCookie(),
    hasBody: response.body !== null,
    text: await response.text(),
});

const CALLS = {
    "a path": ["/a?b=c"],
    "a text": ["/", { method: "POST", body: "text" }],
    "bytes": ["/", { method: "PUT", body: new Uint8Array([97, 98]) }],
    "a form": ["/", { method: "POST", body: new URLSearchParams({ a: "b c" }) }],
    "a blob": ["/", { method: "POST", body: new Blob(["blob"], { type: "text/x-blob" }) }],
    "a stream": ["/", () => ({ method: "POST", body: Readable.toWeb(Readable.from([Buffer.from("in "), Buffer.from("pieces")])), duplex: "half" })],
    "headers": ["/", { headers: { "X-Own": "1", "Content-Type": "text/own" } }],
    "a method in lower case": ["/", { method: "delete" }],
    "HEAD": ["/a", { method: "HEAD" }],
    "204": ["/status/204"],
    "304": ["/status/304"],
    "404": ["/status/404"],
    "503": ["/status/503"],
    "a body that is compressed": ["/gzip"],
    "cookies": ["/cookies"],
    "a redirect": ["/redirect/302/a"],
    "two redirects": ["/redirect/302/redirect/307/a"],
    "a redirect of a POST, which becomes GET": ["/redirect/302/a", { method: "POST", body: "text", headers: { "x-own": "1" } }],
    "a redirect of a POST, which stays one": ["/redirect/307/a", { method: "POST", body: "text" }],
    "a redirect of a PUT by 303": ["/redirect/303/a", { method: "PUT", body: "text" }],
    "a redirect that is not followed": ["/redirect/302/a", { redirect: "manual" }],
};

test("a form with a file arrives alike, and again after a redirect that asks for it", async (t) => {
    const { ways, seen } = await both(t);
    const form = new FormData();
    form.append("a", "1");
    form.append("file", new Blob(["abc"], { type: "text/x-a" }), "a.txt");
    // Node.js 20's own writes the form anew after a redirect, under the type of the first one.
    for (const [path, asked] of [["/", ways], ["/redirect/307/a", ways.slice(1)]]) {
        for (const way of asked) {
            await way(path, { method: "POST", body: form });
            const { headers, body } = seen.at(-1);
            const read = await new Response(body, { headers: { "content-type": headers["content-type"] } }).formData();
            assert.deepEqual([read.get("a"), read.get("file").name, read.get("file").type, await read.get("file").text()], ["1", "a.txt", "text/x-a", "abc"]);
        }
    }
});

test("responses are alike", async (t) => {
    const { ways } = await both(t);
    for (const [name, [path, init]] of Object.entries(CALLS)) {
        const [theirs, ours] = await Promise.all(ways.map(async (way) => shown(await way(path, typeof init === "function" ? init() : init))));
        assert.deepEqual(ours, theirs, name);
    }
});

test("failures are alike", async (t) => {
    const { ways } = await both(t);
    const aborted = AbortSignal.abort(new Error("mine"));
    const cases = {
        "a connection that breaks": ["/broken", {}, TypeError],
        "a redirect that is an error": ["/redirect/302/a", { redirect: "error" }, TypeError],
        "a redirect that leads to itself": ["/loop", {}, TypeError],
        "a stream that would have to be sent again": ["/redirect/307/a", { method: "POST", duplex: "half" }, TypeError],
        "a GET with a body": ["/", { body: "text" }, TypeError],
        "a signal that was aborted before": ["/", { signal: aborted }, Error],
    };
    for (const [name, [path, init, kind]] of Object.entries(cases)) {
        for (const way of ways) {
            const body = init.duplex === "half" ? { body: Readable.toWeb(Readable.from([Buffer.from("once")])) } : {};
            const error = await way(path, { ...init, ...body }).then(() => assert.fail(`${name}: no failure`), (each) => each);
            assert.ok(error instanceof kind, `${name}: ${error}`);
            if (init.signal !== undefined) assert.equal(error, init.signal.reason);
        }
    }
});

test("an abort ends a call and a body with its reason", async (t) => {
    const { ways } = await both(t);
    for (const way of ways) {
        const controller = new AbortController();
        const calling = way("/silent", { signal: controller.signal });
        const reason = new Error("enough");
        controller.abort(reason);
        await assert.rejects(calling, (error) => error === reason);
    }
});

test("a body that breaks is an error of its reader", async (t) => {
    const { ways } = await both(t);
    for (const way of ways) await assert.rejects((await way("/half")).text());
});

test("failures have the transport's error as their cause, and other origins are refused", async (t) => {
    const { ways: [, ours], seen } = await both(t);
    await assert.rejects(ours("/broken"), (error) => error instanceof TypeError && error.cause.code === "connection.broken");
    const count = seen.length;
    await assert.rejects(ours("http://127.0.0.1:1/"), (error) => error.cause.code === "request.invalid");
    await assert.rejects(ours("/", { integrity: "sha256-a" }), (error) => error.cause.code === "request.invalid");
    assert.equal(seen.length, count);
    await assert.rejects(ours("/away"), (error) => error.cause.code === "request.invalid");
});

test("a URL and a Request are taken too", async (t) => {
    const { url, ways: [, ours] } = await both(t);
    assert.equal((await (await ours(new URL("/u", url))).json()).path, "/u");
    const { method, body } = await (await ours(new Request(`${url}/r`, { method: "PUT", body: "from a request" }))).json();
    assert.deepEqual([method, body], ["PUT", "from a request"]);
});

test("middleware act: a text is sent again, a stream is not", async (t) => {
    const { url, seen } = await origin(t, ({ number, reply }) => reply.writeHead(number === 0 || number === 2 ? 503 : 200).end());
    const transport = new Transport({ nodes: url, middleware: [retry({ baseMs: 1, maxMs: 1 })] });
    t.after(() => transport.close());
    const ours = fetchBy(transport);
    assert.equal((await ours("/", { method: "PUT", body: "text" })).status, 200);
    assert.equal((await ours("/", { method: "PUT", body: Readable.toWeb(Readable.from([Buffer.from("once")])), duplex: "half" })).status, 503);
    assert.equal(seen.length, 3);
});
