// Apps on a port of their own, and requests to them.
import { once } from "node:events";
import http from "node:http";
import { connect } from "node:net";

/** Listens with an app or a server, calls `use` with the port, and closes. */
export async function listening(app, use) {
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
        return await use(server.address().port);
    } finally {
        server.close();
        server.closeAllConnections();
        await once(server, "close");
    }
}

/** Status, fields and body of a reply. */
export async function ask(port, path, { method = "GET", headers = {}, body } = {}) {
    const req = http.request({ host: "127.0.0.1", port, path, method, headers, agent: false });
    req.end(body);
    const [res] = await once(req, "response");
    const chunks = [];
    for await (const chunk of res) chunks.push(chunk);
    return { status: res.statusCode, headers: res.headers, text: Buffer.concat(chunks).toString() };
}

/** The body of a reply. */
export async function textOf(port, path, options) {
    return (await ask(port, path, options)).text;
}

/** A connection, which its user ends. */
export async function connected(port) {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
}
