// Checks the corpus itself: form, unique names, known codes. Run: node --test corpus/check.mjs
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const here = new URL(".", import.meta.url);
const REASONS = new URL("../crates/base/message/src/reason.rs", here);
const CASES_MIN = { request: 450, response: 120 };

const CASE_KEYS = ["name", "source", "note", "method", "pieces", "eof", "compatible", "strict"];
const ACCEPT_KEYS = {
    request: ["method", "target", "path", "query", "authority", "version", "fields", "body", "trailers", "keep_alive", "expect_continue", "upgrade"],
    response: ["status", "reason", "version", "fields", "body", "trailers", "keep_alive", "tunnel"],
};
const BOOLEANS = new Set(["keep_alive", "expect_continue", "upgrade", "tunnel"]);
const PAIRS = new Set(["fields", "trailers"]);

/** Every code with its status, as `reason.rs` declares them. */
function reasons() {
    const found = readFileSync(REASONS, "utf8").matchAll(/=> "([a-z0-9_.]+)", (\d+), \w+,/g);
    return new Map([...found].map(([, code, status]) => [code, Number(status)]));
}

function cases(side) {
    const folder = new URL(`h1/${side}/`, here);
    return readdirSync(folder)
        .filter((file) => file.endsWith(".json"))
        .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")).map((one) => ({ file, one })));
}

const isBytes = (text) => typeof text === "string" && [...text].every((char) => char.codePointAt(0) <= 0xff);
const isRepeat = (piece) =>
    piece !== null && typeof piece === "object" && isBytes(piece.repeat) && Number.isInteger(piece.times) && piece.times > 0 && Object.keys(piece).length === 2;
const isPairs = (list) => Array.isArray(list) && list.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isBytes));

function checkAccept(accept, side, where) {
    for (const [key, value] of Object.entries(accept)) {
        assert.ok(ACCEPT_KEYS[side].includes(key), `${where}: "${key}" is not a key of an accepted ${side}`);
        if (BOOLEANS.has(key)) assert.equal(typeof value, "boolean", `${where}: ${key}`);
        else if (PAIRS.has(key)) assert.ok(isPairs(value), `${where}: ${key} is not a list of [name, value]`);
        else if (key === "status") assert.ok(value >= 100 && value <= 599, `${where}: status ${value}`);
        else if (key === "body") assert.ok(isBytes(value) || isRepeat(value), `${where}: body`);
        else if (key === "query") assert.ok(value === null || isBytes(value), `${where}: query`);
        else assert.ok(isBytes(value), `${where}: ${key} is not a string of bytes`);
    }
}

function checkRefuse(entry, side, known, where) {
    const codes = [entry.refuse].flat();
    for (const code of codes) assert.ok(known.has(code), `${where}: no reason has the code ${code}`);
    if (Array.isArray(entry.refuse)) assert.ok(new Set(codes).size === codes.length && codes.length > 1, `${where}: a list of codes names two or more`);
    const statuses = new Set(codes.map((code) => known.get(code)));
    const expected = side === "request" && statuses.size === 1 ? [...statuses][0] : undefined;
    assert.equal(entry.status, expected, `${where}: status of ${codes}`);
}

function checkOutcome(outcome, one, side, known, where) {
    assert.ok(Array.isArray(outcome), `${where}: an outcome is a list`);
    assert.ok(outcome.length > 0 || one.eof, `${where}: an empty outcome needs eof`);
    let last = false;
    for (const entry of outcome) {
        assert.ok(!last, `${where}: an entry behind the one that ends the outcome`);
        const kind = Object.keys(entry)[0];
        const keys = kind === "refuse" && "status" in entry ? ["refuse", "status"] : [kind];
        assert.deepEqual(Object.keys(entry), keys, `${where}: keys of an entry`);
        if (kind === "accept") {
            checkAccept(entry.accept, side, where);
            last = side === "request" && entry.accept.keep_alive === false;
        } else if (kind === "refuse") {
            checkRefuse(entry, side, known, where);
            last = true;
        } else if (kind === "incomplete") {
            assert.ok(entry.incomplete === true && !one.eof, `${where}: incomplete is true, and never with eof`);
            last = true;
        } else {
            assert.ok(kind === "rest" && side === "response" && isBytes(entry.rest) && entry.rest !== "", `${where}: unknown entry ${kind}`);
            last = true;
        }
    }
}

for (const side of ["request", "response"]) {
    test(`every ${side} case is well-formed, and there are enough`, () => {
        const known = reasons();
        assert.ok(known.size > 50, "reason.rs was not understood");
        const all = cases(side);
        assert.ok(all.length >= CASES_MIN[side], `${all.length} ${side} cases, of at least ${CASES_MIN[side]}`);
        for (const { file, one } of all) {
            const where = `${side}/${file}: ${one.name}`;
            for (const key of Object.keys(one)) assert.ok(CASE_KEYS.includes(key), `${where}: unknown key ${key}`);
            assert.match(one.name, /^[a-z0-9_]+(\.[a-z0-9_]+)+$/, where);
            assert.ok(typeof one.source === "string" && one.source.length > 5, `${where}: no source`);
            assert.ok(one.method === undefined || side === "response", `${where}: method belongs to responses`);
            assert.ok(Array.isArray(one.pieces) && one.pieces.every((piece) => (isBytes(piece) && piece !== "") || isRepeat(piece)), `${where}: pieces`);
            assert.ok(one.pieces.length > 0 || one.eof, `${where}: no bytes`);
            for (const profile of ["compatible", "strict"]) checkOutcome(one[profile], one, side, known, `${where} (${profile})`);
        }
    });
}

test("no two cases share a name", () => {
    const seen = new Map();
    for (const side of ["request", "response"]) {
        for (const { file, one } of cases(side)) {
            assert.ok(!seen.has(one.name), `${one.name} stands in ${seen.get(one.name)} and in ${side}/${file}`);
            seen.set(one.name, `${side}/${file}`);
        }
    }
});

test("no two requests are the same bytes", () => {
    const seen = new Map();
    for (const { one } of cases("request")) {
        const bytes = JSON.stringify([one.pieces, one.eof ?? false]);
        assert.ok(!seen.has(bytes), `${one.name} repeats ${seen.get(bytes)}`);
        seen.set(bytes, one.name);
    }
});

test("strict accepts nothing that compatible refuses", () => {
    for (const side of ["request", "response"]) {
        for (const { one } of cases(side)) {
            const accepted = (outcome) => outcome.filter((entry) => "accept" in entry).length;
            assert.ok(accepted(one.strict) <= accepted(one.compatible), one.name);
        }
    }
});
