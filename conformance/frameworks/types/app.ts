// A TypeScript program against the declarations of leat/http; the suite `types` compiles it, strictly, and runs it.
import type { AddressInfo, Socket } from "node:net";
import type nodeHttp from "node:http";
import Fastify, { type FastifyServerFactory } from "fastify";
import http, { IncomingMessage, METHODS, STATUS_CODES, Server, ServerResponse, createServer, type RequestListener, type ServerOptions } from "leat/http";
import * as everything from "leat/http";
import { WebSocketServer } from "ws";

class Request extends IncomingMessage {
    get path(): string {
        return new URL(this.url ?? "/", "http://localhost").pathname;
    }
}

class Reply extends ServerResponse<Request> {
    json(value: unknown): void {
        this.setHeader("content-type", "application/json").end(JSON.stringify(value));
    }
}

const options: ServerOptions<typeof Request, typeof Reply> = { IncomingMessage: Request, ServerResponse: Reply, keepAliveTimeout: 1000, requestTimeout: 10_000, maxHeaderSize: 32_768 };

/** What was named, imported as a whole and by default is the same. */
const same = http.createServer === createServer && everything.Server === Server;

const server = createServer(options, (request, response) => {
    const { path, socket } = request;
    const fields: (string | undefined)[] = [request.headers.host, request.headersDistinct["x-list"]?.join("|"), request.rawHeaders[0]];
    if (path === "/classes") response.json({ request: request instanceof Request && request instanceof IncomingMessage, reply: response instanceof Reply, fields: fields.length, same, from: socket.remoteAddress });
    else if (path === "/status") response.writeHead(418, STATUS_CODES[418], { "x-methods": METHODS.length > 20 ? "many" : "few" }).end();
    else response.writeHead(404).end();
});

// What takes node:http's types takes leat/http's.
const plain: nodeHttp.Server = createServer();
plain.close();
const listener: RequestListener = (request: nodeHttp.IncomingMessage, response: nodeHttp.ServerResponse) => void response.end(request.url);
const serverFactory: FastifyServerFactory = (handler) => createServer((request, response) => handler(request, response));
const fastify = Fastify({ serverFactory });
fastify.get("/", async () => ({ hello: "world" }));

const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, (websocket) => websocket.close(1000, request.url));
});
server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n${String(error.code)}`);
});
server.headersTimeout = 5000;
server.maxHeadersCount = 100;

server.listen({ port: 0, host: "127.0.0.1" }, () => {
    const second: Server = new Server(listener).listen(0, "127.0.0.1", () => {
        const { port } = second.address() as AddressInfo;
        console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, server: Server === (process.getBuiltinModule("node:http").Server as unknown) ? "node:http" : "leat/http", second: port }));
    });
    process.once("SIGTERM", () => {
        second.close();
        server.close();
    });
});
