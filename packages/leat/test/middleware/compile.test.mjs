// What `compile` orders, refuses and explains.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, middleware, slot } from "leat/middleware";
import { GET, OK, ok, thrown } from "./run.mjs";

const nothing = () => undefined;
const named = (name, more) => middleware({ name, scope: "call", onRequest: nothing, ...more });
const attempt = (name, more) => named(name, { scope: "attempt", ...more });
const retry = (name, more) => middleware({ name, scope: "call", repeats: true, around: (_context, next) => next(), ...more });

for (const [what, list, names] of [
    ["as listed", [named("a"), named("b"), named("c")], "a b c"],
    ["call outside of attempt", [attempt("a"), named("b"), attempt("c"), named("d")], "b d a c"],
    ["before", [named("a"), named("b"), named("c", { before: "a" })], "b c a"],
    ["after", [named("a", { after: "c" }), named("b"), named("c")], "b c a"],
    ["both, and several", [named("a"), named("b", { before: ["a", "c"], after: "d" }), named("c"), named("d")], "d b a c"],
    ["call before attempt by name", [attempt("a"), named("b", { before: "a" })], "b a"],
    ["a repeating one inside of all of its scope", [retry("a"), named("b"), attempt("c"), named("d")], "b d a c"],
]) {
    test(`order: ${what}`, () => assert.equal(compile(list).names.join(" "), names));
}

test("the order is the same for the same list, and keeps what no constraint touches", () => {
    const list = Array.from({ length: 40 }, (_, at) => named(`m${at}`, at === 30 ? { before: "m10" } : {}));
    const { names } = compile(list);
    const untouched = (from) => from.filter((name) => name !== "m10" && name !== "m30");
    assert.deepEqual(untouched(names), untouched(list.map(({ name }) => name)));
    assert.ok(names.indexOf("m30") < names.indexOf("m10"));
});

const [user, same] = [slot("user").of(), slot("user").of()];
for (const [what, list, code, message, options] of [
    ["a cycle of two", [named("a", { before: "b" }), named("b", { before: "a" })], "plan.order", 'no order holds: middleware[0] "a" has before: "b"; middleware[1] "b" has before: "a"; take one of them away'],
    ["a cycle of three, without those that hang on it", [named("x", { after: "a" }), named("a", { after: "c" }), named("b", { after: "a" }), named("c", { after: "b" }), named("y", { before: "a" })], "plan.order", /^no order holds: (middleware\[\d\] "[abc]" has after: "[abc]"; ){3}take one of them away$/],
    ["a middleware before itself", [named("a", { before: "a" })], "plan.order", /middleware\[0\] "a" has before: "a"/],
    ["an unknown name", [named("a", { after: "retri" }), named("retry")], "plan.unknown_name", 'middleware[0] "a" has after: "retri", and there is none; there are "retry"'],
    ["a name twice", [named("a"), named("b"), named("a")], "plan.duplicate", /^middleware\[2\] has the name of middleware\[0\], "a"; rename one/],
    ["call inside of attempt", [attempt("a"), named("b", { after: "a" })], "plan.order", /middleware\[1\] "b" has after: "a", but attempt middleware is always inside of call middleware; leave it out/],
    ["a call inside of one that repeats", [retry("a", { before: "b" }), named("b")], "plan.order", /repeats, so call middleware is outside of it/],
    ["two that repeat in scope call", [retry("a"), retry("b")], "plan.order", /middleware\[0\] "a" and middleware\[1\] "b" both repeat.*scope: "attempt"/],
    ["a slot that nobody writes", [named("a", { reads: [user] })], "plan.slot", /middleware "a" reads the slot "user", which nobody writes; add/],
    ["a slot written by two", [named("a", { writes: [user] }), named("b", { writes: [user] })], "plan.slot", /"a" and "b" both write the slot "user", and nothing says which comes last; write after: "a" in "b"/],
    ["two slots of one name", [named("a", { writes: [user] }), named("b", { reads: [same] })], "plan.duplicate", /middleware "b" has a slot "user" that is another/],
    ["too many", Array.from({ length: 257 }, (_, at) => named(`m${at}`)), "plan.definition", /257 middleware, at most 256/],
    ["what middleware() did not make", [{ name: "a", onRequest: nothing }], "plan.definition", /middleware\[0\] was not made by middleware/],
    ["nothing in the list", [undefined], "plan.definition", /middleware\[0\]/],
    ["no list", undefined, "plan.definition", /takes an array/],
    ["a number of records", [], "plan.definition", /recordsKeptMax is -1; it takes a whole number from 0/, { recordsKeptMax: -1 }],
    ["a number of tries", [], "plan.definition", /triesMax is 0; it takes a whole number from 1/, { triesMax: 0 }],
]) {
    test(`refused when built: ${what}`, () => {
        const error = thrown(() => compile(list, options));
        assert.equal(error.name, "MiddlewareError");
        assert.equal(error.code, code);
        if (typeof message === "string") assert.equal(error.message, message);
        else assert.match(error.message, message);
    });
}

for (const [what, definition, message] of [
    ["nothing", undefined, /is an object/],
    ["no name", { scope: "call", onRequest: nothing }, /has a name/],
    ["no scope", { name: "a", onRequest: nothing }, /has a scope: scope: "call"/],
    ["another scope", { name: "a", scope: "both", onRequest: nothing }, /has a scope/],
    ["no hook", { name: "a", scope: "call" }, /does nothing; give it around, or one of onRequest/],
    ["a hook of another name", { name: "a", scope: "call", onRequest: nothing, onBeforeRequest: nothing }, /has no "onBeforeRequest"; hooks are onRequest/],
    ["a number as its order", { name: "a", scope: "call", onRequest: nothing, priority: 1 }, /has no "priority".*before and after/],
    ["a hook that is no function", { name: "a", scope: "call", onRequest: {} }, /has onRequest as a function/],
    ["both forms", { name: "a", scope: "call", around: nothing, onRequest: nothing }, /has around and onRequest/],
    ["hooks that repeat", { name: "a", scope: "call", repeats: true, onRequest: nothing }, /repeats, which only around can do/],
    ["hooks with a question", { name: "a", scope: "call", when: () => true, onRequest: nothing }, /has when, which only around has/],
    ["a question that is no function", { name: "a", scope: "call", when: true, around: nothing }, /has when as a function/],
    ["a name that is none", { name: "a", scope: "call", onRequest: nothing, before: [1] }, /has names of middleware in before/],
    ["a slot that is none", { name: "a", scope: "call", onRequest: nothing, reads: ["user"] }, /has slots in reads/],
    ["slots that are no list", { name: "a", scope: "call", onRequest: nothing, writes: user }, /has slots in writes/],
]) {
    test(`refused when defined: ${what}`, () => {
        const error = thrown(() => middleware(definition));
        assert.equal(error.code, "plan.definition");
        assert.match(error.message, message);
    });
}

for (const [what, when] of [["a promise", async () => true], ["nothing", nothing]]) {
    test(`refused in a run: ${what} in answer to when`, () => {
        const plan = compile([middleware({ name: "a", scope: "call", when, around: (_context, next) => next() })]);
        const error = thrown(() => plan.run({ method: "GET", path: "/", headers: {} }, () => assert.fail()));
        assert.equal(error.code, "result.kind");
        assert.match(error.message, /"a" returned from when .*it takes true or false, at once/);
    });
}

test("two may write a slot if an order is asked for, also through others, or if the run provides it", () => {
    const list = [named("a", { writes: [user] }), named("m", { after: "a", before: "b" }), named("b", { writes: [user] })];
    assert.equal(compile(list).names.join(" "), "a m b");
    assert.deepEqual(compile([named("a", { reads: [user] })], { provides: [user] }).names, ["a"]);
});

test("a definition that is changed later changes no middleware", () => {
    const definition = { name: "a", scope: "call", before: [], onRequest: nothing };
    const made = middleware(definition);
    definition.onRequest = assert.fail;
    definition.before.push("b");
    assert.equal(compile([made]).run(GET, ok), OK);
});

test("one middleware may be part of several plans", () => {
    const a = named("a", { writes: [user] });
    const plans = [compile([a]), compile([named("b", { writes: [slot("other").of()] }), a])];
    for (const plan of plans) assert.equal(plan.run(GET, ok), OK);
});

test("explain prints the plan as a table", () => {
    const plan = compile([attempt("sign", { reads: [user], onComplete: nothing }), retry("retry"), named("session", { before: "retry", writes: [user] })]);
    assert.equal(
        plan.explain(),
        [
            "#  name     scope    runs                  reads  writes  placed by",
            "1  session  call     onRequest             -      user    before retry",
            "2  retry    call     around, repeats       -      -       the list",
            "3  sign     attempt  onRequest onComplete  user   -       the list",
            "4  (send)   attempt",
        ].join("\n"),
    );
});

test("a plan measures each hook by the clock that it is given, without what is inside of next", async () => {
    let now = 0;
    let used = 0;
    const takes = (time, value) => () => ((now += time), (used += time * 10), value);
    const wraps = middleware({
        name: "wrap",
        scope: "call",
        around(_context, next) {
            takes(5)();
            const response = next();
            takes(2)();
            return response;
        },
    });
    const later = Promise.withResolvers?.() ?? {};
    later.promise ??= new Promise((resolve) => (later.resolve = resolve));
    const inner = named("in", { onRequest: takes(3), onResponse: () => later.promise });
    const plan = compile([wraps, inner], { measure: { clock: () => now, bytes: () => used } });
    const run = plan.run(GET, takes(100, OK));
    takes(1000)();
    later.resolve();
    await run;
    assert.deepEqual(plan.measured(), [
        { name: "wrap", hook: "around", calls: 1, time: 7, waited: 1000, timeMax: 7, bytes: 70 },
        { name: "in", hook: "onRequest", calls: 1, time: 3, waited: 0, timeMax: 3, bytes: 30 },
        { name: "in", hook: "onResponse", calls: 1, time: 0, waited: 1002, timeMax: 0, bytes: 0 },
    ]);
    assert.deepEqual(compile([inner]).measured(), []);
});

test("what is measured throws as it does without", () => {
    let now = 0;
    const plan = compile([named("a", { onRequest() { now += 4; throw new Error("mine"); } })], { measure: { clock: () => now } });
    for (let runs = 0; runs < 2; runs++) assert.throws(() => plan.run(GET, ok), { message: "mine" });
    assert.deepEqual(plan.measured(), [{ name: "a", hook: "onRequest", calls: 2, time: 8, waited: 0, timeMax: 4, bytes: 0 }]);
});
