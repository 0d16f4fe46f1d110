// RPC: an echo of five fields through a rule of `leat mock` and through what else serves it, as data; scenarios.mjs says what the keys
// mean. The client is h2load for all: ghz takes more of its core for a call than the servers do, and measures itself.

import { PATH } from './rpc/note.mjs';

const measures = ['rps', 'p50_us', 'p99_us', 'p999_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const called = { role: 'rpc', measures, compare: ['rps', 'cpu_us', 'p99_us', 'rss_mb'], targets: [] };
const everybody = ['leat mock', 'grpc-go', 'tonic', 'connect-rust', 'grpc-js', 'connect-node'];

/** `connections` with one call at a time on each, or `streams` of them. */
const load = (rpc, connections, { streams = 1, protocol, bytes = 0 } = {}) => ({ kind: 'rpc', rpc, path: PATH, connections, streams, bytes, ...(protocol && { protocol }) });
const both = (measure, against, atLeast) => ({ measure, against, atLeast });

const grpc = (connections, more) => ({
  ...called,
  name: `rpc-grpc-${connections}`,
  title: `gRPC, ${connections} connection${connections === 1 ? '' : 's'}, a call at a time on each`,
  subjects: everybody,
  load: load('grpc', connections),
  expect: { rpc: true },
  ...more,
});

/** Connect's unary calls, over HTTP/1.1 where `protocol` is h1. */
const connect = (name, title, rpc, protocol, connections, more) => ({
  ...called,
  name: `rpc-${name}-${connections}`,
  title: `${title}, ${connections} connection${connections === 1 ? '' : 's'}`,
  role: protocol === 'h1' ? 'rpc-h1' : 'rpc',
  subjects: ['leat mock', 'connect-rust', 'connect-node'],
  load: load(rpc, connections, { protocol }),
  expect: { rpc: true },
  ...more,
});

const WIDTHS = [1, 10, 50, 100];

export const rpcScenarios = [
  ...WIDTHS.map((connections) => grpc(connections, connections === 50 ? {
    subjects: [...everybody, 'leat, native echo', 'WireMock'],
    targets: [
      both('rps', 'WireMock', 1),
      both('rps', 'grpc-go', 1.3), both('rps', 'tonic', 1.5), both('rps', 'connect-rust', 1.5), both('rps', 'grpc-js', 5), both('rps', 'connect-node', 5),
      { measure: 'p99_us', against: 'grpc-go', atMost: 1 }, { measure: 'p99_us', against: 'tonic', atMost: 1 },
      { measure: 'cpu_us', against: 'leat, native echo', atMost: 1.1 },
    ],
  } : {})),
  {
    ...called,
    name: 'rpc-grpc-multiplexed',
    title: 'gRPC, 50 calls at a time on one connection',
    subjects: everybody,
    load: load('grpc', 1, { streams: 50 }),
    expect: { rpc: true },
    targets: [both('rps', 'grpc-go', 1.3), both('rps', 'tonic', 1.5)],
  },
  ...WIDTHS.flatMap((connections) => [
    connect('connect', 'Connect in binary over HTTP/1.1', 'connect', 'h1', connections, { targets: [both('rps', 'connect-node', 8)] }),
    connect('connect-json', 'Connect in JSON over HTTP/1.1', 'connect-json', 'h1', connections, { targets: [both('rps', 'connect-node', 8)] }),
    connect('grpc-web', 'gRPC-Web over HTTP/1.1', 'grpc-web', 'h1', connections),
  ]),
  ...[['Connect over HTTP/1.1', 1.3], ['Connect in JSON over HTTP/1.1', 1]].map(([first, atLeast], place) => ({
    ...called,
    name: ['rpc-protocols-50', 'rpc-protocols-json-50'][place],
    title: `${first} beside the other protocols, 50 connections`,
    about: 'One server and one rule, asked by the same client program in each protocol.',
    subjects: [first, 'gRPC', ...(place === 0 ? ['gRPC-Web over HTTP/1.1', 'Connect over HTTP/2'] : ['Connect in JSON over HTTP/2'])].map((protocol) => `leat mock, ${protocol}`),
    load: load('grpc', 50),
    expect: { rpc: true },
    targets: [both('rps', 'leat mock, gRPC', atLeast), { measure: 'cpu_us', against: 'leat mock, gRPC', atMost: Number((1 / atLeast).toFixed(2)) }],
  })),
  {
    ...called,
    name: 'rpc-protocols-1000',
    title: 'what a thousand connections hold, by protocol',
    subjects: ['Connect over HTTP/1.1', 'gRPC', 'gRPC-Web over HTTP/1.1', 'Connect over HTTP/2'].map((protocol) => `leat mock, ${protocol}`),
    load: load('grpc', 1000),
    expect: { rpc: true },
    targets: [{ measure: 'rss_mb', against: 'leat mock, gRPC', atMost: 1 }],
  },
  connect('connect-h2', 'Connect in binary over HTTP/2', 'connect', 'h2', 50),
  connect('connect-json-h2', 'Connect in JSON over HTTP/2', 'connect-json', 'h2', 50),
  ...[1000, 10_000, 100_000, 1_000_000].map((bytes) => ({
    ...called,
    name: `rpc-grpc-${bytes / 1000}k`,
    title: `gRPC, a note of ${bytes.toLocaleString('en')} bytes, 10 connections`,
    subjects: ['leat mock', 'grpc-go', 'tonic', 'connect-rust'],
    load: load('grpc', 10, { bytes }),
    expect: { rpc: true, bytes },
    measures: ['rps', 'mb_s', ...measures.slice(1)],
    compare: ['mb_s', 'cpu_us', 'p99_us'],
    targets: ['grpc-go', 'tonic'].map((against) => both('mb_s', against, 1)),
  })),
  {
    ...called,
    name: 'rpc-rules',
    title: 'gRPC through one of so many rules, 50 connections',
    subjects: ['leat mock, 10 rules', 'leat mock, 1,000 rules', 'leat mock, 100,000 rules', 'leat mock, 500,000 rules'],
    load: load('grpc', 50),
    expect: { rpc: true },
    targets: ['1,000', '100,000', '500,000'].map((count) => ({ measure: 'cpu_us', against: `leat mock, ${count} rules`, atLeast: 0.9 })),
  },
  {
    name: 'rpc-handler',
    title: 'the shared handler alone, in process: a call through a rule, and its steps',
    about: 'Five fields in binary form, held against constraints, matched by a field and by metadata, answered with a fixed message. `choose` is what is left of a call: match, select, answer. JSON is what makes binary of the same message, and a whole call that came so.',
    role: 'rpc-handler',
    subjects: ['leat, shared handler'],
    load: { kind: 'self' },
    measures: ['rps', 'ns', 'find_ns', 'validate_ns', 'choose_ns', 'json_ns', 'from_json_ns'],
    compare: ['ns'],
    targets: [{ measure: 'rps', atLeast: 1_000_000 }, { measure: 'ns', atMost: 1000 }],
  },
  {
    name: 'rpc-start',
    title: 'from exec to the first answer',
    role: 'rpc-h1',
    subjects: ['leat mock, 1,000 rules', 'leat mock, 10 rules', 'connect-node'],
    load: { kind: 'start', times: 10, path: `${PATH}?connect=v1&encoding=json&message=%7B%22name%22%3A%22bench%22%7D` },
    measures: ['first_answer_ms', 'first_answer_worst_ms'],
    compare: ['first_answer_ms'],
    targets: [{ measure: 'first_answer_ms', atMost: 400 }],
  },
  {
    name: 'rpc-idle',
    title: 'memory with 100 connections that asked once',
    role: 'rpc-h1',
    subjects: ['leat mock, 10 rules', 'connect-node'],
    load: { kind: 'idle', connections: 100, path: `${PATH}?connect=v1&encoding=json&message=%7B%22name%22%3A%22bench%22%7D` },
    expect: { get: true },
    measures: ['idle_rss_mb', 'empty_rss_mb', 'idle_kb', 'held'],
    compare: ['idle_rss_mb'],
    targets: [{ measure: 'empty_rss_mb', atMost: 20 }],
  },
  {
    ...called,
    name: 'rpc-ten-million',
    title: 'ten million calls, and memory behind them',
    asked: true,
    role: 'rpc-h1',
    subjects: ['leat mock'],
    load: { kind: 'many', connections: 50, path: PATH, warm: 1_000_000, requests: 9_000_000, json: '{"name":"bench","id":"7"}' },
    measures: ['warm_rss_mb', 'after_rss_mb', 'grown_mb', 'rss_mb'],
    expect: { get: true },
    compare: ['after_rss_mb'],
    targets: [{ measure: 'grown_mb', atMost: 1 }],
  },
];
