// What is measured, as data: one entry a scenario. A run takes them in this order.
//
// role      what the subjects are started as (a key of `roles` in subjects.mjs)
// upstream  whether the origin runs behind them (`originApart`: on a third core); `redis` whether a Redis server does
// flags     switches that subjects may know (`pipelined`: many requests in one buffer; `large`: bodies of megabytes)
// load      how they are asked: `kind` is a key of loads.mjs, the rest are its settings; a subject may have settings of its own
// turns     whether all subjects run at once on the subject's core and are asked in turns of a second (the processor of a rented machine
//           is now faster and now slower: neighbours in time are compared)
// expect    the reply that every subject must give before it is measured
// measures  the table's columns; `compare` those that ratios are made of
// targets   what the first subject must reach: `atLeast`/`atMost` × another subject's figure (`against`), `atMostMore` than
//           that figure, or an absolute figure

import { expressScenarios } from './express_scenarios.mjs';
import { gatewayScenarios } from './gateway_scenarios.mjs';
import { rpcScenarios } from './rpc_scenarios.mjs';
import { runScenarios } from './run_scenarios.mjs';
import { nodeScenarios } from './node_scenarios.mjs';
import { transportScenarios } from './transport_scenarios.mjs';

const load = ['rps', 'p50_us', 'p99_us', 'p999_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const speed = ['rps', 'cpu_us', 'p99_us'];
// wrk spreads a batch's latency over its replies, so its percentiles say nothing about pipelined requests.
const throughput = ['rps', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const small = { bytes: 128 };

/** Through a proxy, in front of the same origin. */
const proxied = { role: 'proxy', upstream: true, subjects: ['leat', 'nginx', 'haproxy', 'node'], expect: small, measures: load, compare: speed };

/** Bodies through a proxy: what passes in a second counts as well. */
const bodies = {
  ...proxied,
  measures: ['rps', 'mb_s', ...load.slice(1)],
  compare: ['mb_s', 'cpu_us'],
  targets: [{ measure: 'mb_s', against: 'nginx', atLeast: 1 }, { measure: 'rss_mb', atMost: 25 }],
};

/** Asked at a rate that all carry: tails count. */
const steady = {
  ...proxied,
  subjects: ['leat', 'nginx', 'haproxy'],
  compare: ['p50_us', 'p99_us', 'p999_us', 'cpu_us'],
  targets: ['nginx', 'haproxy'].map((against) => ({ measure: 'p99_us', against, atMost: 1 })),
};

export const scenarios = [
  {
    name: 'plain',
    title: 'a 13-byte plaintext reply, keep-alive',
    role: 'reply',
    subjects: ['leat', 'hyper', 'nginx'],
    load: { kind: 'wrk', connections: 64, path: '/plain' },
    expect: { bytes: 13 },
    measures: load,
    compare: speed,
    targets: [{ measure: 'rps', against: 'hyper', atLeast: 1.15 }],
  },
  {
    name: 'pipelined16',
    title: 'the same reply, requests pipelined by 16',
    role: 'reply',
    flags: { pipelined: true },
    subjects: ['leat', 'hyper', 'nginx'],
    load: { kind: 'wrk', connections: 64, path: '/plain', pipeline: 16 },
    expect: { bytes: 13 },
    measures: throughput,
    compare: ['rps', 'cpu_us'],
    targets: [{ measure: 'rps', against: 'hyper', atLeast: 1.2 }],
  },
  {
    name: 'h2',
    title: 'the same reply over HTTP/2 (prior knowledge), one request at a time on each connection',
    role: 'reply-h2',
    subjects: ['leat', 'h2', 'nginx'],
    load: { kind: 'h2load', connections: 64, streams: 1, path: '/plain' },
    expect: { bytes: 13, protocol: 'h2' },
    measures: load,
    compare: speed,
    targets: [{ measure: 'rps', against: 'h2', atLeast: 1 }],
  },
  {
    name: 'h2-multiplexed',
    title: 'the same reply over HTTP/2, 32 requests at a time on each connection',
    role: 'reply-h2',
    subjects: ['leat', 'h2', 'nginx'],
    load: { kind: 'h2load', connections: 16, streams: 32, path: '/plain' },
    expect: { bytes: 13, protocol: 'h2' },
    measures: load,
    compare: speed,
    targets: [{ measure: 'rps', against: 'h2', atLeast: 1 }],
  },
  {
    ...proxied,
    name: 'proxy-small',
    turns: true,
    glance: 'round',
    title: 'a 128-byte JSON reply through a proxy, keep-alive on both sides',
    load: { kind: 'wrk', connections: 64, path: '/small' },
    targets: [
      { measure: 'rps', against: 'nginx', atLeast: 1 },
      { measure: 'rps', against: 'haproxy', atLeast: 1 },
      { measure: 'cpu_us', atMost: 12 },
      { measure: 'cpu_us', against: 'nginx', atMost: 1 },
      { measure: 'cpu_us', against: 'haproxy', atMost: 1 },
      { measure: 'rss_mb', atMost: 25 },
    ],
  },
  ...[['1k', 1000], ['10k', 10_000], ['1m', 1_000_000]].map(([size, bytes]) => ({
    ...bodies,
    name: `proxy-${size}`,
    title: `a body of ${bytes.toLocaleString('en')} bytes through a proxy`,
    load: { kind: 'wrk', connections: 64, path: `/bytes/${bytes}` },
    expect: { bytes },
    compare: ['mb_s', 'cpu_us', 'p99_us'],
  })),
  {
    ...bodies,
    name: 'proxy-100k',
    title: 'a 100 kB body through a proxy',
    load: { kind: 'wrk', connections: 64, path: '/100k' },
    expect: { bytes: 100_000 },
    compare: ['mb_s', 'cpu_us', 'p99_us'],
  },
  {
    ...bodies,
    name: 'proxy-10m',
    title: 'a 10 MB body through a proxy',
    flags: { large: true },
    load: { kind: 'wrk', connections: 8, path: '/10m' },
    expect: { bytes: 10_000_000 },
  },
  {
    ...bodies,
    name: 'proxy-upload-10m',
    title: 'a 10 MB request body through a proxy',
    flags: { large: true },
    load: { kind: 'wrk', connections: 8, path: '/upload', body: 10_000_000 },
    expect: { bytes: 20 },
  },
  {
    ...steady,
    name: 'proxy-latency-50',
    title: 'open loop through a proxy, at half of what the slowest of these subjects carries',
    load: { kind: 'open', connections: 64, path: '/small', share: 0.5 },
  },
  {
    ...steady,
    name: 'proxy-latency-70',
    title: 'open loop through a proxy, at 70 % of what the slowest of these subjects carries',
    load: { kind: 'open', connections: 64, path: '/small', share: 0.7 },
    targets: [...steady.targets, { measure: 'p999_us', against: 'nginx', atMost: 1 }],
  },
  {
    ...steady,
    name: 'proxy-latency-h2load',
    title: 'the 50 % run again, asked by h2load --rps (it asks in bursts, every 10 ms on each connection)',
    load: { kind: 'h2load', protocol: 'h1', connections: 64, streams: 1, path: '/small', share: 0.5 },
    targets: [],
  },
  {
    name: 'idle-10k',
    title: '10,000 idle keep-alive connections, each asked once before',
    role: 'reply',
    subjects: ['leat', 'hyper', 'nginx', 'haproxy', 'node'],
    load: { kind: 'idle', connections: 10_000, path: '/plain' },
    expect: { bytes: 13 },
    measures: ['idle_rss_mb', 'empty_rss_mb', 'idle_kb', 'held'],
    compare: ['idle_rss_mb', 'idle_kb'],
    targets: [{ measure: 'idle_rss_mb', atMost: 60 }, { measure: 'held', atLeast: 10_000 }],
  },
  {
    ...proxied,
    name: 'start',
    title: 'from exec to the first answer through the proxy',
    load: { kind: 'start', times: 5, path: '/small' },
    measures: ['first_answer_ms', 'first_answer_worst_ms'],
    compare: ['first_answer_ms'],
    targets: [{ measure: 'first_answer_ms', atMost: 15 }],
  },
  ...gatewayScenarios,
  ...nodeScenarios,
  ...expressScenarios,
  ...rpcScenarios,
  ...runScenarios,
  ...transportScenarios,
];
