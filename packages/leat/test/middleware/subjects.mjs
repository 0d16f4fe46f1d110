// What is counted and compared: plans, and the same work in the style of koa-compose and by hand.
import * as api from "@opentelemetry/api";
import { compile, middleware, slot } from "leat/middleware";
import { call, diagnostics, openTelemetry } from "leat/transport";

export const REQUEST = Object.freeze({ method: "GET", path: "/a", headers: Object.freeze({ host: "a", accept: "*/*", "user-agent": "leat", "accept-encoding": "gzip" }), body: undefined });
const RESPONSE = Object.freeze({ status: 200, headers: Object.freeze({ "content-type": "text/plain" }), body: "fine" });
const send = () => RESPONSE;
const nothing = () => undefined;

const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const hooks = (at) => middleware({ name: `m${at}`, scope: "call", onRequest: nothing, onResponse: nothing, onError: nothing, onComplete: nothing });
const header = (at) => {
    const patch = { headers: { [`x-${at}`]: "1" } };
    return middleware({ name: `m${at}`, scope: "call", onRequest: () => patch });
};
const same = (at) => {
    const patch = { headers: { host: "a" } };
    return middleware({ name: `m${at}`, scope: "call", onRequest: () => patch });
};
const around = (at) => middleware({ name: `m${at}`, scope: "call", around: (_context, next) => next() });
const counter = slot("counter").of();
const state = middleware({ name: "state", scope: "call", writes: [counter], onRequest: () => STATE, onResponse: (context) => void context.get(counter) });
const STATE = { set: { counter: 1 } };

const runs = (list, options, request = () => REQUEST) => {
    const plan = compile(list, options);
    return () => plan.run(request(), send);
};
/** One whose headers are nobody's but this call's; the same for all, so that what is counted is the plan's. */
const own = { ...REQUEST, headers: { ...REQUEST.headers } };

/** As koa-compose does it: a promise and a bound function for each, on an object that all may write to. */
function compose(list) {
    return (context) => {
        let last = -1;
        const dispatch = (at) => {
            if (at <= last) return Promise.reject(new Error("next() called multiple times"));
            last = at;
            if (at === list.length) return Promise.resolve(context.send(context));
            try {
                return Promise.resolve(list[at](context, dispatch.bind(null, at + 1)));
            } catch (error) {
                return Promise.reject(error);
            }
        };
        return dispatch(0);
    };
}
const koa = (list) => {
    const run = compose(list);
    return () => run({ request: { ...REQUEST, headers: { ...REQUEST.headers } }, send });
};
const koaHeader = (at) => {
    const name = `x-${at}`;
    return async (context, next) => {
        context.request.headers[name] = "1";
        return next();
    };
};

/** What one would write without middleware: as many copies as there are steps that change something. */
const byHand = (count) => {
    const names = many(count, (at) => `x-${at}`);
    return () => {
        let request = REQUEST;
        for (const name of names) {
            const headers = { ...request.headers };
            headers[name] = "1";
            request = { method: request.method, path: request.path, headers, body: request.body };
        }
        return send(request);
    };
};

/** What makes no promise; with the bytes that a run may take, the most. */
export const SYNC = {
    "no middleware": { make: () => runs([]), bytesMax: 0 },
    "8 of 4 hooks that do nothing": { make: () => runs(many(8, hooks)), bytesMax: 0 },
    "8 patches that change nothing": { make: () => runs(many(8, same)), bytesMax: 0 },
    "a slot, written and read": { make: () => runs([state]), bytesMax: 0 },
    "openTelemetry without an SDK, and diagnostics without a subscriber": { make: () => runs([...openTelemetry({ api }), ...diagnostics()], { provides: [call] }), bytesMax: 0 },
    "1 header": { make: () => runs(many(1, header)), bytesMax: 56 },
    "4 headers": { make: () => runs(many(4, header)), bytesMax: 56 },
    "1 header, on headers of the call's own": { make: () => runs(many(1, header), {}, () => own), bytesMax: 160 },
    "4 headers, on headers of the call's own": { make: () => runs(many(4, header), {}, () => own), bytesMax: 216 },
    "4 headers by hand": { make: () => byHand(4) },
    "again, which asks for nothing": { make: () => runs([middleware({ name: "again", scope: "call", again: nothing })]), bytesMax: 0 },
    "1 around": { make: () => runs(many(1, around)), bytesMax: 208 },
    "4 around": { make: () => runs(many(4, around)), bytesMax: 832 },
};

/** Pairs that come to the same, for the comparison. */
export const PAIRS = [
    ["no middleware", runs([]), koa([])],
    ["8 that do nothing", runs(many(8, hooks)), koa(many(8, () => (_context, next) => next()))],
    ["4 headers", runs(many(4, header)), koa(many(4, koaHeader))],
    ["4 headers on a call's own", runs(many(4, header), {}, () => own), koa(many(4, koaHeader))],
    ["4 around that do nothing", runs(many(4, around)), koa(many(4, () => (_context, next) => next()))],
];
