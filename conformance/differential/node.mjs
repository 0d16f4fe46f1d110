// Node's http server as it comes, answering what it saw.
import { createServer } from "node:http";
import { once } from "node:events";
import { describe } from "./echo.mjs";

/** Starts it; resolves to `{ name, version, port, stop }`. */
export async function start() {
    const server = createServer((request, response) => {
        const body = [];
        request.on("error", () => {});
        request.on("data", (data) => body.push(data));
        request.on("end", () => {
            response.setHeader("x-echo", describe(request.method, request.url, Buffer.concat(body)));
            response.setHeader("content-length", 0);
            response.end();
        });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
        name: "node",
        version: process.version.replace(/^v(\d+)\..*/, "$1"),
        port: server.address().port,
        stop: () => {
            server.closeAllConnections();
            server.close();
        },
    };
}
