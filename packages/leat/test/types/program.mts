// A program with ES modules that uses the declarations as a user's does. It is compiled by `npm run lint`, and never run.
import http, { createServer, Server } from "leat/http";
import "leat/register";
import { createServer as nodeServer, type Server as NodeServer } from "node:http";

const server: NodeServer = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).end(request.url);
});
const withOptions: NodeServer = http.createServer({ keepAliveTimeout: 1000 }, (_request, response) => void response.end());
const same: typeof nodeServer = http.createServer;

export { same, server, withOptions };
export const made: NodeServer = new Server();
