// Reads the totals that test programs print, line by line, whoever printed them.

/**
 * A fresh tally. `skips` holds the printed `SKIP what: reason` lines; `failures` what Cargo and Node say of the tests that
 * failed, in a section of its own, at most `FAILURE_LINES_MAX` lines; `last` the newest lines, for programs without one.
 */
export const tally = () => ({ passed: 0, failed: 0, skipped: 0, skips: [], seen: false, failures: [], inFailures: false, last: [] });

const FAILURE_LINES_MAX = 120;
const LAST_LINES_MAX = 20;

const CARGO = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/;
const NODE = /^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$/;
const PLAIN = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;
const NODE_FIELD = { pass: "passed", fail: "failed", cancelled: "failed", skipped: "skipped", todo: "skipped" };
const FAILURES = /^(?:✖ failing tests:|failures:|\s*not ok \d+ .*)$/;
const TAP_DETAILS_END = /^\s*\.\.\.$/;
const COLOUR = /\u001b\[[0-9;]*m/g;

/** Adds what one line of output says to `into`. */
export function count(into, line) {
    const text = line.replace(COLOUR, "").trimEnd();
    remember(into, text);
    if (text.startsWith("SKIP ")) {
        into.skips.push(text);
        into.skipped += 1;
        return;
    }
    const row = CARGO.exec(text) ?? PLAIN.exec(text);
    if (row) {
        into.passed += Number(row[1]);
        into.failed += Number(row[2]);
        into.skipped += Number(row[3]);
        into.seen = true;
        into.inFailures = false;
        return;
    }
    const node = NODE.exec(text);
    if (node) {
        into[NODE_FIELD[node[1]]] += Number(node[2]);
        into.seen = true;
    }
}

function remember(into, text) {
    into.last.push(text);
    if (into.last.length > LAST_LINES_MAX) into.last.shift();
    if (FAILURES.test(text)) into.inFailures = true;
    if (into.inFailures && text !== "" && into.failures.length < FAILURE_LINES_MAX) into.failures.push(text);
    if (TAP_DETAILS_END.test(text)) into.inFailures = false;
}

/** What was said of the failures of an ended tally; nothing when there were none. */
export function failuresOf({ failed, failures, last }) {
    if (failed === 0) return [];
    return failures.length > 0 ? failures : last;
}

/**
 * Ends a tally with the program's exit code: a program without totals is one test unless it only sets things up, and a
 * program that failed without counting a failure (it did not compile, it crashed) is one failure.
 */
export function close(into, code, setup = false) {
    if (!setup && !into.seen && code === 0 && into.skipped === 0) into.passed += 1;
    if (code !== 0 && into.failed === 0) into.failed += 1;
    return into;
}
