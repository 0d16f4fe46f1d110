// Rival: a proxy as one would write it for Node with undici, by its fastest interface (`dispatch`, no promises, raw
// headers passed on), with back pressure both ways. `/plain` is answered by itself.
// Usage: node proxy.mjs PORT UPSTREAM_PORT

import { createServer } from 'node:http';
import { Pool } from 'undici';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const origin = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 64, pipelining: 1, keepAliveTimeout: 600_000 });
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect']);

const server = createServer({ keepAliveTimeout: 600_000, requestTimeout: 0 }, (request, response) => {
  if (request.url === '/plain') {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 13 }).end('Hello, World!');
    return;
  }
  const body = request.headers['content-length'] || request.headers['transfer-encoding'] ? request : null;
  origin.dispatch({ method: request.method, path: request.url, headers: outgoing(request), body }, new Answer(response));
});
server.maxRequestsPerSocket = 0;
server.listen({ port, host: '127.0.0.1', backlog: 4096 });
process.on('SIGTERM', () => process.exit(0));

function outgoing(request) {
  const raw = request.rawHeaders;
  const headers = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (!HOP_BY_HOP.has(raw[i].toLowerCase())) headers.push(raw[i], raw[i + 1]);
  }
  headers.push('x-forwarded-for', request.socket.remoteAddress);
  return headers;
}

class Answer {
  constructor(response) {
    this.response = response;
  }

  onRequestStart(controller) {
    this.response.on('close', () => {
      if (!this.response.writableFinished) controller.abort(new Error('the client went away'));
    });
  }

  onResponseStart(controller, status, headers) {
    delete headers.connection;
    delete headers['keep-alive'];
    delete headers['transfer-encoding'];
    this.response.writeHead(status, headers);
  }

  onResponseData(controller, chunk) {
    if (!this.response.write(chunk)) {
      controller.pause();
      this.response.once('drain', () => controller.resume());
    }
  }

  onResponseEnd() {
    this.response.end();
  }

  onResponseError(controller, error) {
    if (this.response.headersSent) this.response.destroy(error);
    else this.response.writeHead(502, { 'content-length': 0 }).end();
  }
}
