const assert = require("assert");
const strict = require("assert/strict");
const tries = {
    ok: () => assert.ok(0),
    plain: () => assert(false),
    message: () => assert(false, "said"),
    error: () => assert.ok(null, new TypeError("own")),
    none: () => assert.ok(),
    equal: () => assert.equal(1, 2),
    equalOk: () => assert.equal(1, "1"),
    notEqual: () => assert.notEqual(1, 1),
    strictEqual: () => assert.strictEqual(1, 2),
    strictNaN: () => assert.strictEqual(NaN, NaN),
    strictText: () => assert.strictEqual("a long text that does not fit", "another long text"),
    notStrictEqual: () => assert.notStrictEqual(1, 1),
    deepOk: () => assert.deepStrictEqual({ a: [1, { b: new Map([[1, new Set([2])]]) }] }, { a: [1, { b: new Map([[1, new Set([2])]]) }] }),
    deepLoose: () => assert.deepEqual({ a: 1 }, { a: "1" }),
    deepLooseFails: () => assert.deepEqual({ a: 1 }, { a: 2 }),
    notDeepLoose: () => assert.notDeepEqual({ a: 1 }, { a: 1 }),
    notDeepStrict: () => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }),
    sameShape: () => strict.equal([1], [1]),
    fail: () => assert.fail(),
    failSaid: () => assert.fail("why"),
    throwsNot: () => assert.throws(() => {}),
    throwsNotSaid: () => assert.throws(() => {}, TypeError, "it should"),
    throwsOk: () => assert.throws(() => { throw new TypeError("x"); }, TypeError),
    throwsRegexp: () => assert.throws(() => { throw new TypeError("x"); }, /y/),
    throwsClass: () => assert.throws(() => { throw new TypeError("x"); }, RangeError),
    throwsObject: () => assert.throws(() => { throw Object.assign(new TypeError("x"), { code: "C" }); }, { name: "TypeError", message: /x/, code: "C" }),
    throwsFunction: () => assert.throws(() => { throw new TypeError("x"); }, (error) => error.message === "x"),
    doesNotThrow: () => assert.doesNotThrow(() => { throw new Error("unwanted"); }, "said"),
    ifError: () => assert.ifError(new Error("err")),
    ifErrorOk: () => assert.ifError(null),
    match: () => assert.match("abc", /x/),
    doesNotMatch: () => assert.doesNotMatch("abc", /b/),
    wrong: () => assert.throws("text"),
    missing: () => assert.equal(1),
    strictEqualNames: () => strict.deepEqual(1, 2),
};
for (const [name, run] of Object.entries(tries)) {
    try {
        run();
        console.log(name, "holds");
    } catch (error) {
        console.log(name, error.name, error.code, error.operator, error.generatedMessage, error instanceof assert.AssertionError);
        console.log(error.message);
    }
}
(async () => {
    for (const run of [() => assert.rejects(Promise.resolve(1)), () => assert.rejects(Promise.reject(new Error("x")), /x/), () => assert.rejects(async () => { throw new Error("y"); }, { message: "z" }).catch((error) => { throw new Error(error.code); }), () => assert.doesNotReject(Promise.reject(new Error("q"))), () => assert.rejects(5)]) {
        try {
            await run();
            console.log("holds");
        } catch (error) {
            console.log(error.name, error.code, error.message);
        }
    }
})();
