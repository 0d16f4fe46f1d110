// The server behind every subject: it takes whatever a proxy passes on and says what it saw. It judges nothing, so that a
// refusal is always the subject's own.
import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { once } from "node:events";

const HEAD_END = Buffer.from("\r\n\r\n");
const TARGET_SHOWN_MAX = 200;

/** What the echo says of a request, for its `x-echo` field: JSON of ASCII characters. */
export function describe(method, target, body) {
    const seen = { method, target: target.slice(0, TARGET_SHOWN_MAX), bytes: body.length, sha1: createHash("sha1").update(body).digest("hex") };
    return JSON.stringify(seen).replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Listens on 127.0.0.1 (port 0: any); resolves to `{ port, close, recorded }`. With `record`, `recorded()` gives what came
 * since it was last called: `requests` (whole ones) and `strayBytes` (bytes that belong to none).
 */
export async function start(port = 0, { record = false } = {}) {
    const sockets = new Set();
    let requests = [];
    let strayBytes = 0;
    const server = createServer({ noDelay: true }, (socket) => {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket));
        socket.on("error", () => socket.destroy());
        let held = Buffer.alloc(0);
        socket.on("data", (data) => {
            held = Buffer.concat([held, data]);
            strayBytes += data.length;
            for (let request = take(held); request; request = take(held)) {
                held = held.subarray(request.end);
                const { method, target, body } = request;
                strayBytes -= request.end;
                if (record) requests.push(JSON.parse(describe(method, target, body)));
                socket.write(`HTTP/1.1 200 OK\r\nx-echo: ${describe(method, target, body)}\r\nContent-Length: 0\r\n\r\n`);
            }
        });
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return {
        port: server.address().port,
        recorded: () => {
            const result = { requests, strayBytes };
            requests = [];
            strayBytes = 0;
            return result;
        },
        close: () => {
            server.close();
            for (const socket of sockets) socket.destroy();
        },
    };
}

/** The first whole request in `held` and where it ends, or undefined. */
function take(held) {
    const head = held.indexOf(HEAD_END);
    if (head === -1) return undefined;
    const [line, ...fields] = held.toString("latin1", 0, head).split("\r\n");
    const [method, target = ""] = line.split(" ");
    const value = (name) => fields.find((field) => field.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1).trim();
    const start = head + HEAD_END.length;
    if (value("transfer-encoding") !== undefined) {
        const decoded = unchunk(held, start);
        return decoded && { method, target, ...decoded };
    }
    const end = start + Number(value("content-length") ?? 0);
    return held.length < end ? undefined : { method, target, body: held.subarray(start, end), end };
}

/** Decodes chunks as a proxy that is trusted writes them; trailers are dropped. */
function unchunk(held, start) {
    const body = [];
    for (let at = start; ; ) {
        const line = held.indexOf("\r\n", at);
        if (line === -1) return undefined;
        const size = Number.parseInt(held.toString("latin1", at, line), 16);
        if (size === 0) {
            // The empty line comes at once, or behind trailer fields.
            const end = held.toString("latin1", line, line + 4) === "\r\n\r\n" ? line : held.indexOf(HEAD_END, line);
            return end === -1 ? undefined : { body: Buffer.concat(body), end: end + HEAD_END.length };
        }
        at = line + 2 + size + 2;
        if (held.length < at) return undefined;
        body.push(held.subarray(line + 2, line + 2 + size));
    }
}
