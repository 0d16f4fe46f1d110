// Express 5, its own code, with its defaults (query parser, ETag, X-Powered-By).

import express from 'express';
import { http, listening, options } from './engine.mjs';

const app = express();
app.get('/', (request, response) => { response.json({ hello: 'world' }); });
http.createServer(options, app).listen(listening);
