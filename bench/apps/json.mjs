// The smallest useful server: a JSON object per request.

import { http, listening, options } from './engine.mjs';

http.createServer(options, (request, response) => {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ hello: 'world' }));
}).listen(listening);
