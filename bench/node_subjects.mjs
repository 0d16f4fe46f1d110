// node:http and leat/http on one Node.js, as data: the apps of apps/ on either engine. A role is given, beside what
// subjects.mjs says: node = the program of the Node.js that the scenario names.

import { fileURLToPath } from 'node:url';

const APPS = ['json', 'bodies', 'fastify', 'express'];
const app = (name) => fileURLToPath(new URL(`apps/${name}.mjs`, import.meta.url));
const fastify = fileURLToPath(new URL('node_modules/fastify/package.json', import.meta.url));
const manifest = fileURLToPath(new URL('../packages/leat/package.json', import.meta.url));

const roles = (engine) => Object.fromEntries(APPS.map((name) => [`node-${name}`, ({ port, node }) => ({
  files: {},
  command: [node, app(name), engine, String(port)],
  env: { NODE_ENV: 'production' },
})]));

const nodeHttp = { version: ({ node }) => [node, '--version'], needs: { package: 'fastify' }, roles: roles('node:http') };
const leatHttp = {
  version: ({ node }) => [node, '-p', `'leat ' + require(${JSON.stringify(manifest)}).version`],
  needs: { package: 'fastify', addon: true },
  roles: roles('leat/http'),
};

/** The smallest app beside those of Express. */
const hello = (name) => ({ 'express-hello': ({ port, node }) => ({
  files: {}, command: [node, app(name), 'node:http', String(port)], env: { NODE_ENV: 'production' },
}) });

export const nodeSubjects = {
  'leat/http': leatHttp,
  'node:http': { ...nodeHttp, roles: { ...nodeHttp.roles, ...hello('json') } },
  Fastify: { ...nodeHttp, version: ({ node }) => [node, '-p', `'fastify ' + require(${JSON.stringify(fastify)}).version`], roles: hello('fastify') },
  // The same with the load's core allowed as well.
  'leat/http on two cores': { ...leatHttp, cores: 2 },
  'node:http on two cores': { ...nodeHttp, cores: 2 },
};
