// A server on loopback that does what a test's script says, and remembers what it was asked.
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts one; `script(exchange)` answers, or does not. An exchange has `number` (from 0), `method`, `path`, `headers`, `body` (text)
 * and `reply`, Node's response. It ends with the test `t`, with all that is still open on it.
 */
export async function origin(t, script) {
    const seen = [];
    const server = createServer(async (request, reply) => {
        const pieces = [];
        request.on("error", () => {});
        reply.on("error", () => {});
        try {
            for await (const piece of request) pieces.push(piece);
        } catch {
            return; // The client is gone; there is nobody to answer.
        }
        const exchange = { number: seen.length, method: request.method, path: request.url, headers: request.headers, body: Buffer.concat(pieces).toString(), reply };
        seen.push(exchange);
        server.emit("seen", exchange);
        script(exchange);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
        server.closeAllConnections();
        server.close();
    });
    const url = `http://127.0.0.1:${server.address().port}`;
    /** Until so many requests have come. */
    const asked = async (count) => {
        while (seen.length < count) await once(server, "seen");
    };
    return { url, seen, asked };
}

/** Answers with JSON. */
export function json(reply, status, value, headers = {}) {
    reply.writeHead(status, { "content-type": "application/json", ...headers });
    reply.end(JSON.stringify(value));
}
