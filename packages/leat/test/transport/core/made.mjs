// Transports for tests: on a virtual clock with a scripted connection, and on loopback.
import { createServer } from "node:http";
import { once } from "node:events";
import { Transport } from "leat/transport";
import { ScriptedConnection, VirtualClock } from "leat/transport/kit";

/** A transport whose connection answers by a script; nothing waits, nothing leaves the process. */
export function scripted(script, options = {}) {
    const clock = new VirtualClock();
    const connection = new ScriptedConnection({ clock, script });
    const transport = new Transport({ nodes: "http://a.test:1", connection, clock, random: () => 0, ...options });
    return { clock, connection, transport, sent: connection.exchanges };
}

/** A server on loopback that ends with the test, and a transport to it. */
export async function served(t, listener, options = {}) {
    const server = createServer(listener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const origin = `http://127.0.0.1:${server.address().port}`;
    const transport = new Transport({ nodes: origin, ...options });
    t.after(async () => {
        await transport.close();
        server.closeAllConnections();
        server.close();
    });
    return { server, origin, transport };
}

/** All of a request's body. */
export async function bodyOf(stream) {
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks);
}

/** Answers with what it got. */
export async function echo(request, response) {
    const body = await bodyOf(request);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body: body.toString() }));
}
