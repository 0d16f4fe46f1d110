// The words of the lane's records stand in two sources, Rust's and TypeScript's. They are compared here by name, as they are
// written, so that one that is only on one side, or that says something else there, is found.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../../", import.meta.url);

const source = (path) => readFileSync(new URL(path, ROOT), "utf8");

/** What a constant's text comes to: numbers, in either language's spelling, and products of them. */
function value(text) {
    const factors = text.split("*").map((factor) => factor.trim().replaceAll("_", ""));
    assert.ok(factors.every((factor) => /^(\d+|0x[\da-f]+)$/i.test(factor)), `not a number: ${text}`);
    return factors.reduce((product, factor) => product * Number(factor), 1);
}

/** Rust's constants: `module::NAME` inside of a module, `NAME` outside. Where loom has a number of its own, the usual one. */
function rustConstants(text) {
    const found = new Map();
    let module = "";
    for (const line of text.split("\n")) {
        module = /^pub\(crate\) mod (\w+) \{/.exec(line)?.[1] ?? (line === "}" ? "" : module);
        const constant = /^\s*(?:pub(?:\(crate\))? )?const (\w+): \w+ = (?:if cfg!\(feature = "loom"\) \{ \d+ \} else \{ (.+) \}|(.+));/.exec(line);
        if (constant) found.set(module ? `${module}::${constant[1]}` : constant[1], value(constant[2] ?? constant[3]));
    }
    return found;
}

function scriptConstants(text) {
    return new Map([...text.matchAll(/^(?:export )?const (\w+) = (\d[\w* ]*);/gm)].map(([, name, number]) => [name, value(number)]));
}

/** Rust's name of what has no name of the same form on the other side. */
const OTHERWISE = {
    DATA_OWN_SLAB: "data::OWN_SLAB",
    LAST: "reply::END",
    KEEP: "reply::KEEP_ALIVE",
    BY_RESET: "cut::RESET",
    ACK: "reply::ACK",
    INTERIM: "reply::INTERIM",
    READS_ON: "reply::READS_ON",
    OUT_WORDS: "REPLY_WORDS",
    REQUEST_FIELDS_AT: "REQUEST_WORDS",
    END_FIELDS_AT: "END_WORDS",
    RESPONSE_FIELDS_AT: "RESPONSE_WORDS",
    RESPONSE_WHOLE: "response::WHOLE",
    CALL_STREAM: "call::STREAM",
    CALL_LINES_SHIFT: "call::LINES_SHIFT",
    FIELD_WORDS: "FIELD_WORDS",
    CREDIT_BYTES: "CREDIT_BYTES",
};

/** What the engine need not know, and why. */
const ONLY_SCRIPT = new Set([
    "RAW", // Raw bytes are copied as all others are.
    // Places of words, which the engine writes one behind the other.
    "PART_TOTAL_AT",
    "PART_PLACE_AT",
    "PART_BYTES_AT",
]);

/** Rust's name of a constant of `records.ts`. */
function rustName(name, rust) {
    if (name in OTHERWISE) return OTHERWISE[name];
    if (name.startsWith("OUT_")) return `from_script::${name.slice(4)}`;
    if (name.startsWith("FAILURE_")) return `failure::${name.slice(8)}`;
    if (name.startsWith("OPEN_")) return `connection::${name.slice(5)}`;
    return rust.has(`to_script::${name}`) ? `to_script::${name}` : `request::${name}`;
}

/** Constants of Rust that speak of memory and limits, not of records: compared below, where there is something to compare. */
const LIMITS = new Set(["SLAB_BYTES", "SLABS_MAX", "BODIES_MAX", "BODY_BYTES_MIN", "HEAD_BYTES_MAX", "TRAILER_BYTES_MAX", "FIELDS_MAX", "CREDIT_BYTES"]);

const record = rustConstants(source("crates/handle/script/src/record.rs"));
const records = scriptConstants(source("packages/leat/src/native/records.ts"));

test("every word of records.ts is Rust's", () => {
    assert.ok(records.size > 30, "the constants are found");
    for (const [name, number] of records) {
        if (ONLY_SCRIPT.has(name)) continue;
        const other = rustName(name, record);
        assert.equal(record.get(other), number, `${name} and ${other}`);
    }
});

test("every word of record.rs is TypeScript's", () => {
    const known = new Set([...records.keys()].filter((name) => !ONLY_SCRIPT.has(name)).map((name) => rustName(name, record)));
    assert.deepEqual([...record.keys()].filter((name) => !known.has(name) && !LIMITS.has(name)), []);
});

test("words and flags of one kind are told apart", () => {
    for (const [module, isFlag] of [["to_script", false], ["from_script", false], ["failure", false], ["request", true], ["connection", true], ["reply", true]]) {
        const numbers = [...record].filter(([name]) => name.startsWith(`${module}::`)).map(([, number]) => number);
        assert.equal(new Set(numbers).size, numbers.length, module);
        if (isFlag) assert.ok(numbers.every((number) => Number.isInteger(Math.log2(number))), module);
    }
    // RAW shares its word with the flags of replies.
    assert.ok([...record].every(([name, number]) => !name.startsWith("reply::") || (number & records.get("RAW")) === 0));
});

test("the memory that is lent is what the engine takes", () => {
    const lane = scriptConstants(source("packages/leat/src/native/lane.ts"));
    const slab = scriptConstants(source("packages/leat/src/native/slab.ts"));
    const port = rustConstants(source("crates/host/node/src/port.rs"));
    assert.equal(lane.get("LENT_BYTES_MIN"), port.get("LENT_BYTES_MIN"));
    assert.equal(slab.get("SLAB_BYTES"), record.get("SLAB_BYTES"));
    assert.ok(lane.get("SLABS") >= 2 && lane.get("SLABS") <= record.get("SLABS_MAX"), "SLABS");
    assert.equal(lane.get("BODIES"), record.get("BODIES_MAX"));
    assert.ok(lane.get("BODY_BYTES") >= record.get("BODY_BYTES_MIN"), "BODY_BYTES");
});
