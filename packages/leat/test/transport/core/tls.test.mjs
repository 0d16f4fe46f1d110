// TLS and HTTP/2 by undici: who is trusted, what is told of who is not, and what HTTP/2 says of requests that it did not touch.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import { test } from "node:test";
import { Transport, undici } from "leat/transport";
import { certificate } from "../../../../../conformance/certificate.mjs";
import { temporary } from "../../../../../conformance/gateway.mjs";
import { bodyOf, echo } from "./made.mjs";

const folder = temporary();
process.once("exit", () => folder.remove());
const files = certificate(folder.path);
const cert = readFileSync(files.cert);
const key = readFileSync(files.key);

async function secure(t, server, options) {
    const sessions = new Set();
    server.on("session", (session) => sessions.add(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = new Transport({ nodes: `https://localhost:${server.address().port}`, timeoutMs: 10_000, connection: undici(options) });
    t.after(async () => {
        await transport.close();
        for (const session of sessions) session.destroy();
        server.closeAllConnections?.();
        server.close();
    });
    return transport;
}

test("a certificate that is trusted", async (t) => {
    const transport = await secure(t, createServer({ cert, key }, echo), { tls: { ca: cert } });
    const { body } = await transport.request({ method: "POST", path: "/a", body: { a: 1 } });
    assert.equal(body.body, '{"a":1}');
});

test("a certificate that is not: nothing was sent", async (t) => {
    let asked = 0;
    const transport = await secure(t, createServer({ cert, key }, () => asked++), {});
    await assert.rejects(transport.request({ path: "/" }), (error) => error.code === "connection.failed" && error.kind === "not_sent" && /SELF_SIGNED|UNABLE_TO/.test(error.message));
    assert.equal(asked, 0);
});

test("HTTP/2, where the peer speaks it and it was asked for", async (t) => {
    const server = () => createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => response.end(request.httpVersion));
    for (const [http2, version] of [[true, "2.0"], [false, "1.1"]]) {
        const transport = await secure(t, server(), { http2, tls: { ca: cert } });
        const answers = await Promise.all(Array.from({ length: 5 }, (_, at) => transport.request({ path: `/${at}`, as: "text" })));
        assert.deepEqual(answers.map(({ body }) => body), Array(5).fill(version));
        assert.equal(answers[0].headers["date"] !== undefined, true);
        const { body } = await transport.request({ path: "/", as: "stream" });
        assert.equal(String(await bodyOf(body)), version);
    }
});

test("HTTP/2: a stream that is refused was not processed", async (t) => {
    const server = createSecureServer({ cert, key });
    // REFUSED_STREAM, RFC 9113 section 8.7.
    server.on("stream", (stream) => stream.on("error", () => undefined).close(0x7));
    const transport = await secure(t, server, { http2: true, tls: { ca: cert } });
    await assert.rejects(transport.request({ path: "/" }), { code: "connection.not_processed", kind: "not_processed" });
    assert.equal(transport.nodes()[0].state, "alive");
});
