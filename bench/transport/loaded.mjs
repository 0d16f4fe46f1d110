// The middleware of stack.mjs on loopback: what they cost of a call that has a network.

import { require } from './packages.mjs';
import { driven } from './loopback.mjs';
import { over } from './stack.mjs';

const { undici } = require('leat/transport');

export const names = ['leat, 5 middleware', 'leat, the same inline', 'leat, none'];

/** The client of variant `name` on `origin`. */
export function client(name, { origin, connections, bytes }) {
  const { run, close } = over(name, { bytes }, { nodes: origin, connection: undici({ connections }) });
  return { call: async () => (await run()).status, close };
}

/** Measures variant `name` for `seconds`. */
export const measure = (name, settings, seconds) => driven(client(name, { ...settings, origin: `http://127.0.0.1:${settings.port}` }), settings, seconds);
