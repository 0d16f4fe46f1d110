import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { majors, nodes, pathOf } from "./nodes.mjs";

const { versions } = JSON.parse(readFileSync(new URL("nodes.json", import.meta.url), "utf8"));
const running = Number.parseInt(process.versions.node, 10);

test("the running Node stands for its own major version", () => {
    assert.equal(pathOf(running), process.execPath);
    if (majors.includes(running)) assert.deepEqual(nodes().find(({ major }) => major === running), { major: running, path: process.execPath });
});

test("what can be run is listed oldest first", () => {
    const found = nodes().map(({ major }) => major);
    assert.deepEqual(found, [...found].sort((a, b) => a - b));
});

test("each version is pinned exactly, with its hash", () => {
    for (const major of majors) {
        assert.match(versions[major].version, new RegExp(`^${major}\\.\\d+\\.\\d+$`));
        assert.match(versions[major].integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
    }
});

test("the package's oldest Node is tested", () => {
    const { engines } = JSON.parse(readFileSync(new URL("../packages/leat/package.json", import.meta.url), "utf8"));
    assert.equal(engines.node, `>=${majors[0]}`);
});
