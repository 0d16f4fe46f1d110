import assert from "node:assert/strict";
import { test } from "node:test";
import { cases, compare } from "./report.mjs";

const XML = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="3. Starting" package="generic/3" tests="1">
    <testcase package="generic/3" classname="Sends a &#34;PING&#34; frame" time="0.01"></testcase>
  </testsuite>
  <testsuite name="6.5" package="http2/6.5" tests="3">
    <testcase package="http2/6.5" classname="First" time="0.01"/>
    <testcase package="http2/6.5" classname="Second" time="2"><failure message="x">A &lt;B&gt;&#xA;Timeout</failure></testcase>
    <testcase package="http2/6.5" classname="Third" time="0"><skipped></skipped></testcase>
  </testsuite>
</testsuites>`;

test("a report gives every case an id, a title and an outcome", () => {
    assert.deepEqual(cases(XML), [
        { id: "generic/3/1", title: 'Sends a "PING" frame', outcome: "passed", detail: "" },
        { id: "http2/6.5/1", title: "First", outcome: "passed", detail: "" },
        { id: "http2/6.5/2", title: "Second", outcome: "failed", detail: "A <B>\nTimeout" },
        { id: "http2/6.5/3", title: "Third", outcome: "skipped", detail: "" },
    ]);
});

const known = { "http2/6.5/2": "why", "http2/6.5/3": "why" };
const tables = [
    ["failures and skips that are not listed", {}, 2, 0, 2],
    ["all listed", known, 2, 2, 0],
    ["a listed case that passes", { ...known, "http2/6.5/1": "was broken" }, 1, 2, 1],
    ["a listed case that does not exist", { ...known, "http2/9/9": "gone" }, 2, 2, 1],
];
for (const [name, skips, passed, listed, failures] of tables) {
    test(`compared with the list: ${name}`, () => {
        const result = compare(cases(XML), skips);
        assert.deepEqual([result.passed, result.known.length, result.failures.length], [passed, listed, failures]);
    });
}

test("an empty report is a failure", () => assert.equal(compare([], {}).failures.length, 1));
