// An app of Express, by whichever library speaks its API: `node express_cases.mjs CASE LIBRARY PORT`. Each case is one of
// the bench's scenarios, with the library's defaults; the static file lies in the working directory.

import { createRequire } from 'node:module';

const [name, library, port] = process.argv.slice(2);

// Leat from inside the package, which may name itself: the bench measures the working tree, not what npm has.
const require = createRequire(library.startsWith('leat/') ? new URL('../../packages/leat/package.json', import.meta.url) : import.meta.url);
const express = require(library);

const HANDLERS = 3;
const ROUTES = 1000;
const page = 'x'.repeat(100_000);

const cases = {
  hello(app) {
    app.get('/', (request, response) => { response.json({ hello: 'world' }); });
  },
  post(app) {
    app.use(express.json());
    app.post('/', (request, response) => { response.json({ id: 1, ...request.body }); });
  },
  chain(app) {
    for (let i = 0; i < HANDLERS; i += 1) {
      app.use((request, response, next) => {
        request.passed = (request.passed ?? 0) + 1;
        next();
      });
    }
    app.get('/', (request, response) => { response.json({ passed: request.passed }); });
  },
  routes(app) {
    for (let i = 0; i < ROUTES; i += 1) app.get(`/area${i % 10}/thing${i}`, (request, response) => { response.json({ thing: i }); });
  },
  params(app) {
    app.get('/users/:user/posts/:post', (request, response) => { response.json({ user: request.params.user, post: request.params.post, tag: request.query.tag }); });
  },
  body(app) {
    app.get('/', (request, response) => { response.send(page); });
  },
  static(app) {
    app.use(express.static(process.cwd()));
  },
};

const app = express();
cases[name](app);
// Connections that wait for their turn in a round are kept. ultimate-express' own server has no such property.
const server = app.listen(Number(port), '127.0.0.1', () => {});
if (server && 'keepAliveTimeout' in server) server.keepAliveTimeout = 600_000;

process.on('SIGTERM', () => process.exit(0));
