// TLS and HTTP/2 by Leat's engine: who is trusted, and what HTTP/2 says of requests that it did not touch.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createSecureServer, createServer as createH2c } from "node:http2";
import { createServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { leat, Transport } from "leat/transport";
import { temporary } from "../../../../../conformance/gateway.mjs";
import { bodyOf, echo } from "../core/made.mjs";

const folder = temporary();
process.once("exit", () => folder.remove());
const openssl = (...args) => execFileSync("openssl", args, { cwd: folder.path, stdio: ["ignore", "ignore", "pipe"] });
const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
// A server's certificate and the authority that it is by: rustls takes no authority's own certificate for a server's.
openssl("req", "-x509", ...EC, "-days", "1", "-subj", "/CN=an authority", "-keyout", "ca.key", "-out", "ca.pem");
openssl("req", ...EC, "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "asked.pem");
writeFileSync(join(folder.path, "names"), "subjectAltName=DNS:localhost,DNS:other.test\nbasicConstraints=CA:FALSE\n");
openssl("x509", "-req", "-in", "asked.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1", "-extfile", "names", "-out", "cert.pem");
const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((name) => readFileSync(join(folder.path, name)));

async function called(t, server, options, scheme = "https") {
    const sessions = new Set();
    let connections = 0;
    server.on("session", (session) => sessions.add(session.on("error", () => undefined)));
    server.on(scheme === "https" ? "secureConnection" : "connection", () => connections++);
    server.listen(0, "localhost");
    await once(server, "listening");
    const transport = new Transport({ nodes: `${scheme}://localhost:${server.address().port}`, timeoutMs: 10_000, connection: leat(options) });
    t.after(async () => {
        await transport.close();
        for (const session of sessions) session.destroy();
        server.closeAllConnections?.();
        server.close();
    });
    return { transport, connections: () => connections };
}

for (const [name, tls] of [["bytes", { ca }], ["a list of texts", { ca: [String(ca), String(ca)] }], ["with another name", { ca, servername: "other.test" }]]) {
    test(`an authority that is trusted: ${name}`, async (t) => {
        const { transport, connections } = await called(t, createServer({ cert, key }, echo), { tls });
        for (let round = 0; round < 3; round++) {
            const { body } = await transport.request({ method: "POST", path: "/a", body: { a: round } });
            assert.equal(body.body, `{"a":${round}}`);
        }
        assert.equal(connections(), 1);
    });
}

for (const [name, options] of [["nobody's", {}], ["of another name", { tls: { ca, servername: "elsewhere.test" } }]]) {
    test(`a certificate that is ${name}: nothing was sent`, async (t) => {
        let asked = 0;
        const server = createServer({ cert, key }, () => asked++);
        server.on("tlsClientError", () => undefined);
        const { transport } = await called(t, server, options);
        await assert.rejects(transport.request({ path: "/" }), (error) => error.code === "connection.failed" && error.kind === "not_sent" && /upstream\.tls/.test(error.message));
        assert.equal(asked, 0);
    });
}

const answer = (request, response) => response.end(request.httpVersion);
for (const [name, server, scheme] of [["over TLS", () => createSecureServer({ cert, key }, answer), "https"], ["in plain text", () => createH2c(answer), "http"]]) {
    test(`HTTP/2 ${name}: calls share a connection`, async (t) => {
        const { transport, connections } = await called(t, server(), { http2: true, tls: { ca } }, scheme);
        const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => transport.request({ path: `/${at}`, as: "text", method: at % 2 ? "POST" : "GET", ...(at % 2 ? { body: "abc" } : {}) })));
        assert.deepEqual(answers.map(({ body }) => body), Array(20).fill("2.0"));
        assert.notEqual(answers[0].headers.date, undefined);
        const { body } = await transport.request({ path: "/", as: "stream" });
        assert.equal(String(await bodyOf(body)), "2.0");
        assert.equal(connections(), 1);
    });
}

test("HTTP/2 that a peer does not speak is no connection", async (t) => {
    const { transport } = await called(t, createServer({ cert, key }, echo), { http2: true, tls: { ca } });
    await assert.rejects(transport.request({ path: "/" }), { code: "connection.failed" });
});

test("HTTP/2: a stream that is refused was not processed", async (t) => {
    const server = createSecureServer({ cert, key });
    // REFUSED_STREAM, RFC 9113 section 8.7.
    server.on("stream", (stream) => stream.on("error", () => undefined).close(0x7));
    const { transport } = await called(t, server, { http2: true, tls: { ca } });
    await assert.rejects(transport.request({ path: "/" }), { code: "connection.not_processed", kind: "not_processed" });
});

test("HTTP/2: a call that is aborted ends its stream alone", async (t) => {
    const ended = [];
    const server = createSecureServer({ cert, key });
    server.on("stream", (stream, headers) => {
        stream.on("error", () => undefined).on("close", () => ended.push([headers[":path"], stream.rstCode]));
        if (headers[":path"] !== "/silent") stream.end("a");
        else server.emit("silent");
    });
    const silent = once(server, "silent");
    const { transport, connections } = await called(t, server, { http2: true, tls: { ca } });
    const controller = new AbortController();
    const calling = transport.request({ path: "/silent", signal: controller.signal });
    await silent;
    controller.abort();
    await assert.rejects(calling, { code: "call.aborted" });
    assert.equal((await transport.request({ path: "/", as: "text" })).body, "a");
    assert.equal(connections(), 1);
    // CANCEL.
    assert.deepEqual(ended.find(([path]) => path === "/silent"), ["/silent", 0x8]);
});
