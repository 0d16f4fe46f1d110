// Three middleware functions before a JSON reply, for bench/count_run.mjs: `PROGRAM run_chain.cjs`, with PORT set.
const express = require('express');

const app = express();
for (let i = 0; i < 3; i += 1) {
  app.use((request, response, next) => {
    request.passed = (request.passed ?? 0) + 1;
    next();
  });
}
app.get('/', (request, response) => { response.json({ passed: request.passed }); });
app.listen(Number(process.env.PORT), '127.0.0.1');
