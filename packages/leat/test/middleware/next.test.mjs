// `next`: called twice, never, late, not waited for; tried again; given up.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { compile, middleware } from "leat/middleware";
import { deferred, GET, logging, OK, ok, thrown } from "./run.mjs";

const wraps = (around, more) => middleware({ name: "wrap", scope: "call", around, ...more });
const rejected = (code) => (error) => (assert.equal(error.code, code, error.stack), true);

for (const [send, what] of [[ok, "at once"], [async () => OK, "later"]]) {
    test(`next called twice is refused, inside ${what}`, async () => {
        const log = [];
        const plan = compile([wraps(async (_context, next) => (await next(), next())), logging("in", log)]);
        await assert.rejects(async () => plan.run(GET, send), rejected("next.twice"));
        assert.deepEqual(log, ["in.onRequest", "in.onResponse", "in.onComplete"]);
    });

    test(`a second next that nobody waits for is refused all the same, inside ${what}`, async () => {
        const plan = compile([wraps((_context, next) => { next(); next(); })]);
        await assert.rejects(async () => plan.run(GET, send), rejected("next.twice"));
    });
}

for (const around of [() => undefined, async () => undefined]) {
    test(`neither next nor a response is refused (${around})`, async () => {
        const log = [];
        await assert.rejects(async () => compile([logging("out", log), wraps(around)]).run(GET, assert.fail), rejected("next.never"));
        assert.deepEqual(log, ["out.onRequest", "out.onError", "out.onComplete"]);
    });
}

test("a response without next is one", () => {
    const log = [];
    assert.equal(compile([logging("out", log), wraps(() => OK)]).run(GET, assert.fail), OK);
    assert.deepEqual(log, ["out.onRequest", "out.onResponse", "out.onComplete"]);
});

test("next after the return is refused where it is called", async () => {
    let kept;
    const plan = compile([wraps((_context, next) => ((kept = next), OK))]);
    plan.run(GET, ok);
    assert.throws(() => kept(), rejected("next.late"));
    // Not into another run either.
    const wait = deferred();
    const other = compile([wraps(async (_context, next) => (await wait.promise, next()))]);
    const running = other.run(GET, ok);
    assert.throws(() => kept(), rejected("next.late"));
    wait.resolve();
    assert.equal(await running, OK);
});

test("returning while next is under way is refused, once what is inside is over", async () => {
    for (const result of [undefined, OK]) {
        const log = [];
        const wait = deferred();
        const plan = compile([wraps((_context, next) => (void next(), result)), logging("in", log)]);
        const run = plan.run(GET, () => wait.promise);
        assert.deepEqual(log, ["in.onRequest"]);
        wait.resolve(OK);
        await assert.rejects(run, rejected("next.pending"));
        assert.deepEqual(log, ["in.onRequest", "in.onResponse", "in.onComplete"]);
    }
});

test("an error inside that nobody waited for is the cause, and nobody's unhandled rejection", async (t) => {
    const unhandled = t.mock.fn();
    process.on("unhandledRejection", unhandled);
    t.after(() => process.off("unhandledRejection", unhandled));
    const plan = compile([wraps((_context, next) => void next())]);
    await assert.rejects(plan.run(GET, () => Promise.reject(new Error("inside"))), (error) => error.code === "next.pending" && error.cause.message === "inside");
    await new Promise(setImmediate);
    assert.equal(unhandled.mock.callCount(), 0);
});

test("an error of next that is caught and answered with nothing is thrown all the same", async () => {
    const error = new Error("inside");
    const plan = compile([wraps((_context, next) => { try { next(); } catch { /* nothing */ } })]);
    assert.equal(thrown(() => plan.run(GET, () => { throw error; })), error);
    const later = compile([wraps(async (_context, next) => { try { await next(); } catch { /* nothing */ } })]);
    await assert.rejects(later.run(GET, async () => { throw error; }), error);
});

test("an error of next is caught and answered with a response; another one has it as its cause", () => {
    const send = () => { throw new Error("inside"); };
    assert.equal(compile([wraps((_context, next) => { try { return next(); } catch { return OK; } })]).run(GET, send), OK);
    const error = thrown(() => compile([wraps((_context, next) => { try { return next(); } catch { throw new Error("mine"); } })]).run(GET, send));
    assert.deepEqual([error.message, error.cause.message], ["mine", "inside"]);
});

test("a deadline gives up at once; what is inside is left when it is over, enters nothing further, and its record is not used again", async () => {
    const log = [];
    const [wait, deadline] = [deferred(), deferred()];
    let race;
    const limit = wraps((_context, next) => Promise.race([(race = next()), deadline.promise]));
    const plan = compile([logging("out", log), limit, logging("in", log, { onRequest: () => wait.promise })], { recordsKeptMax: 1 });
    const run = plan.run(GET, assert.fail);
    deadline.reject(new Error("too late"));
    await assert.rejects(run, { message: "too late" });
    assert.deepEqual(log, ["out.onRequest", "in.onRequest", "out.onError", "out.onComplete"]);
    wait.resolve({ headers: { "x-late": "1" } });
    await assert.rejects(race, rejected("run.abandoned"));
    assert.deepEqual(log.slice(4), ["in.onError", "in.onComplete"]);
});

test("a record that something inside still has is not another run's", async () => {
    const seen = [];
    const wait = deferred();
    const limit = wraps((context, next) => (seen.push(context), context.request.path === "/" ? (next().catch(() => {}), assert.fail("too late")) : next()));
    const plan = compile([limit, middleware({ name: "in", scope: "call", onRequest: () => wait.promise })]);
    assert.throws(() => plan.run(GET, ok), { message: "too late" });
    const other = plan.run({ ...GET, path: "/b" }, ok);
    assert.notEqual(seen[0], seen[1]);
    assert.deepEqual([seen[0].request.path, seen[1].request.path], ["/", "/b"]);
    wait.resolve();
    assert.equal(await other, OK);
});

test("an error inside, after it was given up and when nobody listens, is an unhandled rejection", async (t) => {
    const listeners = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    t.after(() => listeners.forEach((each) => process.on("unhandledRejection", each)));
    const wait = deferred();
    const plan = compile([wraps((_context, next) => { void next(); throw new Error("mine"); })]);
    assert.throws(() => plan.run(GET, () => wait.promise), { message: "mine" });
    const unhandled = once(process, "unhandledRejection");
    wait.reject(new Error("late"));
    assert.equal((await unhandled)[0].message, "late");
});

test("thenables are waited for, and one that calls back twice counts once", async () => {
    const log = [];
    const thenable = (value) => ({ then: (resolve, reject) => { resolve(value); resolve("again"); reject(new Error("again")); } });
    const plan = compile([logging("a", log, { onRequest: () => thenable({ headers: { "x-a": "1" } }), onComplete: () => thenable(undefined) }), wraps((_context, next) => thenable(next()))]);
    const run = plan.run(GET, (request) => thenable({ status: 200, headers: request.headers }));
    assert.deepEqual((await run).headers, { host: "a", "x-a": "1" });
    assert.deepEqual(log, ["a.onRequest", "a.onResponse", "a.onComplete"]);
    const broken = compile([logging("a", [], { onRequest: () => ({ get then() { throw new Error("no then"); } }) })]);
    assert.throws(() => broken.run(GET, ok), { message: "no then" });
});

test("attempt middleware run once a try, call middleware once; each try begins with the first one's request", async () => {
    const log = [];
    const paths = [];
    const retry = middleware({
        name: "retry",
        scope: "call",
        repeats: true,
        async around(_context, next) {
            for (let tries = 1; ; tries++) {
                try {
                    return await next(tries === 1 ? undefined : { headers: { "x-try": String(tries) } });
                } catch (error) {
                    if (tries === 3) throw error;
                }
            }
        },
    });
    const sign = logging("sign", log, { onRequest: ({ request, attempt }) => ({ path: `${request.path}${attempt}` }) }, { scope: "attempt" });
    const plan = compile([sign, retry, logging("call", log)]);
    assert.deepEqual(plan.names, ["call", "retry", "sign"]);
    const response = await plan.run(GET, (request, { attempt }) => {
        paths.push([request.path, request.headers["x-try"]]);
        if (attempt < 3) throw new Error(`no ${attempt}`);
        return OK;
    });
    assert.equal(response, OK);
    assert.deepEqual(paths, [["/1", undefined], ["/2", "2"], ["/3", "3"]]);
    assert.deepEqual(log, ["call.onRequest", "sign.onRequest", "sign.onError", "sign.onComplete", "sign.onRequest", "sign.onError", "sign.onComplete", "sign.onRequest", "sign.onResponse", "sign.onComplete", "call.onResponse", "call.onComplete"]);
});

test("attempt middleware may try again too, such as after a refresh of what it signs with", () => {
    const attempts = [];
    const refresh = middleware({ name: "refresh", scope: "attempt", repeats: true, around: (_context, next) => (next().status === 401 ? next() : undefined) });
    const plan = compile([refresh, middleware({ name: "in", scope: "attempt", onRequest: ({ attempt }) => void attempts.push(attempt) })]);
    assert.equal(plan.run(GET, (_request, { attempt }) => ({ status: attempt === 1 ? 401 : 200, headers: {} })).status, 200);
    assert.deepEqual(attempts, [1, 2]);
});

test("tries at the same time are refused, and so are tries without end", async () => {
    const hedge = compile([wraps((_context, next) => Promise.race([next(), next()]), { repeats: true })]);
    await assert.rejects(async () => hedge.run(GET, async () => OK), rejected("next.twice"));
    const forever = compile([wraps((_context, next) => { for (;;) next(); }, { repeats: true })], { triesMax: 5 });
    let sent = 0;
    assert.throws(() => forever.run(GET, () => (sent++, OK)), rejected("next.limit"));
    assert.equal(sent, 5);
});

test("a middleware may run its own plan, and another, while it runs", async () => {
    const log = [];
    const plans = [];
    const nested = middleware({
        name: "token",
        scope: "call",
        onRequest({ request }) {
            if (request.path !== "/") return undefined;
            const token = plans[0].run({ ...GET, path: "/token" }, () => ({ ...OK, body: "secret" })).body;
            assert.equal(request.path, "/");
            return { headers: { authorization: token } };
        },
    });
    const plan = compile([logging("a", log), nested]);
    plans.push(plan);
    for (let runs = 0; runs < 2; runs++) assert.equal(plan.run(GET, (request) => ({ ...OK, body: request.headers.authorization })).body, "secret");
    const both = [plan.run(GET, async (request) => request.headers.host && OK), plan.run({ ...GET, path: "/b" }, async () => OK)];
    assert.deepEqual(await Promise.all(both), [OK, OK]);
});
