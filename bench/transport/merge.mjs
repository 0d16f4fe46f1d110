// Merging a patch into a request, alone: Leat's, which copies what changes, and a deep spread, which copies all.

import { require } from './packages.mjs';

const { patchRequest } = require('leat/middleware');

const REQUEST = Object.freeze({
  method: 'POST', path: '/_bulk', body: undefined,
  headers: Object.freeze({ host: 'a', accept: '*/*', 'user-agent': 'leat', 'accept-encoding': 'gzip', 'content-type': 'application/json', 'content-length': '17' }),
});
const OPTIONS = Object.freeze({ meta: true });
const META = Object.freeze({ requestId: 1, name: 'a', context: null, connection: null, attempts: 0 });
const CONTEXT = Object.freeze({ request: REQUEST, params: REQUEST, options: OPTIONS, meta: META, shared: Object.freeze({}) });

const PATCHES = {
  nothing: {},
  'same header': { headers: { accept: '*/*' } },
  header: { headers: { authorization: 'Bearer a' } },
};

const VARIANTS = {
  patch: (patch) => () => patchRequest(REQUEST, patch),
  'deep spread': (patch) => () => {
    const context = {
      ...CONTEXT,
      request: { ...CONTEXT.request, ...patch, headers: { ...CONTEXT.request.headers, ...patch.headers } },
      params: { ...CONTEXT.params, headers: { ...CONTEXT.params.headers } },
      options: { ...CONTEXT.options },
      meta: { ...CONTEXT.meta },
      shared: { ...CONTEXT.shared },
    };
    return context.request;
  },
  'shallow spread': (patch) => () => ({ ...REQUEST, ...patch, headers: { ...REQUEST.headers, ...patch.headers } }),
};

/** One merge by variant `name` of what `settings.patch` names. */
export function make(name, settings) {
  return { run: VARIANTS[name](PATCHES[settings.patch]), seen: {} };
}

export const names = Object.keys(VARIANTS);
