// Options of TLS servers: keys with passphrases, versions, and values that are refused by name.
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import tls from "node:tls";
import leat from "leat/http";
import { certificate } from "../../../../conformance/certificate.mjs";
import { temporary } from "../../../../conformance/gateway.mjs";
import { ended, listening } from "./ask.mjs";

const { createServer, https } = leat;
const options = { timeout: 30_000 };
const folder = temporary();
process.once("exit", () => folder.remove());
const files = certificate(folder.path);
const cert = readFileSync(files.cert);
const key = readFileSync(files.key);
const locked = (type, passphrase) => createPrivateKey(key).export({ type, format: "pem", cipher: "aes-256-cbc", passphrase });

const keys = [
    ["a plain key", { key }],
    ["a plain key with a passphrase", { key, passphrase: "one" }],
    ["an encrypted key", { key: locked("pkcs8", "one"), passphrase: "one" }],
    ["an encrypted key of the older form", { key: locked("sec1", "one"), passphrase: "one" }],
    ["a key with its own passphrase", { key: [{ pem: locked("pkcs8", "one"), passphrase: "one" }] }],
    ["a key whose own passphrase counts", { key: [{ pem: locked("pkcs8", "one"), passphrase: "one" }], passphrase: "two" }],
];

for (const [name, given] of keys) {
    test(`${name} is taken`, options, async (t) => {
        const server = await listening(t, createServer({ cert, ...given }));
        const socket = tls.connect({ port: server.address().port, host: "127.0.0.1", servername: "localhost", ca: cert });
        await once(socket, "secureConnect");
        assert.equal(socket.authorized, true);
        socket.destroy();
    });
}

test("a wrong passphrase is an error of node:tls", options, () => {
    assert.throws(() => createServer({ cert, key: locked("pkcs8", "one"), passphrase: "two" }), { code: "ERR_OSSL_BAD_DECRYPT" });
});

test("versions are those that are named", options, async (t) => {
    for (const [given, protocol] of [[{}, "TLSv1.3"], [{ maxVersion: "TLSv1.2" }, "TLSv1.2"], [{ minVersion: "TLSv1.3" }, "TLSv1.3"], [{ minVersion: "TLSv1" }, "TLSv1.3"]]) {
        const server = await listening(t, createServer({ cert, key, ...given }));
        const socket = tls.connect({ port: server.address().port, host: "127.0.0.1", servername: "localhost", ca: cert });
        await once(socket, "secureConnect");
        assert.equal(socket.getProtocol(), protocol);
        socket.destroy();
    }
});

for (const [name, given, answered] of [
    ["is refused where one is needed", {}, false],
    ["is served where one is only asked for", { rejectUnauthorized: false }, true],
]) {
    test(`without ca, a client without a certificate ${name}`, options, async (t) => {
        const server = await listening(t, createServer({ cert, key, requestCert: true, ...given }, (_request, response) => response.end("served")));
        const socket = tls.connect({ port: server.address().port, host: "127.0.0.1", servername: "localhost", ca: cert });
        socket.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        // A refusal is an alert of TLS.
        const text = await ended(socket.setEncoding("latin1")).catch((error) => error.message);
        assert.equal(text.endsWith("served"), answered, text);
    });
}

const refused = [
    ["maxVersion", "TLSv1"],
    ["maxVersion", "TLSv1.1"],
    ["handshakeTimeout", 5_000],
    ["blockList", {}],
];

for (const [option, value] of refused) {
    test(`${option}: ${JSON.stringify(value)} is refused by name`, () => {
        assert.throws(() => https.createServer({ cert, key, [option]: value }), { code: "LEAT_UNSUPPORTED_OPTION", option });
    });
}

test("a handshake's time that is the engine's is no mistake", () => void https.createServer({ cert, key, handshakeTimeout: 120_000 }));
