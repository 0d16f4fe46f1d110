// What middleware engines cost with nothing around them: so many middleware, of which each sets a header, and the first keeps a
// state besides and reads it after. All variants do the same work and come to the same response, or the same error.

import { require } from './packages.mjs';

const { compile, middleware, slot } = require('leat/middleware');
const { MiddlewareEngine } = require('@elastic/transport/lib/middleware/MiddlewareEngine');

const REQUEST = Object.freeze({
  method: 'GET', path: '/a', body: undefined,
  headers: Object.freeze({ host: 'a', accept: '*/*', 'user-agent': 'leat', 'accept-encoding': 'gzip' }),
});
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

const started = slot('started').of();
const STARTED = Object.freeze({ started: 1 });

function plan({ depth, path }, send) {
  const list = many(depth, (at) => {
    const patch = at === 0 ? { headers: { [headerOf(at)]: '1' }, set: STARTED } : { headers: { [headerOf(at)]: '1' } };
    return at === 0
      ? middleware({ name: headerOf(at), scope: 'attempt', writes: [started], onRequest: () => patch, onComplete: (context) => void context.get(started) })
      : middleware({ name: headerOf(at), scope: 'attempt', onRequest: () => patch });
  });
  const again = (_context, next) => {
    try {
      return next();
    } catch {
      return next();
    }
  };
  const retry = path === 'retry' ? [middleware({ name: 'retry', scope: 'call', repeats: true, around: again })] : [];
  const compiled = compile([...retry, ...list]);
  return () => compiled.run(REQUEST, send);
}

/** The middleware of @elastic/transport 9.4.0: `around` only, on a context that all share and may write to. */
function onion({ depth, path }, send) {
  const engine = new MiddlewareEngine();
  if (path === 'retry') engine.register({ name: 'retry', priority: 0, around: async (_context, next) => { try { return await next(); } catch { return next(); } } });
  for (const at of Array(depth).keys()) {
    engine.register({
      name: headerOf(at), priority: at + 1,
      around: async (context, next) => {
        context.request.headers[headerOf(at)] = '1';
        if (at > 0) return next();
        context.state = STARTED;
        try {
          return await next();
        } finally {
          void context.state.started;
        }
      },
    });
  }
  return () => {
    const context = { request: { ...REQUEST, headers: { ...REQUEST.headers } }, params: REQUEST, options: {}, meta: { requestId: 1, name: 'a', context: null, connection: null, attempts: 0 }, state: undefined };
    return engine.run(context, async () => send(context.request));
  };
}

/**
 * In the style of the engine that the reference report measured: a phase is an async function which awaits every handler, and merges
 * what it returns into a new context by spreading context, request and headers.
 */
function phases({ depth, path }, send) {
  const list = many(depth, (at) => ({
    onRequest: at === 0
      ? async () => ({ context: { request: { headers: { [headerOf(at)]: '1' } }, shared: STARTED } })
      : async () => ({ context: { request: { headers: { [headerOf(at)]: '1' } } } }),
    onComplete: at === 0 ? async (context) => { void context.shared.started; } : undefined,
  }));
  const merged = (context, { request, shared }) => ({
    ...context,
    request: { ...context.request, ...request, headers: { ...context.request.headers, ...request?.headers } },
    shared: { ...context.shared, ...shared },
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
    let context = await phase('onRequest', { request: REQUEST, params: REQUEST, options: {}, meta: {}, shared: {} });
    try {
      return await send(context.request);
    } finally {
      context = await phase('onComplete', context);
    }
  };
  if (path !== 'retry') return attempt;
  return async () => {
    try {
      return await attempt();
    } catch {
      return attempt();
    }
  };
}

/** koa-compose's way: a promise and a bound function each, on an object that all may write to. */
function koa({ depth, path }, send) {
  const list = many(depth, (at) => async (context, next) => {
    context.request.headers[headerOf(at)] = '1';
    if (at > 0) return next();
    context.state = STARTED;
    try {
      return await next();
    } finally {
      void context.state.started;
    }
  });
  if (path === 'retry') list.unshift(async (_context, next) => { try { return await next(); } catch { return next(); } });
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
  return () => run({ request: { ...REQUEST, headers: { ...REQUEST.headers } }, state: undefined });
}

/** What one would write without middleware: one copy, into which everything goes. */
function byHand({ depth, path }, send) {
  const names = many(depth, headerOf);
  const attempt = () => {
    if (depth === 0) return send(REQUEST);
    const headers = { ...REQUEST.headers };
    for (const name of names) headers[name] = '1';
    const state = STARTED;
    const request = { method: REQUEST.method, path: REQUEST.path, headers, body: REQUEST.body };
    if (path === 'async') return send(request).then((response) => { void state.started; return response; });
    try {
      return send(request);
    } finally {
      void state.started;
    }
  };
  if (path !== 'retry') return attempt;
  return () => {
    try {
      return attempt();
    } catch {
      return attempt();
    }
  };
}

/** The same, with a copy for each step, as steps do that know nothing of one another. */
function byHandInSteps({ depth, path }, send) {
  const names = many(depth, headerOf);
  const attempt = () => {
    let request = REQUEST;
    for (const name of names) {
      const headers = { ...request.headers };
      headers[name] = '1';
      request = { method: request.method, path: request.path, headers, body: request.body };
    }
    const state = STARTED;
    if (path === 'async') return send(request).then((response) => { void state.started; return response; });
    try {
      return send(request);
    } finally {
      void state.started;
    }
  };
  if (path !== 'retry') return attempt;
  return () => {
    try {
      return attempt();
    } catch {
      return attempt();
    }
  };
}

const VARIANTS = { plan, 'by hand': byHand, 'by hand, a copy a step': byHandInSteps, koa, onion, phases };

/** One call of variant `name`; `seen.request` is the request that was sent last. */
export function make(name, settings) {
  const seen = { request: undefined, odd: false };
  return { run: settled(settings.path, VARIANTS[name](settings, senders(seen)[settings.path])), seen };
}

export const names = Object.keys(VARIANTS);
