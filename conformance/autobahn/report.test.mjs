import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./report.mjs";

const row = (behavior, behaviorClose = "OK") => ({ behavior, behaviorClose });
const report = { "1.1.1": row("OK"), "5.1": row("NON-STRICT"), "7.1": row("OK", "INFORMATIONAL"), "6.1": row("FAILED"), "7.2": row("OK", "UNCLEAN") };

const tables = [
    ["nothing listed", {}, [3, 0, 2]],
    ["all listed", { "6.1": "why", "7.2": "why" }, [3, 2, 0]],
    ["a listed case that passes", { "6.1": "why", "7.2": "why", "1.1.1": "why" }, [2, 2, 1]],
    ["a listed case that was not run", { "6.1": "why", "7.2": "why", "9.9": "why" }, [3, 2, 1]],
];
for (const [name, known, expected] of tables) {
    test(name, () => {
        const result = compare(report, known);
        assert.deepEqual([result.passed, result.known.length, result.failures.length], expected);
    });
}

test("an empty report is a failure", () => assert.equal(compare({}, {}).failures.length, 1));
