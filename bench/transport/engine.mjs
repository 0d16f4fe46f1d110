// What middleware engines cost with nothing around them: so many middleware, of which each sets a header, and the first keeps a
// state besides and reads it after. All variants do the same work and come to the same response, or the same error.

import { require } from './packages.mjs';

const { compile, middleware, slot } = require('leat/middleware');
const { MiddlewareEngine } = require('@elastic/transport/lib/middleware/MiddlewareEngine');

const REQUEST = Object.freeze({
  method: 'GET', path: '/a', body: undefined,
  headers: Object.freeze({ host: 'a', accept: '*/*', 'user-agent': 'leat', 'accept-encoding': 'gzip' }),
});
/** With headers that are this call's alone, so that nothing that was made of them before can be used again. */
const ownRequest = () => ({ method: 'GET', path: '/a', body: undefined, headers: { host: 'a', accept: '*/*', 'user-agent': 'leat', 'accept-encoding': 'gzip' } });
const OK = Object.freeze({ status: 200, headers: Object.freeze({ 'content-type': 'text/plain' }), body: undefined });
const DOWN = new Error('down');

const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const headerOf = (at) => `x-${at}`;

/** What the innermost does; `seen.request` is the request that reached it. */
const senders = (seen) => ({
  sync: (request) => { seen.request = request; return OK; },
  async: (request) => { seen.request = request; return Promise.resolve(OK); },
  error: (request) => { seen.request = request; throw DOWN; },
  // Every other time.
  retry: (request) => { seen.request = request; seen.odd = !seen.odd; if (seen.odd) throw DOWN; return OK; },
});

/** How a call ends that must not throw out of what is measured. */
const settled = (path, run) => {
  if (path !== 'error') return run;
  const over = (error) => { if (error !== DOWN) throw error; return OK; };
  return () => {
    try {
      const result = run();
      return typeof result.then === 'function' ? result.then(undefined, over) : result;
    } catch (error) {
      return over(error);
    }
  };
};

/** The second try, by hand: nothing waits, or something does. */
const again = (attempt) => () => { try { return attempt(); } catch { return attempt(); } };
const againLater = (attempt) => async () => { try { return await attempt(); } catch { return attempt(); } };

const started = slot('started').of();
const STARTED = Object.freeze({ started: 1 });

function plan({ depth, path, own }, send) {
  const list = many(depth, (at) => {
    const name = headerOf(at);
    const patch = { headers: { [name]: '1' }, ...(at === 0 ? { set: STARTED } : {}) };
    const first = at === 0 ? { writes: [started], onComplete: (context) => void context.get(started) } : {};
    return middleware({ name, scope: 'attempt', onRequest: () => patch, ...first });
  });
  const around = (_context, next) => again(next)();
  const retry = path === 'retry' ? [middleware({ name: 'retry', scope: 'call', repeats: true, around })] : [];
  const compiled = compile([...retry, ...list]);
  return own ? () => compiled.run(ownRequest(), send) : () => compiled.run(REQUEST, send);
}

/** Middleware as functions around `next`, on a context that all share and may write to: the header, and the first a state. */
const writing = (at) => async (context, next) => {
  context.request.headers[headerOf(at)] = '1';
  if (at > 0) return next();
  context.state = STARTED;
  try {
    return await next();
  } finally {
    void context.state.started;
  }
};
const retrying = (_context, next) => againLater(next)();
const shared = (own) => (own ? ownRequest() : { ...REQUEST, headers: { ...REQUEST.headers } });

/** The middleware of @elastic/transport 9.4.0: `around` only. */
function onion({ depth, path, own }, send) {
  const engine = new MiddlewareEngine();
  if (path === 'retry') engine.register({ name: 'retry', priority: 0, around: retrying });
  for (const at of Array(depth).keys()) engine.register({ name: headerOf(at), priority: at + 1, around: writing(at) });
  return () => {
    const context = { request: shared(own), params: REQUEST, options: {}, meta: { requestId: 1, name: 'a', context: null, connection: null, attempts: 0 }, state: undefined };
    return engine.run(context, async () => send(context.request));
  };
}

/**
 * In the style of the engine that the reference report measured: a phase is an async function which awaits every handler, and merges
 * what it returns into a new context by spreading context, request and headers.
 */
function phases({ depth, path, own }, send) {
  const list = many(depth, (at) => {
    const patch = (more) => ({ context: { request: { headers: { [headerOf(at)]: '1' } }, ...more } });
    return at === 0
      ? { onRequest: async () => patch({ shared: STARTED }), onComplete: async (context) => { void context.shared.started; } }
      : { onRequest: async () => patch(), onComplete: undefined };
  });
  const merged = (context, { request, shared: state }) => ({
    ...context,
    request: { ...context.request, ...request, headers: { ...context.request.headers, ...request?.headers } },
    shared: { ...context.shared, ...state },
  });
  const phase = async (name, context) => {
    let current = context;
    for (const each of list) {
      if (each[name] === undefined) continue;
      const result = await each[name](current);
      if (result?.context !== undefined) current = merged(current, result.context);
    }
    return current;
  };
  const attempt = async () => {
    let context = await phase('onRequest', { request: own ? ownRequest() : REQUEST, params: REQUEST, options: {}, meta: {}, shared: {} });
    try {
      return await send(context.request);
    } finally {
      context = await phase('onComplete', context);
    }
  };
  return path === 'retry' ? againLater(attempt) : attempt;
}

/** koa-compose's way: a promise and a bound function each. */
function koa({ depth, path, own }, send) {
  const list = many(depth, writing);
  if (path === 'retry') list.unshift(retrying);
  const run = (context) => {
    const dispatch = (at) => {
      if (at === list.length) return new Promise((resolve) => { resolve(send(context.request)); });
      try {
        return Promise.resolve(list[at](context, dispatch.bind(null, at + 1)));
      } catch (error) {
        return Promise.reject(error);
      }
    };
    return dispatch(0);
  };
  return () => run({ request: shared(own), state: undefined });
}

/** What one would write without middleware; `requestOf` makes the request of the headers' names and the one that was given. */
const byHand = (requestOf) => ({ depth, path, own }, send) => {
  const names = many(depth, headerOf);
  const attempt = () => {
    const request = requestOf(names, own ? ownRequest() : REQUEST);
    const state = STARTED;
    if (path === 'async') return send(request).then((response) => { void state.started; return response; });
    try {
      return send(request);
    } finally {
      void state.started;
    }
  };
  return path === 'retry' ? again(attempt) : attempt;
};

/** One copy, into which everything goes. */
const inOneCopy = byHand((names, request) => {
  if (names.length === 0) return request;
  const headers = { ...request.headers };
  for (const name of names) headers[name] = '1';
  return { method: request.method, path: request.path, headers, body: request.body };
});

/** A copy for each step, as steps do that know nothing of one another. */
const inSteps = byHand((names, given) => {
  let request = given;
  for (const name of names) {
    const headers = { ...request.headers };
    headers[name] = '1';
    request = { method: request.method, path: request.path, headers, body: request.body };
  }
  return request;
});

const VARIANTS = { plan, 'by hand': inOneCopy, 'by hand, a copy a step': inSteps, koa, onion, phases };

/** One call of variant `name`; `seen.request` is the request that was sent last. */
export function make(name, settings) {
  const seen = { request: undefined, odd: false };
  return { run: settled(settings.path, VARIANTS[name](settings, senders(seen)[settings.path])), seen };
}

export const names = Object.keys(VARIANTS);
