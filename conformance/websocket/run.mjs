// WebSocket through the gateway with the npm package `ws` on both ends: the tunnel must carry every frame unharmed.
// Run by `node --test`.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { after, test } from "node:test";
import { start } from "../gateway.mjs";

const WAIT_MS_MAX = 10_000;

const ws = await import("ws").catch(() => undefined);
if (ws === undefined) {
    console.log("SKIP websocket: the npm package ws is not installed; run tools/install.sh test");
    process.exit(0);
}
const { WebSocket } = ws;
const { listen, MESSAGE_BYTES_MAX } = await import("./echo.mjs");
const upstream = await listen();
const config = readFileSync(new URL("leat.yaml", import.meta.url), "utf8").replaceAll("UPSTREAM_PORT", String(upstream.port));
const gateway = await start(config);
after(async () => {
    await upstream.close();
    await gateway.stop();
});


const within = () => ({ signal: AbortSignal.timeout(WAIT_MS_MAX) });
const address = (path) => `ws://127.0.0.1:${gateway.ports[0]}${path}`;

async function open(path = "/", { protocols = [], ...options } = {}) {
    const socket = new WebSocket(address(path), protocols, { maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false, ...options });
    await once(socket, "open", within());
    return socket;
}

async function closed(socket) {
    const [code, reason] = await once(socket, "close", within());
    return [code, reason.toString()];
}

async function echoed(socket, data, send = () => socket.send(data)) {
    const reply = once(socket, "message", within());
    send();
    const [got, binary] = await reply;
    assert.equal(binary, typeof data !== "string");
    assert.ok(Buffer.from(data).equals(got), `${got.length} bytes came back, ${Buffer.byteLength(data)} were sent, and they differ`);
}

test("text of any script comes back", async () => {
    const socket = await open();
    for (const text of ["", "plain", "žluťoučký kůň", "水車", "🦦".repeat(1000)]) await echoed(socket, text);
    socket.close();
    await closed(socket);
});

for (const bytes of [0, 1, 125, 126, 127, 65_535, 65_536, 1024 * 1024, 16 * 1024 * 1024]) {
    test(`a binary message of ${bytes} bytes comes back`, async () => {
        const socket = await open();
        await echoed(socket, randomBytes(bytes));
        socket.terminate();
    });
}

test("a message in fragments comes back whole, a ping between them is answered", async () => {
    const socket = await open();
    await echoed(socket, "one two three", () => {
        socket.send("one ", { fin: false });
        socket.ping("between");
        socket.send("two ", { fin: false });
        socket.send("three", { fin: true });
    });
    socket.terminate();
});

test("pings and pongs keep their payload in both directions", async () => {
    const accepted = once(upstream.server, "connection", within());
    const client = await open("/ping");
    const [server] = await accepted;
    for (const [from, name] of [[client, "from the client"], [server, "from the server"]]) {
        const pong = once(from, "pong", within());
        from.ping(name);
        assert.equal((await pong)[0].toString(), name);
    }
    client.terminate();
});

for (const [code, reason] of [[1000, ""], [1001, "going away"], [3000, "registered"], [4999, "ž".repeat(61)]]) {
    test(`the server's close ${code} reaches the client`, async () => {
        const socket = await open(`/close?code=${code}&reason=${encodeURIComponent(reason)}`);
        assert.deepEqual(await closed(socket), [code, reason]);
    });
    test(`the client's close ${code} reaches the server and comes back`, async () => {
        const accepted = once(upstream.server, "connection", within());
        const client = await open();
        const [server] = await accepted;
        const both = Promise.all([closed(server), closed(client)]);
        client.close(code, reason);
        const [atServer, atClient] = await both;
        assert.deepEqual(atServer, [code, reason]);
        assert.equal(atClient[0], code);
    });
}

test("compression is negotiated end to end", async () => {
    const socket = await open("/", { perMessageDeflate: { threshold: 0 } });
    assert.match(socket.extensions, /permessage-deflate/);
    await echoed(socket, "leat ".repeat(100_000));
    await echoed(socket, randomBytes(300_000));
    socket.terminate();
});

test("a subprotocol is negotiated end to end", async () => {
    const socket = await open("/", { protocols: ["other", "leat.v1"] });
    assert.equal(socket.protocol, "leat.v1");
    socket.terminate();
});

test("bytes that the server sends right behind the 101 are not lost", async () => {
    const socket = new WebSocket(address("/first"));
    const [data] = await once(socket, "message", within());
    assert.equal(data.toString(), "the server speaks first");
    socket.terminate();
});

test("bytes that the client sends right behind its request are not lost", async () => {
    const socket = connect(gateway.ports[0], "127.0.0.1");
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
    const head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    socket.write(Buffer.concat([Buffer.from(head), frame]));
    let got = "";
    for await (const chunk of socket.setEncoding("latin1")) {
        got += chunk;
        if (got.includes("\r\n\r\n\x81\x02hi")) break;
    }
    assert.match(got, /^HTTP\/1\.1 101 /);
    assert.match(got, /s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
    assert.ok(got.endsWith("\r\n\r\n\x81\x02hi"));
});

test("a refusal of the upstream is passed on", async () => {
    const socket = new WebSocket(address("/refuse"));
    const [, response] = await once(socket, "unexpected-response", within());
    assert.equal(response.statusCode, 401);
    assert.equal(response.headers["www-authenticate"], "Basic");
    response.resume();
    await once(response, "end", within());
});

test("an upstream that dies ends the client's connection at once", async () => {
    const socket = await open("/die");
    socket.on("error", () => {});
    const gone = closed(socket);
    socket.send("die");
    assert.equal((await gone)[0], 1006);
});

test("a client that dies ends the upstream's connection at once", async () => {
    const accepted = once(upstream.server, "connection", within());
    const client = await open();
    const [server] = await accepted;
    const gone = closed(server);
    client._socket.resetAndDestroy();
    assert.equal((await gone)[0], 1006);
});

test("200 tunnels at once each get their own bytes", async () => {
    await Promise.all(
        Array.from({ length: 200 }, async (_, i) => {
            const socket = await open();
            for (let round = 0; round < 5; round += 1) await echoed(socket, `tunnel ${i}, round ${round}`);
            socket.close();
            await closed(socket);
        }),
    );
});

test("the gateway is still there", () => assert.ok(gateway.alive(), gateway.log.join("\n")));
