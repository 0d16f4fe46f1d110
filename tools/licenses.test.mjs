import assert from "node:assert/strict";
import { test } from "node:test";
import { allowedIn, problems, satisfied } from "./licenses.mjs";

const allowed = new Set(["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]);

const cases = [
    ["MIT", true],
    ["GPL-3.0", false],
    ["MIT OR GPL-3.0", true],
    ["GPL-3.0 OR MIT", true],
    ["MIT AND GPL-3.0", false],
    ["MIT/Apache-2.0", true],
    ["(GPL-3.0 OR MIT) AND Apache-2.0", true],
    ["MIT AND (GPL-3.0 OR ISC)", false],
    ["Apache-2.0 WITH LLVM-exception", true],
    ["MIT WITH LLVM-exception", false],
    ["", false],
];

for (const [expression, expected] of cases) {
    test(`"${expression}" is ${expected ? "allowed" : "refused"}`, () => assert.equal(satisfied(expression, allowed), expected));
}

test("the list is read from deny.toml's licence table only", () => {
    const text = '[bans]\nallow = ["ring"]\n[licenses]\nversion = 2\nallow = [\n  "MIT",\n  "ISC",\n]\n\n[sources]\nallow = ["x"]\n';
    assert.deepEqual([...allowedIn(text)], ["MIT", "ISC"]);
});

test("a package in the binary with another licence is named", () => {
    const packages = [{ name: "a", source: "registry", license: "GPL-3.0" }, { name: "b", source: "registry", license: "GPL-3.0" }, { name: "ours", source: null, license: null }];
    assert.deepEqual(problems(packages, new Set(["a", "ours"]), allowed).length, 1);
    assert.match(problems(packages, new Set(["a"]), allowed)[0], /^a is licensed under "GPL-3.0"/);
});

test("an empty list is a mistake, not a permission", () => assert.equal(problems([], new Set(), new Set()).length, 1));
