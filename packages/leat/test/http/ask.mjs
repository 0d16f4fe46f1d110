// Small clients for the tests: raw bytes in, everything that came back out.
import { once } from "node:events";
import http from "node:http";
import net from "node:net";

/** Sends `raw` to `server` and gives back all bytes up to the connection's end. */
export async function exchange(server, raw) {
    const socket = connect(server);
    socket.write(raw, "latin1");
    return await ended(socket);
}

/** A connection to `server` that speaks text, one char a byte. */
export function connect(server) {
    const address = server.address();
    const socket = typeof address === "string" ? net.connect(address) : net.connect(address.port, "127.0.0.1");
    return socket.setEncoding("latin1");
}

/** Everything that comes until the connection ends. */
export async function ended(socket) {
    let text = "";
    socket.on("data", (part) => (text += part));
    // A reset shows as what came before it.
    socket.on("error", () => {});
    await once(socket, "close");
    return text;
}

/** Everything that comes until `mark` is part of it. */
export function until(socket, mark) {
    return new Promise((resolve, reject) => {
        let text = "";
        const take = (part) => {
            text += part;
            if (!text.includes(mark)) return;
            socket.off("data", take);
            resolve(text);
        };
        socket.on("data", take);
        socket.once("close", () => reject(new Error(`closed before ${JSON.stringify(mark)}: ${JSON.stringify(text)}`)));
    });
}

/** Makes `server` listen on a free port for as long as the test runs. */
export async function listening(t, server, options = { port: 0, host: "127.0.0.1" }) {
    server.listen(options);
    await once(server, "listening");
    t.after(() => {
        server.closeAllConnections();
        if (server.listening) server.close();
    });
    return server;
}

/** `{ status, headers, body }` of one request by Node's own client. */
export function fetched(server, options = {}, body) {
    return new Promise((resolve, reject) => {
        const req = http.request({ port: server.address().port, host: "127.0.0.1", agent: false, ...options }, (res) => {
            let text = "";
            res.setEncoding("utf8");
            res.on("data", (part) => (text += part));
            res.on("end", () => resolve({ status: res.statusCode, headers: res.headers, body: text }));
        });
        req.on("error", reject);
        req.end(body);
    });
}
