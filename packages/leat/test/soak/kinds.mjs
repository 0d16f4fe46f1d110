// What the clients of the soak do: each kind opens its own connections, resolves to the number of requests that it sent,
// and throws if anything but the expected came back.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { Connection } from "../load/connection.mjs";

const KEPT = 30;
const DEPTH = 16;
const LARGE_BYTES = 300_000;
const ENDED = /^(FIN|ECONNRESET|EPIPE)$/;
const FIELDS = "user-agent: soak\r\naccept: */*\r\naccept-encoding: gzip, deflate\r\ncookie: session=0123456789abcdef\r\n";
const GET = (path, fields = "") => `GET ${path} HTTP/1.1\r\nhost: test\r\n${FIELDS}${fields}\r\n`;
const POST = (path, length) => `POST ${path} HTTP/1.1\r\nhost: test\r\n${FIELDS}content-length: ${length}\r\n\r\n`;

/** Runs `act` on a fresh connection, which is gone afterwards. */
async function connected(port, act) {
    const connection = await Connection.open(port);
    try {
        return await act(connection);
    } finally {
        connection.destroy();
    }
}

/** Sends bytes whose reply nobody awaits. */
function forget(connection, bytes) {
    connection.send(bytes).catch(() => {});
}

async function ended(connection) {
    assert.match(await connection.closed, ENDED);
}

const MALFORMED = [
    "nonsense\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: test\r\nbad header\r\n\r\n",
    "GET / HTTP/9.9\r\nhost: test\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: x\r\n\r\n",
    "POST /upload HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "GET / HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
];

const CUT = [GET("/hello").slice(0, 30), `${POST("/upload", 100_000)}part`, `${POST("/slow-upload", 50)}`, "POST /upload HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab"];

/** Each with its weight: how often of all it is chosen. `random(n)` is a whole number below n. */
export const kinds = {
    keptAlive: [8, (port, random) => connected(port, async (connection) => {
        const paths = ["/hello", "/json", "/later"];
        for (let i = 0; i < KEPT; i += 1) {
            const path = paths[(i + random(paths.length)) % paths.length];
            const { status, body } = await connection.get(path, FIELDS);
            assert.equal(status, 200);
            assert.equal(body, { "/hello": "hello", "/later": "later", "/json": '{"url":"/json","agent":"soak"}' }[path]);
        }
        return KEPT;
    })],

    pipelined: [6, (port) => connected(port, async (connection) => {
        const replies = await connection.send(GET("/hello").repeat(DEPTH / 2) + GET("/later").repeat(DEPTH / 2), { replies: DEPTH });
        assert.deepEqual(replies.map(({ body }) => body), [...Array(DEPTH / 2).fill("hello"), ...Array(DEPTH / 2).fill("later")]);
        return DEPTH;
    })],

    short: [4, (port) => connected(port, async (connection) => {
        assert.equal((await connection.get("/hello", "connection: close\r\n")).body, "hello");
        await ended(connection);
        return 1;
    })],

    upload: [2, (port, random) => connected(port, async (connection) => {
        const bytes = 1 + random(200_000);
        connection.write(POST("/upload", bytes));
        assert.equal((await connection.send(Buffer.alloc(bytes, "u"))).body, String(bytes));
        const chunked = connection.send("POST /slow-upload HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n");
        for (let i = 0; i < 3; i += 1) connection.write(`3e8\r\n${"c".repeat(1000)}\r\n`);
        connection.write("0\r\n\r\n");
        assert.equal((await chunked).body, "3000");
        return 2;
    })],

    slowWriter: [1, (port) => connected(port, async (connection) => {
        const reply = connection.send("POST /upl");
        for (const part of ["oad HTTP/1.1\r\nho", "st: test\r\ncontent-le", "ngth: 6\r\n\r\n", "ab", "cd", "ef"]) {
            await pause(1);
            connection.write(part);
        }
        assert.equal((await reply).body, "6");
        return 1;
    })],

    slowReader: [1, (port) => connected(port, async (connection) => {
        const reply = connection.get("/large");
        for (let i = 0; i < 5; i += 1) {
            connection.socket.pause();
            await pause(2);
            connection.socket.resume();
            await turn();
        }
        assert.equal((await reply).body.length, LARGE_BYTES);
        return 1;
    })],

    parts: [1, (port) => connected(port, async (connection) => {
        const { body, headers } = await connection.get("/parts");
        assert.equal(headers["transfer-encoding"], "chunked");
        assert.equal(body.length, LARGE_BYTES);
        return 1;
    })],

    ignoredBody: [1, (port) => connected(port, async (connection) => {
        connection.write(POST("/ignore", 2000));
        assert.equal((await connection.send("i".repeat(2000))).body, "ignored");
        return 1;
    })],

    expectContinue: [1, (port) => connected(port, async (connection) => {
        const reply = connection.send("POST /upload HTTP/1.1\r\nhost: test\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n");
        await once(connection.socket, "data");
        connection.write("body");
        assert.equal((await reply).body, "4");
        return 1;
    })],

    abortedRequest: [2, (port, random) => connected(port, async (connection) => {
        connection.write(CUT[random(CUT.length)]);
        await turn();
        await (random(2) === 0 ? connection.reset() : connection.destroy());
        return 1;
    })],

    abortedReply: [2, (port, random) => connected(port, async (connection) => {
        forget(connection, GET(["/large", "/parts"][random(2)]));
        await once(connection.socket, "data");
        await (random(2) === 0 ? connection.reset() : connection.destroy());
        return 1;
    })],

    neverAnswered: [2, (port, random) => connected(port, async (connection) => {
        forget(connection, GET("/never"));
        await turn();
        // Whole requests that wait behind it are lost with it.
        if (random(2) === 0) connection.write(GET("/hello"));
        await pause(random(5));
        return 1;
    })],

    destroyed: [1, (port) => connected(port, async (connection) => {
        forget(connection, GET("/destroy"));
        await ended(connection);
        return 1;
    })],

    malformed: [2, (port, random) => connected(port, async (connection) => {
        let text = "";
        connection.socket.on("data", (chunk) => (text += chunk.toString("latin1")));
        connection.write(MALFORMED[random(MALFORMED.length)]);
        await ended(connection);
        assert.match(text, /^HTTP\/1\.1 (400|505) /);
        return 1;
    })],

    webSocket: [2, (port, random) => connected(port, async (connection) => {
        const key = Buffer.alloc(16, random(256)).toString("base64");
        const upgrade = `GET /socket HTTP/1.1\r\nhost: test\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`;
        const { status, headers } = await connection.send(upgrade);
        assert.equal(status, 101);
        assert.equal(headers["sec-websocket-accept"], createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64"));
        // The connection reads no further than replies; frames are the socket's.
        connection.socket.removeAllListeners("data");
        const frames = random(4);
        for (let i = 0; i < frames; i += 1) {
            const frame = Buffer.from([0x82, 4, 1, 2, 3, i]);
            const [echo] = await Promise.all([once(connection.socket, "data"), connection.write(frame)]);
            assert.deepEqual(echo[0], frame);
        }
        if (random(2) === 0) await connection.reset();
        else assert.equal(await connection.end(), "FIN");
        return 1;
    })],
};

/** A request whose handler throws: the process is told, the client gets nothing. */
export const throwing = (port) => connected(port, async (connection) => {
    forget(connection, GET("/throw"));
    await pause(5);
    return 1;
});

/** Requests on a thread that ends meanwhile: an answer, a refusal or the end of the connection, and never nothing. */
export async function doomed(port, terminate) {
    const connections = await Promise.all(Array.from({ length: 10 }, () => Connection.open(port)));
    const replies = connections.map((connection, i) => connection.get(["/hello", "/never", "/large", "/parts", "/later"][i % 5]).then(() => {}, (error) => assert.match(error.code, ENDED)));
    await replies[0];
    await terminate();
    await Promise.all(replies);
    for (const connection of connections) connection.destroy();
    return connections.length;
}
