// TLS and certificates of clients, by the flags of `leat mock` and clients that others wrote: with a certificate, without one, and
// with one of another authority.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { here, start } from "./mock.mjs";
import { notesService } from "./schema.mjs";
import { needs, run } from "./tool.mjs";

const REFUSED_MS_MAX = 5_000;
const Notes = notesService();
const TRANSPORTS = {
    "Connect, HTTP/1.1": (options) => createConnectTransport({ httpVersion: "1.1", ...options }),
    "Connect, HTTP/2": (options) => createConnectTransport({ httpVersion: "2", ...options }),
    "gRPC-Web, HTTP/1.1": (options) => createGrpcWebTransport({ httpVersion: "1.1", ...options }),
    "gRPC-Web, HTTP/2": (options) => createGrpcWebTransport({ httpVersion: "2", ...options }),
    "gRPC": (options) => createGrpcTransport(options),
};

const folder = mkdtempSync(join(tmpdir(), "leat-secure-"));
const file = (name) => join(folder, name);
const pem = (name) => readFileSync(file(name));
const openssl = (...args) => execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** `NAME.pem` and `NAME.key`: an authority. */
function authority(name) {
    openssl("req", "-x509", ...KEY, "-days", "1", "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.pem`);
}

/** `NAME.pem` and `NAME.key`, signed by an authority. */
function signed(name, by, usage) {
    writeFileSync(file("extensions"), `subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=${usage}\n`);
    openssl("req", "-new", ...KEY, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    openssl("x509", "-req", "-days", "1", "-in", `${name}.csr`, "-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial", "-extfile", "extensions", "-out", `${name}.pem`);
}

before(() => {
    authority("ca");
    authority("elsewhere");
    signed("server", "ca", "serverAuth");
    signed("client", "ca", "clientAuth");
    signed("stranger", "elsewhere", "clientAuth");
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** What a client shows of itself: nothing, or the certificate of this name. */
const shows = (name) => ({ ca: pem("ca.pem"), ...(name && { cert: pem(`${name}.pem`), key: pem(`${name}.key`) }) });

async function mock(t, ...more) {
    const started = await start("--tls-cert", file("server.pem"), "--tls-key", file("server.key"), ...more);
    t.after(() => started.stop());
    return { ...started, baseUrl: `https://${started.address}` };
}

/** Calls by connect-node: the reply's text, or the name of the error's code. */
async function say(make, baseUrl, name) {
    const notes = createClient(Notes, make({ baseUrl, nodeOptions: shows(name), defaultTimeoutMs: REFUSED_MS_MAX }));
    return notes.say({ text: "hi" }).then(({ text }) => text, (error) => Code[ConnectError.from(error).code]);
}

/** What the metrics count of handshakes, by outcome. */
async function handshakes(admin) {
    const text = await (await fetch(`http://${admin}/metrics`)).text();
    const of = (outcome) => Number(new RegExp(`^leat_tls_handshakes_total\\{outcome="${outcome}"\\} (\\d+)`, "m").exec(text)?.[1]);
    return { ok: of("ok"), failed: of("failed") };
}

/** A port that was free a moment ago. */
async function freePort() {
    const { createServer } = await import("node:net");
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => { server.once("listening", resolve); });
    const { port } = server.address();
    await new Promise((resolve) => { server.close(resolve); });
    return port;
}

describe("TLS", () => {
    for (const [name, make] of Object.entries(TRANSPORTS)) {
        test(`${name}: answered without a certificate of the client's`, async (t) => {
            const { baseUrl } = await mock(t);
            assert.equal(await say(make, baseUrl, undefined), "re: hi");
        });
    }

    test("a client that does not trust the server calls nothing", async (t) => {
        const { baseUrl } = await mock(t);
        const notes = createClient(Notes, createGrpcTransport({ baseUrl, nodeOptions: { ca: pem("elsewhere.pem") }, defaultTimeoutMs: REFUSED_MS_MAX }));
        await assert.rejects(notes.say({ text: "hi" }), (error) => /certificate|self.signed/i.test(String(error.message)));
    });

    test("HTTP without TLS is told so", async (t) => {
        const { address } = await mock(t);
        const [host, port] = address.split(":");
        const reply = await new Promise((resolve, reject) => {
            plainRequest({ host, port, method: "POST", path: "/clients.v1.Notes/Say", headers: { "content-type": "application/json" } }, (response) => {
                let text = "";
                response.setEncoding("utf8").on("data", (piece) => { text += piece; }).on("end", () => resolve([response.statusCode, text]));
            }).on("error", reject).end("{}");
        });
        assert.equal(reply[0], 400);
        assert.match(reply[1], /tls\.plain_text/);
    });
});

describe("certificates of clients", () => {
    for (const [name, make] of Object.entries(TRANSPORTS)) {
        test(`${name}: with one, without one, and with another authority's`, async (t) => {
            const admin = `127.0.0.1:${await freePort()}`;
            const { baseUrl } = await mock(t, "--client-ca", file("ca.pem"), "--admin", admin);
            assert.equal(await say(make, baseUrl, "client"), "re: hi");
            const { ok } = await handshakes(admin);
            for (const shown of [undefined, "stranger"]) {
                // There is no reply that could have a status: the handshake fails, and what that is called is the client's.
                assert.match(await say(make, baseUrl, shown), /^(Unavailable|Unknown|Internal|Aborted)$/, `shows ${shown}`);
            }
            const { ok: after, failed } = await handshakes(admin);
            assert.ok(ok >= 1 && after === ok && failed >= 2, `${ok} handshakes, ${after} behind the refused ones, ${failed} failed`);
            assert.equal(await say(make, baseUrl, "client"), "re: hi", "it still answers");
        });
    }

    test("grpc-js: UNAVAILABLE without one", async (t) => {
        const { address } = await mock(t, "--client-ca", file("ca.pem"));
        const { credentials, loadPackageDefinition, status } = await import("@grpc/grpc-js");
        const { loadSync } = await import("@grpc/proto-loader");
        const { clients } = loadPackageDefinition(loadSync(join(here, "notes.proto"), { longs: Number, defaults: true }));
        const ask = (...shown) => new Promise((resolve) => {
            const notes = new clients.v1.Notes(address, credentials.createSsl(pem("ca.pem"), ...shown));
            notes.say({ text: "hi" }, { deadline: Date.now() + REFUSED_MS_MAX }, (error, reply) => { notes.close(); resolve(error?.code ?? reply.text); });
        });
        assert.equal(await ask(pem("client.key"), pem("client.pem")), "re: hi");
        assert.equal(await ask(), status.UNAVAILABLE);
        assert.equal(await ask(pem("stranger.key"), pem("stranger.pem")), status.UNAVAILABLE);
    });

    test("grpcurl: with one, and without", needs("grpcurl"), async (t) => {
        const { address } = await mock(t, "--client-ca", file("ca.pem"));
        const ask = (...shown) => run("grpcurl", ["-cacert", file("ca.pem"), ...shown, "-max-time", "5", "-d", '{"text":"hi"}', address, "clients.v1.Notes/Say"]);
        assert.match((await ask("-cert", file("client.pem"), "-key", file("client.key"))).stdout, /"text": "re: hi"/);
        const refused = await ask();
        assert.notEqual(refused.code, 0);
        assert.equal(refused.stdout, "");
    });

    test("curl: over HTTP/1.1 and HTTP/2, with one, and without", needs("curl"), async (t) => {
        const { baseUrl } = await mock(t, "--client-ca", file("ca.pem"));
        for (const [flag, version] of [["--http1.1", "1.1"], ["--http2", "2"]]) {
            const ask = (...shown) => run("curl", ["-sS", flag, "--cacert", file("ca.pem"), ...shown, "-w", " %{http_version} %{http_code}", "-H", "content-type: application/json", "-d", '{"text":"hi"}', `${baseUrl}/clients.v1.Notes/Say`]);
            const { stdout, stderr } = await ask("--cert", file("client.pem"), "--key", file("client.key"));
            assert.equal(stdout, `{"text":"re: hi"} ${version} 200`, stderr);
            const refused = await ask();
            assert.notEqual(refused.code, 0);
            assert.match(refused.stderr, /certificate required|alert/i);
        }
    });
});
