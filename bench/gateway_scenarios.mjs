// What the gateway's features cost, and how it behaves by connections, workers and protocols, as data; scenarios.mjs says what
// the keys mean.

import { credentials } from './gateway_subjects.mjs';

const measures = ['rps', 'p50_us', 'p95_us', 'p99_us', 'p999_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const small = { bytes: 128 };
/** Differences of a few percent. */
const turns = { turns: true, glance: 'round' };
const proxied = { role: 'proxy', upstream: true, expect: small, measures, compare: ['cpu_us', 'rps', 'p95_us', 'p99_us'] };
const lean = { measure: 'rss_mb', atMost: 30 };

/** The same requests for all: the bare gateway gets the credentials as well, and has to pass them on. */
const asked = { kind: 'wrk', connections: 64, path: '/small', headers: credentials };

/** One feature beside the bare gateway; `added_us` is what it may take of the processor for a request. */
const feature = (name, title, added_us, more = {}) => ({
  ...proxied,
  ...turns,
  name: `gateway-${name}`,
  title,
  subjects: [`leat + ${more.called ?? title}`, 'leat'],
  load: asked,
  targets: [{ measure: 'cpu_us', against: 'leat', atMostMore: added_us }, lean],
  ...more,
});

/** The same feature where the engine answers by itself, 32 requests at a time: without the network's share, which hides less than a microsecond. */
const alone = (name, title, added_us, more = {}) => ({
  ...turns,
  name: `gateway-${name}-alone`,
  title: `${title}: its cost without the network's`,
  about: 'A fixed reply over HTTP/2 to 32 requests at a time on each connection, so that what the kernel takes is shared by them; the processor time of the whole process, its other threads included.',
  role: 'answer',
  subjects: [`leat + ${more.called ?? title}`, 'leat'],
  load: { kind: 'h2load', connections: 8, streams: 32, path: '/plain', headers: credentials },
  expect: { bytes: 13, protocol: 'h2' },
  measures: ['rps', 'cpu_us', 'rss_mb', 'busy', 'foreign'],
  compare: ['cpu_us'],
  targets: [{ measure: 'cpu_us', against: 'leat', atMostMore: added_us }],
  ...more,
});

export const gatewayScenarios = [
  {
    ...proxied,
    ...turns,
    name: 'gateway-all',
    title: 'all features at once beside bare nginx',
    about: 'A leased limit on Redis, JWT, a plug-in that reads and sets a header, breaker, outliers, retries, health checks, peak EWMA, CORS, networks, the log with phases, metrics, and traces at 1 %.',
    redis: true,
    subjects: ['leat + all', 'leat + all but the plug-in', 'leat', 'nginx'],
    load: asked,
    targets: [{ measure: 'cpu_us', against: 'nginx', atMost: 1 }, lean],
  },
  feature('limit', 'local limit', 0.12),
  feature('breaker', 'breaker', 0.06),
  feature('observed', 'observability', 1, { about: 'A line in the log with phases for each request, metrics, and traces, 1 % of them recorded and sent to a collector.' }),
  feature('jwt', 'JWT', 0.3, { title: 'JWT, with a token that is remembered', called: 'JWT' }),
  feature('plugin', 'plug-in', 2, { title: 'a synchronous plug-in that reads a header and sets one', called: 'plug-in' }),
  feature('leased', 'leased limit', 0.2, { title: 'a limit leased from Redis', called: 'leased limit', redis: true }),
  feature('exact', 'exact limit', 4, { title: 'a limit that asks Redis about each request', called: 'exact limit', redis: true }),
  alone('limit', 'local limit', 0.12),
  alone('observed', 'observability', 1, { upstream: true }),
  alone('jwt', 'JWT', 0.3),
  alone('plugin', 'plug-in', 2),
  alone('leased', 'leased limit', 0.2, { upstream: true, redis: true }),
  {
    ...proxied,
    name: 'proxy-widths',
    title: 'from 10 to 1,000 connections',
    subjects: ['leat', 'nginx', 'haproxy'],
    load: { kind: 'widths', widths: [10, 100, 1000], path: '/small' },
    about: 'The origin has a core of its own where the machine has a third: together, it and wrk take as much time for a request as the proxy. What they lose by themselves stands beside it.',
    originApart: true,
    measures: ['rps_10', 'rps_100', 'rps_1000', 'cpu_us_100', 'cpu_us_1000', 'kept', 'origin_kept', 'rss_mb'],
    compare: ['rps_10', 'rps_100', 'rps_1000', 'cpu_us_1000'],
    targets: [{ measure: 'kept', atLeast: 0.9 }, lean],
  },
  {
    ...proxied,
    ...turns,
    name: 'proxy-two-workers',
    title: 'two workers beside one, both on the cores of subject and load',
    subjects: ['leat, two workers', 'leat'],
    load: { kind: 'wrk', connections: 64, path: '/small' },
    targets: [{ measure: 'cpu_us', against: 'leat', atMost: 1.05 }],
  },
  {
    ...proxied,
    ...turns,
    name: 'proxy-h2-origin',
    title: 'HTTP/2 to the origin beside HTTP/1.1, 100 requests at a time',
    subjects: ['leat, HTTP/2 to the origin', 'leat'],
    load: { kind: 'wrk', connections: 100, path: '/small' },
    targets: [{ measure: 'rps', against: 'leat', atLeast: 1 }],
  },
  {
    ...proxied,
    name: 'proxy-first-byte',
    title: 'the first byte of a body of 10 MB, and what the proxy adds to the origin\'s own',
    subjects: ['leat', 'nginx', 'haproxy'],
    load: { kind: 'first_byte', path: '/10m', times: 100 },
    expect: { bytes: 10_000_000 },
    measures: ['first_byte_us', 'origin_first_byte_us', 'added_us', 'rss_mb'],
    compare: ['added_us'],
    targets: [{ measure: 'added_us', atMost: 1000 }, lean],
  },
  {
    ...proxied,
    name: 'gateway-ten-million',
    title: 'ten million requests, and memory behind them',
    asked: true,
    redis: true,
    subjects: ['leat + all', 'leat'],
    load: { kind: 'many', connections: 50, path: '/small', warm: 1_000_000, requests: 9_000_000, headers: credentials },
    measures: ['warm_rss_mb', 'after_rss_mb', 'grown_mb', 'rss_mb'],
    compare: ['after_rss_mb'],
    targets: [{ measure: 'grown_mb', atMost: 1 }, { measure: 'rss_mb', atMost: 30 }],
  },
];
