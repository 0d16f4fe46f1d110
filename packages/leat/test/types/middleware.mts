// What the types of leat/middleware allow and refuse. It is compiled by `npm run lint`, and never run.
import { compile, middleware, slot, type Context, type HeaderPatch, type Middleware, type Plan, type Response, type Signal } from "leat/middleware";

const started = slot("started").of<number>();
const user = slot("user").of<{ readonly id: string }>();
const other = slot("other").of<string>();

export const timing = middleware({
    name: "timing",
    scope: "call",
    writes: [started],
    onRequest: () => ({ set: { started: 1 } }),
    onComplete(context) {
        const at: number | undefined = context.get(started);
        const status: number | undefined = context.response?.status;
        void [at, status];
    },
});

export const auth = middleware({
    name: "auth",
    scope: "attempt",
    before: "sign",
    reads: [started, user],
    async onRequest(context) {
        await Promise.resolve();
        const id: string = context.get(user)?.id ?? `try ${context.attempt}`;
        return { headers: { authorization: id, cookie: null } };
    },
    onResponse: (context) => (context.response.status === 401 ? { status: 403 } : undefined),
    onError: () => ({ respond: { status: 502, headers: {} } }),
});

export const retry = middleware({
    name: "retry",
    scope: "call",
    repeats: true,
    async around(_context, next) {
        const first = await next();
        return first.status < 500 ? first : next({ headers: { "x-again": "1" } });
    },
});

export const plan: Plan<typeof user> = compile([timing, auth, retry], { provides: [user] });
export const sent: Response | PromiseLike<Response> = plan.run({ method: "GET", path: "/", headers: {} }, (request, context) => ({ status: request.headers["a"] === "1" ? 200 : context.attempt, headers: {} }), {
    set: { user: { id: "a" } },
    signal: new AbortController().signal,
});
export const signal: Signal = new AbortController().signal;

// Scopes.
// @ts-expect-error a scope is one of two
middleware({ name: "a", scope: "both", onRequest: () => undefined });
// @ts-expect-error and never left out
middleware({ name: "a", onRequest: () => undefined });
// @ts-expect-error a call has no number of a try
middleware({ name: "a", scope: "call", onRequest: (context) => void context.attempt });
// @ts-expect-error an attempt is no call
export const call: Middleware<"call"> = auth;
export const attempts: Middleware<"attempt">[] = [auth];
// @ts-expect-error a call is no attempt
attempts.push(timing);

// Either form.
// @ts-expect-error hooks and around are two middleware
middleware({ name: "a", scope: "call", around: (_context, next) => next(), onRequest: () => undefined });
// @ts-expect-error hooks repeat nothing
middleware({ name: "a", scope: "call", repeats: true, onRequest: () => undefined });
// Whoever asks for another try has no other hook for its outcome.
middleware({ name: "a", scope: "call", again: ({ response, tries }) => (response?.status === 503 && tries < 3 ? true : undefined) });
// @ts-expect-error a try does not repeat itself
middleware({ name: "a", scope: "attempt", again: () => true });
// @ts-expect-error true, or nothing
middleware({ name: "a", scope: "call", again: () => false });
// @ts-expect-error order is no number
middleware({ name: "a", scope: "call", priority: 10, onRequest: () => undefined });

// The record is read-only.
middleware({
    name: "a",
    scope: "call",
    onRequest(context) {
        // @ts-expect-error the request stays
        context.request = { method: "GET", path: "/", headers: {} };
        // @ts-expect-error and its members
        context.request.method = "PUT";
        // @ts-expect-error and its headers
        context.request.headers["a"] = "1";
        // @ts-expect-error nothing is added
        context.user = "me";
        // @ts-expect-error there is no response yet
        void context.response;
    },
    onResponse(context) {
        // @ts-expect-error the response stays
        context.response.status = 500;
        // @ts-expect-error there is no error
        void context.error;
    },
});

// Patches.
// @ts-expect-error names of headers are written in lower case
export const headers: HeaderPatch = { Authorization: "a" };
// @ts-expect-error a response has a number as its status
middleware({ name: "a", scope: "call", onResponse: () => ({ status: "200" }) });
// @ts-expect-error nothing else is a patch
middleware({ name: "a", scope: "call", onRequest: () => "GET" });
// @ts-expect-error around returns a response
middleware({ name: "a", scope: "call", around: () => ({ headers: {} }) });

// Slots.
// @ts-expect-error a slot that is read is declared
middleware({ name: "a", scope: "call", reads: [started], onRequest: (context) => void context.get(user) });
// @ts-expect-error a slot that is only read is not written
middleware({ name: "a", scope: "call", reads: [started], onRequest: () => ({ set: { started: 1 } }) });
// @ts-expect-error a slot holds its own type
middleware({ name: "a", scope: "call", writes: [started], onRequest: () => ({ set: { started: "now" } }) });
// @ts-expect-error a caller sets what the plan provides
plan.run({ method: "GET", path: "/", headers: {} }, () => ({ status: 200, headers: {} }), { set: { other: "a" } });
// @ts-expect-error a record without declarations has no slots
export const read = (context: Context): unknown => context.get(other);
