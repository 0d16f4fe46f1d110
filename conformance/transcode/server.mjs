// A server for the Connect conformance suite: the suite's own gRPC server, behind a `transcode` route of the gateway. It reads what
// the suite wants, says on its standard output where the gateway listens (both behind four bytes of length), and ends both
// when its standard input ends.
// node server.mjs PROTOS
import { spawn } from "node:child_process";
import { start } from "../gateway.mjs";

const [protos] = process.argv.slice(2);
/** What the suite's servers are to take at most, in bytes. */
const MESSAGE_BYTES_MAX = 200 * 1024;

function framed(message) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(message.length);
    return Buffer.concat([length, message]);
}

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
        for (let factor = 1; at < response.length; factor *= 128) {
            const byte = response[at++];
            value += (byte & 127) * factor;
            if (byte < 128) break;
        }
        return value;
    };
    while (at < response.length) {
        const tag = number();
        const value = number();
        if (tag === 0x10) return value;
        if ((tag & 7) === 2) at += value;
    }
    throw new Error("the gRPC server did not say its port");
}

await message(process.stdin);
const upstream = spawn("grpcserver", [], { stdio: ["pipe", "pipe", "inherit"] });
upstream.once("error", (error) => { throw error; });
// protocol: gRPC (2), http_version: 2 (2), message_receive_limit.
upstream.stdin.write(framed(Buffer.concat([Buffer.from([0x08, 2, 0x10, 2, 0x30]), varint(MESSAGE_BYTES_MAX)])));
const upstreamPort = portOf(await message(upstream.stdout));
const gateway = await start(`
listeners: ["127.0.0.1:0"]
workers: 1
access_log: off
forwarded: { style: off, request_id: off }
routes:
  - transcode: { upstream: "h2c://127.0.0.1:${upstreamPort}", proto: ${JSON.stringify(protos)}, message_bytes_max: ${MESSAGE_BYTES_MAX} }
    cors: { origins: "*", headers: "*", methods: [GET, POST] }
`);
const host = Buffer.from("127.0.0.1");
process.stdout.write(framed(Buffer.concat([Buffer.from([0x0a, host.length]), host, Buffer.from([0x10]), varint(gateway.ports[0])])));
let ended = false;
async function end() {
    if (ended) return;
    ended = true;
    upstream.kill();
    await gateway.stop();
    process.exit(0);
}
process.stdin.on("end", end).on("close", end).resume();
process.on("SIGTERM", end);
process.on("SIGINT", end);
