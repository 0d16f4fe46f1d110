// Outgoing calls, as data; scenarios.mjs and node_scenarios.mjs say what the keys mean.
//
// shuffled   the order of a round is drawn, so that no place in it decides
// roundsMin  the fewest rounds, unless the run is a quick one; secondsMax  the longest measurement
// flags      the settings of the variant (transport/)

import { on } from './node_scenarios.mjs';

const KEPT = [20, 24];

/** Nothing but the code: no sockets, so no load beside it. */
const alone = { load: { kind: 'self' }, shuffled: true, roundsMin: 10, secondsMax: 1, targets: [] };
const micro = { ...alone, measures: ['ns', 'ns_p99', 'ns_p999', 'bytes', 'promises'], compare: ['ns', 'bytes'] };

const merge = (name, title, patch, targets) => on(KEPT, `transport-merge-${name}`, {
  ...micro, title, role: 'transport-merge', flags: { patch }, subjects: ['patch', 'shallow spread', 'deep spread'], targets,
});

const ENGINES = ['plan', 'by hand', 'by hand, a copy a step', 'koa', 'onion', 'phases'];
const engine = (name, title, flags, targets = []) => on(KEPT, `transport-engine-${name}`, {
  ...micro, title: `middleware with nothing around them: ${title}`, role: 'transport-engine', flags: { depth: 4, path: 'sync', ...flags }, subjects: ENGINES, targets,
  about: '`onion` is the engine of @elastic/transport 9.4.0, `phases` is written in the style of the engine of its report (async phases, a spread copy for each patch), `by hand` is one copy that everything goes into.',
});

export const transportScenarios = [
  ...merge('nothing', 'a patch that changes nothing', 'nothing', [{ measure: 'bytes', atMost: 0 }]),
  ...merge('same', 'a header that has its value already', 'same header', [{ measure: 'bytes', atMost: 0 }]),
  ...merge('header', 'one header more', 'header', [{ measure: 'ns', against: 'deep spread', atMost: 0.4 }]),
  ...engine('4', '4 that set a header each, the first with a state', {}, [
    { measure: 'ns', atMost: 300 },
    { measure: 'bytes', atMost: 900 },
    { measure: 'bytes', against: 'by hand', atMost: 1.1 },
    { measure: 'promises', atMost: 0 },
  ]),
  ...engine('0', 'none', { depth: 0 }, [{ measure: 'bytes', atMost: 0 }]),
  ...engine('1', '1 that sets a header and a state', { depth: 1 }),
  ...engine('20', '20 that set a header each', { depth: 20 }),
  ...engine('async', '4, and a sender that waits', { path: 'async' }),
  ...engine('error', '4, and a sender that throws', { path: 'error' }),
  ...engine('retry', '4, and a first try that throws', { path: 'retry' }),
];
