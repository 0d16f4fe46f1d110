// Fastify as its documentation begins, with the serialiser that a schema makes; on Leat by `serverFactory`.

import Fastify from 'fastify';
import { http, listening, onLeat, options } from './engine.mjs';

const app = Fastify(onLeat ? { serverFactory: (handler) => http.createServer(options, handler) } : options);

const schema = { response: { 200: { type: 'object', properties: { hello: { type: 'string' } } } } };
app.get('/', { schema }, (request, reply) => reply.send({ hello: 'world' }));
await app.listen(listening);
