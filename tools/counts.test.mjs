import assert from "node:assert/strict";
import { test } from "node:test";
import { close, count, failuresOf, tally } from "./counts.mjs";

const cases = [
    ["cargo totals add up", ["test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured"], 0, [5, 1, 1]],
    ["node totals in TAP form", ["# tests 4", "# pass 3", "# fail 0", "# cancelled 0", "# skipped 1", "# todo 0"], 0, [3, 0, 1]],
    ["node totals in spec form", ["ℹ pass 2", "ℹ fail 1"], 1, [2, 1, 0]],
    ["the plain closing line", ["144 passed, 0 failed, 1 skipped"], 0, [144, 0, 1]],
    ["colours do not hide totals", ["\u001b[34mℹ pass 7\u001b[39m"], 0, [7, 0, 0]],
    ["a program without totals is one test", ["all well"], 0, [1, 0, 0]],
    ["a program that fails without counting is one failure", ["test result: ok. 3 passed; 0 failed; 0 ignored;"], 101, [3, 1, 0]],
    ["a printed skip is counted and is no pass", ["SKIP nginx: not installed"], 0, [0, 0, 1]],
    ["the word in the middle of a line is no skip", ["we SKIP this"], 0, [1, 0, 0]],
];

for (const [name, lines, code, [passed, failed, skipped]] of cases) {
    test(name, () => {
        const into = tally();
        lines.forEach((line) => count(into, line));
        close(into, code);
        assert.deepEqual([into.passed, into.failed, into.skipped], [passed, failed, skipped]);
    });
}

test("what failed is kept for the end", () => {
    const of = (lines, code) => {
        const into = tally();
        lines.forEach((line) => count(into, line));
        return failuresOf(close(into, code));
    };
    assert.deepEqual(of(["✔ one (1ms)", "✖ two (1ms)", "ℹ pass 1", "ℹ fail 1", "", "✖ failing tests:", "", "test at x.mjs:1:1", "✖ two (1ms)"], 1), ["✖ failing tests:", "test at x.mjs:1:1", "✖ two (1ms)"]);
    assert.deepEqual(of(["failures:", "---- a stdout ----", "boom", "test result: FAILED. 0 passed; 1 failed; 0 ignored;", "running 3 tests"], 101), ["failures:", "---- a stdout ----", "boom", "test result: FAILED. 0 passed; 1 failed; 0 ignored;"]);
    assert.deepEqual(of(["ok 1 - one", "not ok 2 - two", "  ---", "  error: 'boom'", "  ...", "ok 3 - three", "# fail 1"], 1), ["not ok 2 - two", "  ---", "  error: 'boom'", "  ..."]);
    assert.deepEqual(of(["differs: x", "3 passed, 1 failed, 0 skipped"], 1), ["differs: x", "3 passed, 1 failed, 0 skipped"]);
    assert.deepEqual(of(["all well"], 0), []);
});
