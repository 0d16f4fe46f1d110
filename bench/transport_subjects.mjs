// Who takes part in the measurements of outgoing calls: variants of the programs in transport/, each in a process of its own that
// measures itself (load `self`).

import { fileURLToPath } from 'node:url';

const call = fileURLToPath(new URL('transport/call.mjs', import.meta.url));

/** `variant` of each of `layers`; the scenario's flags are its settings. */
const variant = (layers, name, version) => ({
  version: ({ node }) => version ?? [node, '--version'],
  roles: Object.fromEntries(layers.map((layer) => [`transport-${layer}`, ({ node, flags, upstreamPort }) => ({
    files: {},
    command: [node, call, layer, name, JSON.stringify({ ...flags, port: upstreamPort })],
  })])),
});

export const transportSubjects = {
  plan: variant(['engine'], 'plan'),
  'by hand': variant(['engine'], 'by hand'),
  'by hand, a copy a step': variant(['engine'], 'by hand, a copy a step'),
  koa: variant(['engine'], 'koa'),
  onion: variant(['engine'], 'onion'),
  phases: variant(['engine'], 'phases'),
  patch: variant(['merge'], 'patch'),
  'deep spread': variant(['merge'], 'deep spread'),
  'shallow spread': variant(['merge'], 'shallow spread'),
  'leat, 5 middleware': variant(['stack', 'loaded'], 'leat, 5 middleware'),
  'leat, the same inline': variant(['stack', 'loaded'], 'leat, the same inline'),
  'leat, none': variant(['stack', 'loaded'], 'leat, none'),
  '@elastic/transport': variant(['stack', 'loopback'], '@elastic/transport'),
  'leat/transport': variant(['loopback'], 'leat'),
  'leat/transport, own connection': variant(['loopback'], 'leat, own connection'),
  undici: variant(['loopback'], 'undici'),
};
