// The server under soak.mjs, in a process of its own with --expose-gc. It answers what the load asks, and on a message says
// what it holds: memory after collection, descriptors, handles, connections and the engine's own counts.
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { http, openInEngine } from "../subject.mjs";

const COLLECTIONS = 8;
const LARGE = Buffer.alloc(300_000, "large body ");
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const routes = {
    "/hello": (req, res) => res.end("hello"),
    "/json": (req, res) => {
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify({ url: req.url, agent: req.headers["user-agent"] }));
    },
    "/later": (req, res) => setImmediate(() => res.end("later")),
    "/large": (req, res) => res.end(LARGE),
    "/parts": (req, res) => {
        let left = 30;
        const more = () => {
            while (left > 0) {
                left -= 1;
                if (!res.write(LARGE.subarray(0, 10_000))) return res.once("drain", more);
            }
            res.end();
        };
        more();
    },
    "/upload": (req, res) => {
        let bytes = 0;
        req.on("data", (chunk) => (bytes += chunk.length));
        req.on("end", () => res.end(String(bytes)));
        req.on("error", () => {});
    },
    // Reads nothing for a while.
    "/slow-upload": async (req, res) => {
        await turn();
        await turn();
        routes["/upload"](req, res);
    },
    "/ignore": (req, res) => res.end("ignored"),
    "/never": () => {},
    "/throw": () => { throw new Error("soak"); },
    "/destroy": (req, res) => {
        res.write("part");
        res.destroy();
    },
};

const server = http.createServer((req, res) => {
    const route = routes[req.url] ?? ((unknown, reply) => reply.writeHead(404).end());
    route(req, res);
});
server.on("upgrade", (req, socket) => {
    const accept = createHash("sha1").update(req.headers["sec-websocket-key"] + ACCEPT_GUID).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.on("error", () => {});
    socket.on("data", (chunk) => socket.write(chunk));
    socket.on("end", () => socket.end());
});

async function measure() {
    for (let i = 0; i < COLLECTIONS; i += 1) {
        globalThis.gc();
        await turn();
    }
    const memory = process.memoryUsage();
    return {
        rss: memory.rss,
        heap: memory.heapUsed,
        buffers: memory.arrayBuffers + memory.external,
        descriptors: readdirSync("/proc/self/fd").length,
        handles: process._getActiveHandles().length,
        connections: await promisify(server.getConnections.bind(server))(),
        engine: openInEngine(),
    };
}

function lead() {
    // A thread's output goes through these, which exist once somebody asks for them.
    void [process.stdout, process.stderr];
    const uncaught = {};
    process.on("uncaughtException", ({ message }) => (uncaught[message] = (uncaught[message] ?? 0) + 1));
    const threads = new Map();
    const acts = {
        measure: async () => process.send({ is: "measured", ...await measure(), uncaught }),
        thread({ name }) {
            const thread = new Worker(new URL(import.meta.url));
            threads.set(name, thread);
            thread.once("message", (port) => process.send({ is: "thread", name, port }));
            thread.once("exit", (code) => {
                threads.delete(name);
                process.send({ is: "gone", name, code });
            });
        },
        terminate: ({ name }) => threads.get(name).terminate(),
        leave() {
            server.close();
            server.closeAllConnections();
            process.disconnect();
        },
    };
    process.on("message", (message) => acts[message.do](message));
    server.listen(0, "127.0.0.1", () => process.send({ is: "port", port: server.address().port }));
}

if (isMainThread) lead();
else server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
