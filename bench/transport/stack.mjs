// What middleware cost a whole call whose connection costs nothing: the same transport with five middleware, and with the same work
// written around it by hand. The answer is there at once, so all that is left is the client's own.

import { require } from './packages.mjs';

const { middleware, slot } = require('leat/middleware');
const { Transport } = require('leat/transport');
const { auth } = require('./dist/transport/builtin/auth.js');
const { compression } = require('./dist/transport/builtin/compression.js');
const { product } = require('./dist/transport/builtin/product.js');
const { retry } = require('./dist/transport/builtin/retry.js');
const { encoded } = require('./dist/transport/builtin/coding/encode.js');
const { coderOf } = require('./dist/transport/builtin/coding/coding.js');
const elastic = require('@elastic/transport');

const NODE = 'http://a.test';
const TOKEN = 'Bearer b-token';
const ORIGIN = { 'x-origin': 'bench', 'x-client': 'bench/1.0' };
/** As the middleware `compression` asks for. */
const GZIP_BYTES_MIN = 1024;
const CODINGS = ['gzip'];

const OK_HEADERS = { 'content-type': 'application/octet-stream', 'content-length': '2' };
const OK_BODY = Buffer.from('ok');

/** Remembers what was sent last, and has the answer: at once, or as what has a network does, by a promise. */
function answering(later) {
  const seen = { request: undefined };
  const answer = () => ({ status: 200, headers: OK_HEADERS, body: OK_BODY });
  return {
    seen,
    connection: {
      name: 'answering',
      send: (request) => { seen.request = request; return later ? Promise.resolve(answer()) : answer(); },
      close: async () => {},
    },
  };
}

/** A body that compresses about as JSON does. */
export const bodyOf = (bytes) => Buffer.from('{"id":4711,"name":"mill race","state":"flowing"}\n'.repeat(Math.ceil(bytes / 49)).slice(0, bytes));

/** A span's worth: an object with times, handed on when it ends. */
const spans = { count: 0 };
const ended = (span) => { spans.count += span.status === 200 ? 1 : 0; };
const span = slot('bench_span').of();
const tracing = () => middleware({
  name: 'tracing', scope: 'call', writes: [span],
  onRequest: (context) => ({ set: { bench_span: { name: context.request.method, started: performance.now(), took: 0, status: 0 } } }),
  onComplete: (context) => {
    const own = context.get(span);
    own.took = performance.now() - own.started;
    own.status = context.response?.status ?? 0;
    ended(own);
  },
});

const requestOf = (bytes) => ({ method: 'POST', path: '/upload', body: bodyOf(bytes), as: 'bytes' });

const VARIANTS = {
  'leat, 5 middleware': ({ bytes }, way) => {
    const list = [tracing(), auth({ bearer: TOKEN.slice(7) }), product({ headers: ORIGIN }), compression({ accept: CODINGS, request: 'gzip', learn: false }), retry()];
    const transport = new Transport({ ...way, middleware: list });
    const request = requestOf(bytes);
    return { run: () => transport.request(request), close: () => transport.close() };
  },
  'leat, the same inline': ({ bytes }, way) => {
    const transport = new Transport(way);
    const given = requestOf(bytes);
    const coder = coderOf('gzip');
    const run = async () => {
      const own = { name: given.method, started: performance.now(), took: 0, status: 0 };
      try {
        const isLarge = given.body.byteLength >= GZIP_BYTES_MIN;
        const body = isLarge ? await encoded(given.body, given.body.byteLength, coder) : given.body;
        const headers = isLarge
          ? { authorization: TOKEN, ...ORIGIN, 'accept-encoding': 'gzip', 'content-encoding': 'gzip' }
          : { authorization: TOKEN, ...ORIGIN, 'accept-encoding': 'gzip' };
        for (let attempt = 0; ; attempt += 1) {
          const response = await transport.request({ method: given.method, path: given.path, as: given.as, headers, body });
          if (response.status < 500 || attempt === 3) {
            own.status = response.status;
            return response;
          }
        }
      } finally {
        own.took = performance.now() - own.started;
        ended(own);
      }
    };
    return { run, close: () => transport.close() };
  },
  'leat, none': ({ bytes }, way) => {
    const transport = new Transport(way);
    const request = requestOf(bytes);
    return { run: () => transport.request(request), close: () => transport.close() };
  },
  '@elastic/transport': ({ bytes }, _way, seen) => {
    class Answering extends elastic.BaseConnection {
      async request(params) {
        seen.request = params;
        return { statusCode: 200, headers: OK_HEADERS, body: OK_BODY };
      }
    }
    const pool = new elastic.WeightedConnectionPool({ Connection: Answering });
    pool.addConnection(NODE);
    const transport = new elastic.Transport({ connectionPool: pool, compression: bytes >= GZIP_BYTES_MIN, headers: { authorization: TOKEN, ...ORIGIN } });
    const params = { method: 'POST', path: '/upload', body: bodyOf(bytes), meta: { name: 'bench' } };
    const options = { meta: true };
    return { run: () => transport.request(params, options) };
  },
};

/** One call of variant `name`, of `settings.bytes`; with `settings.later` the connection answers by a promise. */
export function make(name, settings) {
  const { seen, connection } = answering(settings.later === true);
  return { run: VARIANTS[name](settings, { nodes: NODE, connection }, seen).run, seen };
}

/** The same on `way`, the nodes and the connection of a transport, with what closes it; Leat's variants only. */
export const over = (name, settings, way) => VARIANTS[name](settings, way);

export const names = Object.keys(VARIANTS);
