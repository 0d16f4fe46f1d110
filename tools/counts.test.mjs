import assert from "node:assert/strict";
import { test } from "node:test";
import { close, count, tally } from "./counts.mjs";

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
