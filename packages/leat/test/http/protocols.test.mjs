// Which protocols a server offers: HTTP/1.1, and with `http2` HTTP/2 as well, by ALPN over TLS and by prior knowledge without.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import { test } from "node:test";
import tls from "node:tls";
import leat from "leat/http";
import { certificate } from "../../../../conformance/certificate.mjs";
import { temporary } from "../../../../conformance/gateway.mjs";
import { listening } from "./ask.mjs";

const { createServer, https } = leat;
const options = { timeout: 30_000 };
const folder = temporary();
process.once("exit", () => folder.remove());
const files = certificate(folder.path);
const pair = { key: readFileSync(files.key), cert: readFileSync(files.cert) };
const listener = (request, response) => response.end(`HTTP/${request.httpVersion}`);

/** What `server` chooses of all that a client knows. */
async function chosen(server) {
    const socket = tls.connect({ port: server.address().port, host: "127.0.0.1", ca: pair.cert, ALPNProtocols: ["h2", "http/1.1"] });
    await once(socket, "secureConnect");
    socket.destroy();
    return socket.alpnProtocol;
}

/** The body of one request over HTTP/2. */
async function asked(origin) {
    const session = http2.connect(origin, { ca: pair.cert });
    try {
        const stream = session.request({ ":path": "/" });
        let text = "";
        for await (const part of stream.setEncoding("utf8")) text += part;
        return text;
    } finally {
        session.destroy();
    }
}

const offers = [
    ["HTTP/1.1 alone", {}, "http/1.1"],
    ["HTTP/2 first, if it is asked for", { http2: true }, "h2"],
    ["what is named", { http2: true, ALPNProtocols: ["http/1.1"] }, "http/1.1"],
];

for (const [name, extra, protocol] of offers) {
    for (const [maker, make] of [["createServer", createServer], ["https.createServer", https.createServer]]) {
        test(`${maker} offers ${name}`, options, async (t) => {
            const server = await listening(t, make({ ...pair, ...extra }, listener));
            assert.equal(await chosen(server), protocol);
        });
    }
}

test("a request over HTTP/2 and TLS says so", options, async (t) => {
    const server = await listening(t, createServer({ ...pair, http2: true }, listener));
    assert.equal(await asked(`https://localhost:${server.address().port}`), "HTTP/2.0");
});

test("a request over HTTP/2 without TLS says so", options, async (t) => {
    const server = await listening(t, createServer({ http2: true }, listener));
    assert.equal(await asked(`http://127.0.0.1:${server.address().port}`), "HTTP/2.0");
});
