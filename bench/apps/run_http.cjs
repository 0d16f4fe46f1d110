// The smallest node:http server, for bench/count_run.mjs: `PROGRAM run_http.cjs`, with PORT set.
const http = require('node:http');

http.createServer((request, response) => { response.end('x'); }).listen(Number(process.env.PORT), '127.0.0.1');
