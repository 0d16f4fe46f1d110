import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, failures, passes } from "./results.mjs";

const TAP = `TAP version 13
# Subtest: outer
    # Subtest: inner
    not ok 1 - inner
    # Subtest: other
    ok 2 - other
    1..2
not ok 1 - outer
# Subtest: fine
ok 2 - fine
# Subtest: alone
not ok 3 - alone
# Subtest: later
not ok 4 - later # TODO
# pass 1
# fail 2`;

test("a nested failure stands for the tests around it, and one that is to be done is none", () => {
    assert.deepEqual(failures(TAP), ["outer > inner", "alone"]);
    assert.equal(passes(TAP), 1);
});

test("the list must be true", () => {
    const known = { "a: one": "why", "a: two": "why", "b: three": "why" };
    assert.deepEqual(compare(["a: one", "a: new"], known, ["a"]), { wrong: ["a: new", "a: two: passes, or is not there; take it off the list"], known: ["a: one"] });
});
