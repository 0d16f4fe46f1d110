// Outgoing calls, as data; scenarios.mjs and node_scenarios.mjs say what the keys mean.
//
// shuffled   the order of a round is drawn, so that no place in it decides
// roundsMin  the fewest rounds, unless the run is a quick one; secondsMax  the longest measurement, so that ten rounds of all take
//            some twenty-five minutes on a quiet machine
// glance     'round': quiet cores are waited for once a round, since a look at them takes as long as a measurement
// flags      the settings of the variant (transport/)

import { on } from './node_scenarios.mjs';

const KEPT = [20, 24];

/** Nothing but the code: no sockets, so no load beside it. */
const alone = { load: { kind: 'self' }, shuffled: true, roundsMin: 10, secondsMax: 0.25, glance: 'round', targets: [] };
const micro = { ...alone, measures: ['ns', 'ns_p99', 'ns_p999', 'bytes', 'promises'], counted: ['bytes', 'promises'], compare: ['ns', 'bytes'] };

const merge = (name, title, patch, targets) => on([20], `transport-merge-${name}`, {
  ...micro, title, role: 'transport-merge', flags: { patch }, subjects: ['patch', 'shallow spread', 'deep spread'], targets,
});

const ENGINES = ['plan', 'by hand', 'koa', 'onion'];
const engine = (name, title, flags, targets = [], majors = [20], more = []) => on(majors, `transport-engine-${name}`, {
  ...micro, title: `middleware with nothing around them: ${title}`, role: 'transport-engine', flags: { depth: 4, path: 'sync', ...flags }, subjects: [...ENGINES, ...more], targets,
  about: '`onion` is the engine of @elastic/transport 9.4.0, `phases` is written in the style of the engine of its report (async phases, a spread copy for each patch), `by hand` is one copy that everything goes into. `plan` keeps merges that come again, so in it the headers of the call before are used; `transport-engine-own` has other headers with each call.',
});

/** The client alone: its connection answers at once. */
const stack = (name, title, bytes, majors = KEPT, more = {}) => on(majors, `transport-stack-${name}`, {
  ...micro, title: `a whole call with a connection that costs nothing: ${title}`, role: 'transport-stack', flags: { bytes, ...more },
  subjects: ['leat, 5 middleware', 'leat, the same inline', 'leat, none', '@elastic/transport'],
  targets: [{ measure: 'ns', against: 'leat, the same inline', atMost: 1.02 }],
  about: 'Five middleware: a trace record, `auth`, `product`, `compression` (gzip of bodies from 1 kB on) and `retry`; the second does that work itself, around calls of a transport without middleware. @elastic/transport has no more than its own: headers, gzip, tracing when off.',
});

/** Real sockets; the origin has the other core. */
const loopback = { ...alone, upstream: true, role: 'transport-loopback', secondsMax: 0.7, subjects: ['leat/transport', 'undici', '@elastic/transport'] };
const CLOSED = { measures: ['rps', 'cpu_us', 'p50_us', 'p99_us', 'p999_us', 'gcs', 'gc_pause_ms', 'rss_mb'], compare: ['rps', 'cpu_us', 'p99_us'] };
const closed = (name, title, flags, targets, majors = KEPT) => on(majors, `transport-loopback-${name}`, {
  ...loopback, title: `calls on loopback: ${title}`, flags: { bytes: 0, connections: 50, ...flags },
  ...CLOSED, targets,
  about: 'leat/transport without middleware, on undici; undici alone by `pool.request`; all read the whole answer.',
});
const open = (name, title, flags) => on([20], `transport-open-${name}`, {
  ...loopback, secondsMax: 2, title: `calls on loopback that are due by the clock: ${title}`, flags: { connections: 50, ...flags },
  measures: ['p50_us', 'p95_us', 'p99_us', 'p999_us', 'gcs', 'gc_pause_ms', 'rss_mb'], compare: ['p50_us', 'p99_us', 'p999_us', 'gcs'], targets: [],
});
const own = (name, title, flags, targets) => on([20], `transport-own-${name}`, {
  ...loopback, title: `calls on loopback by Leat's own connection: ${title}`, flags: { bytes: 0, ...flags },
  subjects: ['leat/transport, own connection', 'leat/transport', 'undici'],
  ...CLOSED, targets,
  about: 'leat/transport without middleware, by `leat()` and by `undici()`; undici alone by `pool.request`. The first has a thread beside JavaScript\'s.',
});
/** Middleware on real sockets: what they take of a call. */
const loaded = (name, title, bytes) => on([20], `transport-loaded-${name}`, {
  ...loopback, role: 'transport-loaded', title: `five middleware on loopback: ${title}`, flags: { bytes, connections: 50 }, ...CLOSED,
  subjects: ['leat, 5 middleware', 'leat, the same inline', 'leat, none'],
  targets: [{ measure: 'cpu_us', against: 'leat, the same inline', atMost: 1.02 }],
  about: 'The middleware of `transport-stack-…`, and the same work written inline, on undici and loopback, 50 calls at once: both send the same bytes.',
});
const alike = [{ measure: 'rps', against: 'undici', atLeast: 0.95 }];

export const transportScenarios = [
  ...merge('nothing', 'a patch that changes nothing', 'nothing', [{ measure: 'bytes', atMost: 0 }]),
  ...merge('same', 'a header that has its value already', 'same header', [{ measure: 'bytes', atMost: 0 }]),
  ...merge('header', 'one header more', 'header', [{ measure: 'ns', against: 'deep spread', atMost: 0.4 }]),
  ...engine('4', '4 that set a header each, the first with a state', {}, [
    { measure: 'ns', atMost: 300 },
    { measure: 'bytes', atMost: 900 },
    { measure: 'bytes', against: 'by hand', atMost: 1.1 },
    { measure: 'promises', atMost: 0 },
  ], KEPT, ['by hand, a copy a step', 'phases']),
  ...engine('0', 'none', { depth: 0 }, [{ measure: 'bytes', atMost: 0 }]),
  ...engine('1', '1 that sets a header and a state', { depth: 1 }),
  ...engine('5', '5 that set a header each, the first with a state', { depth: 5 }),
  ...engine('20', '20 that set a header each', { depth: 20 }, [], [20], ['phases']),
  ...engine('async', '4, and a sender that waits', { path: 'async' }, [], [20], ['phases']),
  ...engine('own', "4, on headers that are each call's own", { own: true }),
  ...engine('error', '4, and a sender that throws', { path: 'error' }),
  ...engine('retry', '4, and a first try that throws', { path: 'retry' }),
  ...stack('9', '9 bytes', 9),
  ...stack('later', '9 bytes, the answer by a promise', 9, [20], { later: true }),
  ...stack('0', 'no bytes', 0, [20]),
  ...stack('1k', '1 kB', 1024, [20]),
  ...stack('64k', '64 kB', 65_536, [20]),
  ...stack('1m', '1 MB', 1_048_576, [20]),
  ...loaded('9', '9 bytes', 9),
  ...loaded('1k', '1 kB', 1024),
  ...loaded('64k', '64 kB', 65_536),
  ...closed('50', '50 at once', {}, alike),
  ...closed('1', '1 at once', { connections: 1 }, alike, [20]),
  ...closed('500', '500 at once', { connections: 500 }, alike, [20]),
  ...closed('1k', 'a body of 1 kB, 50 at once', { bytes: 1024 }, alike, [20]),
  ...closed('64k', 'a body of 64 kB, 50 at once', { bytes: 65_536 }, alike, [20]),
  ...closed('1m', 'a body of 1 MB, 50 at once', { bytes: 1_048_576 }, alike, [20]),
  ...own('50', '50 at once', { connections: 50 }, [{ measure: 'rps', against: 'undici', atLeast: 1.5 }]),
  ...own('1', '1 at once', { connections: 1 }, []),
  ...open('2000', '2,000 a second', { bytes: 0, rate: 2000 }),
];
