// `again`: one that repeats, as a hook. It does what an `around` that repeats does, and costs nothing where it does nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, middleware, slot } from "leat/middleware";
import { deferred, GET, logging, OK, thrown } from "./run.mjs";

const status = (code) => ({ status: code, headers: {} });
const BAD = status(503);
const DOWN = new Error("down");

/** The same, once as a hook and once as `around`; `later` waits before each decision. */
const FORMS = {
    again: (log, triesMax, later) =>
        middleware({
            name: "retry",
            scope: "call",
            again({ response, error, tries }) {
                log.push(`${response?.status ?? error.message} ${tries}`);
                const wanted = tries < triesMax && response?.status !== 200 ? true : undefined;
                return later ? Promise.resolve(wanted) : wanted;
            },
        }),
    around: (log, triesMax, later) =>
        middleware({
            name: "retry",
            scope: "call",
            repeats: true,
            around: later
                ? async (_context, next) => {
                    for (let tries = 1; ; tries++) {
                        try {
                            const response = await next();
                            log.push(`${response.status} ${tries}`);
                            if (response.status === 200 || tries >= triesMax) return response;
                        } catch (error) {
                            log.push(`${error.message} ${tries}`);
                            if (tries >= triesMax) throw error;
                        }
                    }
                }
                : (_context, next) => {
                    for (let tries = 1; ; tries++) {
                        try {
                            const response = next();
                            log.push(`${response.status} ${tries}`);
                            if (response.status === 200 || tries >= triesMax) return response;
                        } catch (error) {
                            log.push(`${error.message} ${tries}`);
                            if (tries >= triesMax) throw error;
                        }
                    }
                },
        }),
};

const SCRIPTS = [[OK], [BAD, OK], [DOWN, OK], [BAD, DOWN, OK], [BAD, BAD, BAD, BAD], [DOWN, DOWN, DOWN], [DOWN, BAD, BAD]];

async function played(form, script, later, sendsLater) {
    const log = [];
    const requests = [];
    const list = [logging("outer", log), FORMS[form](log, 3, later), logging("inner", log, { onRequest: ({ attempt }) => ({ headers: { "x-try": String(attempt) } }) }, { scope: "attempt" })];
    const outcome = async () => {
        try {
            return await compile(list).run(GET, (request, { attempt }) => {
                requests.push(JSON.stringify(request));
                const step = script[attempt - 1];
                if (sendsLater) return step === DOWN ? Promise.reject(step) : Promise.resolve(step);
                if (step === DOWN) throw step;
                return step;
            });
        } catch (error) {
            return error;
        }
    };
    return { outcome: await outcome(), log, requests };
}

for (const later of [false, true]) {
    for (const sendsLater of [false, true]) {
        test(`it is an around that repeats, decided ${later ? "later" : "at once"}, sent ${sendsLater ? "later" : "at once"}`, async () => {
            // An `around` that does not wait cannot read a response that comes later.
            if (sendsLater && !later) {
                for (const script of SCRIPTS) assert.deepEqual(await played("again", script, false, true), await played("around", script, true, true));
                return;
            }
            for (const script of SCRIPTS) assert.deepEqual(await played("again", script, later, sendsLater), await played("around", script, later, sendsLater));
        });
    }
}

test("its own onRequest runs once, and its onComplete once at the end", () => {
    const log = [];
    const retry = middleware({ name: "retry", scope: "call", onRequest: () => (log.push("begin"), { headers: { "x-retry": "1" } }), again: ({ tries }) => (log.push(tries), tries < 3 ? true : undefined), onComplete: ({ response }) => void log.push(response.status) });
    const seen = [];
    assert.equal(compile([retry]).run(GET, (request) => (seen.push(request.headers["x-retry"]), OK)), OK);
    assert.deepEqual(log, ["begin", 1, 2, 3, 200]);
    assert.deepEqual(seen, ["1", "1", "1"]);
});

test("an onRequest that waits comes before the first try as well", async () => {
    const tried = [];
    const retry = middleware({ name: "retry", scope: "call", onRequest: async () => ({ headers: { a: "1" } }), again: ({ tries }) => (tries < 2 ? true : undefined) });
    const strips = middleware({ name: "strips", scope: "attempt", onRequest: () => ({ headers: { a: null } }) });
    const looks = middleware({ name: "looks", scope: "attempt", before: "strips", onRequest: ({ request }) => void tried.push(request.headers.a) });
    await compile([retry, looks, strips]).run(GET, () => OK);
    assert.deepEqual(tried, ["1", "1"]);
});

test("slots stay from one try to the next", () => {
    const count = slot("count").of();
    const counts = middleware({ name: "counts", scope: "attempt", writes: [count], onRequest: (context) => ({ set: { count: (context.get(count) ?? 0) + 1 } }) });
    const retry = middleware({ name: "retry", scope: "call", reads: [count], again: (context) => (context.get(count) < 3 ? true : undefined) });
    let sent = 0;
    compile([retry, counts]).run(GET, () => ((sent += 1), OK));
    assert.equal(sent, 3);
});

for (const later of [false, true]) {
    test(`what it throws ${later ? "later " : ""}takes the place of the outcome, with an error as its cause`, async () => {
        const log = [];
        const mine = new Error("mine");
        const again = () => { if (later) return Promise.reject(mine); throw mine; };
        const plan = () => compile([logging("outer", log), middleware({ name: "retry", scope: "call", again, onComplete: ({ error }) => void log.push(error.message) })]);
        await assert.rejects(async () => plan().run(GET, () => OK), (error) => error === mine && error.cause === undefined);
        await assert.rejects(async () => plan().run(GET, () => { throw DOWN; }), (error) => error === mine && error.cause === DOWN);
        assert.deepEqual(log, ["outer.onRequest", "mine", "outer.onError", "outer.onComplete", "outer.onRequest", "mine", "outer.onError", "outer.onComplete"]);
    });
}

test("there are as many tries as the plan allows, and then an error that says so", () => {
    let sent = 0;
    const plan = compile([middleware({ name: "retry", scope: "call", again: () => true })], { triesMax: 4 });
    assert.equal(thrown(() => plan.run(GET, () => ((sent += 1), OK))).code, "next.limit");
    assert.equal(sent, 4);
    // The next run begins from one.
    assert.equal(thrown(() => plan.run(GET, () => ((sent += 1), OK))).code, "next.limit");
    assert.equal(sent, 8);
});

test("a signal that aborts while it waits lets nothing further be entered", async () => {
    const signal = { aborted: false, reason: undefined };
    const { promise, resolve } = deferred();
    let sent = 0;
    const run = compile([middleware({ name: "retry", scope: "call", again: () => promise })]).run(GET, () => ((sent += 1), BAD), { signal });
    Object.assign(signal, { aborted: true, reason: new Error("enough") });
    resolve(true);
    await assert.rejects(async () => run, { message: "enough" });
    assert.equal(sent, 1);
});

test("it is measured and explained as a hook", () => {
    let now = 0;
    const plan = compile([middleware({ name: "retry", scope: "call", again: ({ tries }) => (tries < 2 ? true : undefined) })], { measure: { clock: () => now++ } });
    plan.run(GET, () => OK);
    assert.deepEqual(plan.measured().map(({ name, hook, calls }) => [name, hook, calls]), [["retry", "again", 2]]);
    assert.match(plan.explain(), /retry +call +again/);
});

for (const [definition, code, message] of [
    [{ scope: "attempt", again: () => undefined }, "plan.definition", "has again, which only scope"],
    [{ scope: "call", again: () => undefined, onResponse: () => undefined }, "plan.definition", "has again and onResponse"],
    [{ scope: "call", again: () => undefined, onError: () => undefined }, "plan.definition", "has again and onError"],
    [{ scope: "call", again: () => undefined, around: (_context, next) => next() }, "plan.definition", "has around and again"],
    [{ scope: "call", again: true }, "plan.definition", "has again as a function"],
]) {
    test(`refused when it is defined: ${message}`, () => {
        const error = thrown(() => middleware({ name: "a", ...definition }));
        assert.equal(error.code, code);
        assert.ok(error.message.includes(message), error.message);
    });
}

test("two that repeat are refused, in whatever form", () => {
    const hook = middleware({ name: "a", scope: "call", again: () => undefined });
    const around = middleware({ name: "b", scope: "call", repeats: true, around: (_context, next) => next() });
    assert.equal(thrown(() => compile([hook, around])).code, "plan.order");
});

for (const given of [false, 1, "yes", status(200), Promise.resolve(false)]) {
    test(`it gives true or nothing: ${JSON.stringify(given)} is refused`, async () => {
        await assert.rejects(async () => compile([middleware({ name: "a", scope: "call", again: () => given })]).run(GET, () => OK), { code: "result.kind" });
    });
}
