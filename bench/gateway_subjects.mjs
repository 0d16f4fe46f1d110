// The gateway with its features, as data: one subject for each of them, and one with all. A role is given what subjects.mjs says.
// The key that tokens are signed with is made anew for each run.

import { createHmac, randomBytes } from 'node:crypto';

const SECRET = randomBytes(32).toString('hex');
const DAY_S = 86_400;

/** What a client of the scenarios shows of itself. */
export const credentials = () => ({ authorization: `Bearer ${token()}`, 'x-user': 'miller' });

const coded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function token() {
  const text = `${coded({ alg: 'HS256', typ: 'JWT' })}.${coded({ iss: 'bench', sub: 'miller', aud: 'orders', exp: Math.floor(Date.now() / 1000) + DAY_S })}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

// More than any load asks, so that all of it passes: a limit that refuses costs less.
const LIMIT = 'rate: 1000000/s, burst: 1000000';

const PLUGIN = `import { middleware } from 'leat/middleware';
export default middleware({
    name: 'tenant',
    scope: 'call',
    onRequest: ({ request }) => ({ headers: { 'x-tenant': request.headers['x-user'] } }),
});
`;

// `root`, `route` and `upstream` are keys of those places; `files` stand beside the configuration.
const features = {
  limit: { root: [`rate_limits: { per_client: { ${LIMIT} } }`], route: ['rate_limits: per_client'] },
  leased: {
    root: [({ redisPort }) => `redis: { shared: redis://127.0.0.1:${redisPort} }`, `rate_limits: { per_client: { ${LIMIT}, redis: shared, mode: leased } }`],
    route: ['rate_limits: per_client'],
  },
  exact: {
    root: [({ redisPort }) => `redis: { shared: redis://127.0.0.1:${redisPort} }`, `rate_limits: { per_client: { ${LIMIT}, redis: shared, mode: exact } }`],
    route: ['rate_limits: per_client'],
  },
  breaker: { upstream: ['breaker: {}'] },
  // The origin takes for a collector: it reads what it is sent and answers 200.
  observed: {
    root: ['access_log: { path: access.log, format: json, phases: true }', 'tracing: { sample: 1% }', ({ upstreamPort }) => `otlp: { url: "http://127.0.0.1:${upstreamPort}" }`],
  },
  jwt: {
    root: ['auth: { users: { jwt: { secret_file: secret, issuer: bench, audience: orders, headers: { x-sub: sub } } } }'],
    route: ['auth: users'],
    files: { secret: SECRET },
  },
  plugin: { root: ['plugins: { tenant: { file: tenant.mjs } }'], route: ['plugins: tenant'], files: { 'tenant.mjs': PLUGIN } },
  steady: { upstream: ['balance: peak_ewma', 'outliers: {}', 'retry: {}', 'health: {}'], route: ['access: { deny: 192.0.2.0/24 }', 'cors: https://shop.example'] },
};

const configured = (names, { workers = 1, scheme = 'http', answers = false } = {}) => ({ port, upstreamPort, redisPort, leat }) => {
  const chosen = names.map((name) => features[name]);
  const keys = (place) => chosen.flatMap((feature) => feature[place] ?? []).map((key) => (typeof key === 'function' ? key({ redisPort, upstreamPort }) : key));
  const root = keys('root');
  const log = root.some((key) => key.startsWith('access_log')) ? [] : ['access_log: "off"'];
  const lines = [
    `listeners: 127.0.0.1:${port}`, `workers: ${workers}`, ...log, ...root,
    'routes:', '  - match: { prefix: / }', ...keys('route').map((key) => `    ${key}`),
    ...(answers ? ['    respond: { body: "Hello, World!" }'] : [
      '    proxy: { upstream: origin }',
      'upstreams:', '  origin:', `    endpoints: ["${scheme}://127.0.0.1:${upstreamPort}"]`, ...keys('upstream').map((key) => `    ${key}`),
    ]),
  ];
  return {
    files: { 'leat.yaml': `${lines.join('\n')}\n`, ...Object.assign({}, ...chosen.map(({ files }) => files)) },
    command: [leat, 'gateway', 'leat.yaml'],
  };
};

/** Everything that a request may meet on its way, at once. */
const ALL = ['leased', 'breaker', 'observed', 'jwt', 'plugin', 'steady'];

const subject = (names, options, more) => ({
  version: ({ leat }) => [leat, 'version'],
  needs: { binary: 'leat', how: 'build it (`make build`) or name one with --leat PATH' },
  roles: { proxy: configured(names, options), answer: configured(names, { ...options, answers: true }) },
  ...more,
});

export const gatewaySubjects = {
  'leat + local limit': subject(['limit']),
  'leat + leased limit': subject(['leased']),
  'leat + exact limit': subject(['exact']),
  'leat + breaker': subject(['breaker']),
  'leat + observability': subject(['observed']),
  'leat + JWT': subject(['jwt']),
  'leat + plug-in': subject(['plugin']),
  'leat + all': subject(ALL),
  'leat + all but the plug-in': subject(ALL.filter((name) => name !== 'plugin')),
  'leat, HTTP/2 to the origin': subject([], { scheme: 'h2c' }),
  'leat, two workers': subject([], { workers: 2 }, { cores: 2 }),
};
