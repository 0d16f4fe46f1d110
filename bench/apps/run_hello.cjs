// The smallest Express app, for bench/run_starts.mjs: `PROGRAM run_hello.cjs`, with PORT set.
const express = require('express');

const app = express();
app.get('/', (request, response) => { response.json({ hello: 'world' }); });
app.listen(Number(process.env.PORT), '127.0.0.1');
