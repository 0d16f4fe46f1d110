// The way through a plan: who is called when, whatever happens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, middleware } from "leat/middleware";
import { deferred, GET, logging, loggingAround, OK, ok, thrown } from "./run.mjs";

const failing = (message) => () => {
    throw new Error(message);
};

test("an empty plan is its sender", () => {
    assert.equal(compile([]).run(GET, (request) => (assert.equal(request, GET), OK)), OK);
});

test("requests go inwards, responses outwards, and each middleware is left with onComplete", () => {
    const log = [];
    assert.equal(compile([logging("a", log), logging("b", log)]).run(GET, () => (log.push("send"), OK)), OK);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest", "send", "b.onResponse", "b.onComplete", "a.onResponse", "a.onComplete"]);
});

test("an error of the sender goes outwards through onError", () => {
    const log = [];
    const error = new Error("refused");
    const plan = compile([logging("a", log), logging("b", log)]);
    assert.equal(thrown(() => plan.run(GET, () => { throw error; })), error);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest", "b.onError", "b.onComplete", "a.onError", "a.onComplete"]);
});

test("a response from onRequest unwinds those further out, and completes its own", () => {
    const log = [];
    const early = { status: 304, headers: {} };
    const plan = compile([logging("a", log), logging("b", log, { onRequest: () => ({ respond: early }) }), logging("c", log)]);
    assert.equal(plan.run(GET, assert.fail), early);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest", "b.onComplete", "a.onResponse", "a.onComplete"]);
});

test("onError answers with a response, which those further out get as one", () => {
    const log = [];
    const instead = { status: 503, headers: {} };
    const plan = compile([logging("a", log), logging("b", log, { onError: () => ({ respond: instead }) })]);
    assert.equal(plan.run(GET, failing("refused")), instead);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest", "b.onError", "b.onComplete", "a.onResponse", "a.onComplete"]);
});

for (const [hook, others] of [
    ["onRequest", ["a.onRequest", "b.onRequest", "b.onComplete", "a.onError", "a.onComplete"]],
    ["onResponse", ["a.onRequest", "b.onRequest", "b.onResponse", "b.onComplete", "a.onError", "a.onComplete"]],
    ["onComplete", ["a.onRequest", "b.onRequest", "b.onResponse", "b.onComplete", "a.onError", "a.onComplete"]],
]) {
    for (const later of [false, true]) {
        test(`what ${hook} throws ${later ? "later " : ""}goes to those further out, and to none of its own hooks but onComplete`, async () => {
            const log = [];
            const does = later ? async () => failing("mine")() : failing("mine");
            const plan = compile([logging("a", log), logging("b", log, { [hook]: does })]);
            await assert.rejects(async () => plan.run(GET, ok), { message: "mine" });
            assert.deepEqual(log, others);
        });
    }
}

for (const later of [false, true]) {
    test(`what onError throws ${later ? "later " : ""}takes the place of the error, which is its cause`, async () => {
        const first = new Error("first");
        const does = later ? async () => failing("second")() : failing("second");
        const plan = compile([logging("a", [], { onComplete: failing("third") }), logging("b", [], { onError: does })]);
        await assert.rejects(
            async () => plan.run(GET, () => { throw first; }),
            (error) => error.message === "third" && error.cause.message === "second" && error.cause.cause === first,
        );
    });
}

test("the same error thrown again is no cause of itself, nor is one that wraps it given another", () => {
    const first = new Error("first");
    const again = compile([logging("a", [], { onError: ({ error }) => { throw error; } })]);
    assert.equal(thrown(() => again.run(GET, () => { throw first; })), first);
    assert.equal(first.cause, undefined);
    const wrap = compile([logging("a", [], { onError: ({ error }) => { throw new Error("wrapped", { cause: error }); } })]);
    assert.equal(thrown(() => wrap.run(GET, () => { throw first; })).cause, first);
});

for (const [what, value] of [["a string", "late"], ["a frozen error", Object.freeze(new Error("late"))], ["undefined", undefined]]) {
    test(`the first error is kept when ${what} takes its place`, () => {
        const first = new Error("first");
        const plan = compile([logging("a", [], { onError: () => { throw value; } })]);
        const error = thrown(() => plan.run(GET, () => { throw first; }));
        assert.equal(error.code, "error.replaced");
        assert.equal(error.cause, first);
        assert.equal(error.thrown, value);
    });
}

test("errors that are each other's cause make no ring", () => {
    const [first, second] = [new Error("first"), new Error("second")];
    first.cause = second;
    const plan = compile([logging("a", [], { onError: () => { throw second; } })]);
    const error = thrown(() => plan.run(GET, () => { throw first; }));
    assert.equal(error.code, "error.replaced");
    assert.equal(second.cause, undefined);
});

test("a thrown undefined is an error like any other", () => {
    const log = [];
    const plan = compile([logging("a", log)]);
    assert.equal(thrown(() => plan.run(GET, () => { throw undefined; })), undefined);
    assert.deepEqual(log, ["a.onRequest", "a.onError", "a.onComplete"]);
});

test("every onComplete runs although others throw", () => {
    const log = [];
    const plan = compile([logging("a", log), logging("b", log, { onComplete: failing("b") }), logging("c", log, { onComplete: failing("c") })]);
    const error = thrown(() => plan.run(GET, ok));
    assert.deepEqual([error.message, error.cause.message], ["b", "c"]);
    assert.deepEqual(log.filter((each) => each.endsWith("onComplete")), ["c.onComplete", "b.onComplete", "a.onComplete"]);
});

test("onComplete sees how its middleware was left", () => {
    const seen = [];
    const see = (name) => middleware({ name, scope: "call", onComplete: ({ response, error }) => void seen.push([name, response?.status, error?.message]) });
    const turn = middleware({ name: "turn", scope: "call", onError: () => ({ respond: { status: 500, headers: {} } }) });
    compile([see("out"), turn, see("in")]).run(GET, failing("refused"));
    assert.deepEqual(seen, [["in", undefined, "refused"], ["out", 500, undefined]]);
});

/** What each of three middleware may do, and the sender. */
const DOES = [
    {},
    { onRequest: failing("request") },
    { onRequest: () => ({ respond: { status: 201, headers: {} } }) },
    { onRequest: () => ({ headers: { "x-a": "1" } }) },
    { onResponse: failing("response") },
    { onResponse: () => ({ status: 202 }) },
    { onError: failing("error") },
    { onError: () => ({ respond: { status: 203, headers: {} } }) },
    { onComplete: failing("complete") },
];

test("hooks are what around with try, catch and finally is, in every combination of three", () => {
    const outcome = (made, log, send) => {
        try {
            return [log, made.run(GET, send).status];
        } catch (error) {
            return [log, error.message];
        }
    };
    let count = 0;
    for (const send of [ok, failing("send")]) {
        for (const a of DOES) for (const b of DOES) for (const c of DOES) {
            const seen = [0b000, 0b010, 0b101, 0b111].map((arounds) => {
                const log = [];
                const make = (name, does, bit) => (arounds & bit ? loggingAround : logging)(name, log, does);
                return outcome(compile([make("a", a, 1), make("b", b, 2), make("c", c, 4)]), log, send);
            });
            for (const other of seen.slice(1)) assert.deepEqual(other, seen[0]);
            count++;
        }
    }
    assert.equal(count, 2 * DOES.length ** 3);
});

test("whether hooks wait or not changes nothing of who is called", async () => {
    for (const send of [ok, failing("send")]) {
        for (const a of DOES) for (const b of DOES) {
            const outcome = async (later) => {
                const log = [];
                const slow = (does) => Object.fromEntries(["onRequest", "onResponse", "onError", "onComplete"].map((hook) => [hook, later ? async (context) => does[hook]?.(context) : does[hook]]));
                const plan = compile([logging("a", log, slow(a)), logging("b", log, slow(b))]);
                const ended = await (async () => plan.run(GET, later ? async () => send() : send))().then(({ status }) => status, ({ message }) => message);
                return [log, ended];
            };
            assert.deepEqual(await outcome(true), await outcome(false));
        }
    }
});

test("an abort stops the way inwards, and leaves those that were entered with its reason", async () => {
    const log = [];
    const abort = new AbortController();
    const reason = new Error("stop");
    const plan = compile([logging("a", log), logging("b", log, { onRequest: () => abort.abort(reason) }), logging("c", log)]);
    assert.equal(thrown(() => plan.run(GET, assert.fail, { signal: abort.signal })), reason);
    assert.deepEqual(log, ["a.onRequest", "b.onRequest", "b.onError", "b.onComplete", "a.onError", "a.onComplete"]);
});

test("an abort while a hook waits stops after it, and one that was before enters nothing", async () => {
    const log = [];
    const abort = new AbortController();
    const wait = deferred();
    const plan = compile([logging("a", log, { onRequest: () => wait.promise })]);
    const run = plan.run(GET, assert.fail, { signal: abort.signal });
    abort.abort(new Error("stop"));
    wait.resolve();
    await assert.rejects(run, { message: "stop" });
    assert.deepEqual(log, ["a.onRequest", "a.onError", "a.onComplete"]);
    assert.throws(() => plan.run(GET, assert.fail, { signal: abort.signal }), { message: "stop" });
    assert.equal(log.length, 3);
});

test("an abort during the sending unwinds what it comes to", async () => {
    const log = [];
    const abort = new AbortController();
    const plan = compile([logging("a", log)]);
    const run = plan.run(GET, (_request, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))), { signal: abort.signal });
    abort.abort(new Error("stop"));
    await assert.rejects(run, { message: "stop" });
    assert.deepEqual(log, ["a.onRequest", "a.onError", "a.onComplete"]);
});

test("hooks are called on what they are methods of", () => {
    class Counter {
        name = "counter";
        scope = "call";
        count = 0;
        onRequest() {
            this.count++;
        }
    }
    const counter = new Counter();
    const plan = compile([middleware(counter)]);
    plan.run(GET, ok);
    plan.run(GET, ok);
    assert.equal(counter.count, 2);
});
