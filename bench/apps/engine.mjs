// Which http module an app of this folder runs on: `node app.mjs node:http PORT` or `node app.mjs leat/http PORT`.

import { createRequire } from 'node:module';

const [name, port] = process.argv.slice(2);

// From inside the package, which may name itself: the bench measures the working tree, not what npm has.
const require = createRequire(new URL('../../packages/leat/package.json', import.meta.url));

export const http = require(name);
export const onLeat = name === 'leat/http';

/** Listens where the harness asks. */
export const listening = { port: Number(port), host: '127.0.0.1', backlog: 4096 };

// In both engines alike: connections that wait for their turn in a round are kept.
export const options = { keepAliveTimeout: 600_000 };

process.on('SIGTERM', () => process.exit(0));
