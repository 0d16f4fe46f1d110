// Who speaks Express's API, as data: the cases of apps/express_cases.mjs by each library. A role is given, beside what
// subjects.mjs says: node = the program of the Node.js that the scenario names.

import { fileURLToPath } from 'node:url';

export const CASES = ['hello', 'post', 'chain', 'routes', 'params', 'body', 'static'];

/** The file of the case `static`. */
export const STATIC_BYTES = 10_000;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const bun = at('node_modules/@oven/bun-linux-x64/bin/bun');

/** A subject that plays every case: `library` as npm calls it, on Node.js or on what `run` gives. */
const subject = (library, manifest, needs, run = ({ node }) => [node]) => ({
  version: (given) => [...run(given), '-p', `${JSON.stringify(`${library} `)} + require(${JSON.stringify(at(manifest))}).version`],
  needs,
  roles: Object.fromEntries(CASES.map((name) => [`express-${name}`, ({ port, ...given }) => ({
    files: { 'file.css': 'x'.repeat(STATIC_BYTES) },
    command: [...run(given), at('apps/express_cases.mjs'), name, library, String(port)],
    env: { NODE_ENV: 'production' },
  })])),
});

const leat = '../packages/leat/package.json';

export const expressSubjects = {
  'leat/express': subject('leat/express', leat, { addon: true }),
  'leat/express4': subject('leat/express4', leat, { addon: true }),
  'Express 5': subject('express', 'node_modules/express/package.json', { package: 'express' }),
  'Express 4': subject('express4', 'node_modules/express4/package.json', { package: 'express4' }),
  'Express 4 on Bun': subject('express4', 'node_modules/express4/package.json', { package: '@oven/bun-linux-x64' }, () => [bun]),
  // Its own server is native only where uWebSockets.js has a binary for the Node.js: on 20.
  'ultimate-express': subject('ultimate-express', 'node_modules/ultimate-express/package.json', { package: 'ultimate-express' }),
};
