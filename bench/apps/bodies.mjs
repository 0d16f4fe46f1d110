// Bodies of 100 kB: a GET is answered with one, a POST is read whole and answered with its length.

import { http, listening, options } from './engine.mjs';

const body = Buffer.alloc(100_000, 'x');

http.createServer(options, (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length }).end(body);
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(JSON.stringify({ bytes: Buffer.concat(chunks).length }));
  });
}).listen(listening);
