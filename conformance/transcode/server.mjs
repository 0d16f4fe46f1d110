// A server for the Connect conformance suite: the suite's own gRPC server, behind a `transcode` route of the gateway. It says on
// its standard output where the gateway listens, as the suite wants it (4 bytes of length, then a ServerCompatResponse), and
// ends both when its standard input ends.
// node server.mjs LEAT GRPCSERVER PROTOS
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [leat, grpcserver, protos] = process.argv.slice(2);
/** What the suite's servers are to take at most, in bytes. */
const MESSAGE_BYTES_MAX = 200 * 1024;
const START_MS_MAX = 20_000;

const framed = (message) => Buffer.concat([Buffer.from([0, 0, message.length >> 8, message.length & 255]), message]);

function varint(value) {
    const bytes = [];
    for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
    return Buffer.from([...bytes, value]);
}

/** Reads a message with its length in front. */
function message(stream) {
    return new Promise((resolve, reject) => {
        let bytes = Buffer.alloc(0);
        stream.on("data", (piece) => {
            bytes = Buffer.concat([bytes, piece]);
            if (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) resolve(bytes.subarray(4, 4 + bytes.readUInt32BE(0)));
        });
        stream.on("end", () => reject(new Error("the stream ended before its message")));
    });
}

/** The field `port` (2) of a ServerCompatResponse. */
function portOf(response) {
    let at = 0;
    const number = () => {
        let value = 0;
        for (let factor = 1; ; factor *= 128) {
            const byte = response[at++];
            value += (byte & 127) * factor;
            if (byte < 128) return value;
        }
    };
    while (at < response.length) {
        const tag = number();
        const value = number();
        if (tag === 0x10) return value;
        if ((tag & 7) === 2) at += value;
    }
    throw new Error("the gRPC server did not say its port");
}

/** A port that nobody listens on. */
async function free() {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address();
    await new Promise((resolve) => server.close(resolve));
    return port;
}

await message(process.stdin);
const upstream = spawn(grpcserver, [], { stdio: ["pipe", "pipe", "inherit"] });
// protocol: gRPC (2), http_version: 2 (2), message_receive_limit.
upstream.stdin.write(framed(Buffer.concat([Buffer.from([0x08, 2, 0x10, 2, 0x30]), varint(MESSAGE_BYTES_MAX)])));
const upstreamPort = portOf(await message(upstream.stdout));
const folder = mkdtempSync(join(tmpdir(), "leat-conformance-"));
const port = await free();
writeFileSync(join(folder, "leat.yaml"), `
listeners: ["127.0.0.1:${port}"]
workers: 1
access_log: off
forwarded: { style: off, request_id: off }
routes:
  - transcode: { upstream: "h2c://127.0.0.1:${upstreamPort}", proto: ${JSON.stringify(protos)}, message_bytes_max: ${MESSAGE_BYTES_MAX} }
    cors: { origins: "*", headers: "*", methods: [GET, POST] }
`);
const gateway = spawn(leat, ["gateway", join(folder, "leat.yaml")], { stdio: ["ignore", "ignore", "pipe"] });
await new Promise((resolve, reject) => {
    let told = "";
    const timer = setTimeout(() => reject(new Error(`the gateway does not listen: ${told}`)), START_MS_MAX);
    gateway.stderr.on("data", (piece) => {
        told += piece;
        if (told.includes("listening")) {
            clearTimeout(timer);
            resolve();
        }
    });
    gateway.once("exit", () => reject(new Error(`the gateway ended: ${told}`)));
});
const host = Buffer.from("127.0.0.1");
process.stdout.write(framed(Buffer.concat([Buffer.from([0x0a, host.length]), host, Buffer.from([0x10]), varint(port)])));
const end = () => {
    upstream.kill();
    gateway.kill();
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
};
process.stdin.on("end", end).on("close", end).resume();
process.on("SIGTERM", end);
process.on("SIGINT", end);
