// A POST of JSON that is answered with JSON, for bench/count_run.mjs: `PROGRAM run_post.cjs`, with PORT set.
const express = require('express');

const app = express();
app.use(express.json());
app.post('/', (request, response) => { response.json({ id: 1, ...request.body }); });
app.listen(Number(process.env.PORT), '127.0.0.1');
