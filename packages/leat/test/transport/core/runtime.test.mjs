// Below the Node.js that undici runs on, one sentence says so.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const CHILD_MS_MAX = 30_000;
const PACKAGE = fileURLToPath(new URL("../../..", import.meta.url));

/** What loading `entry` says on a Node.js that calls itself `version`. */
function loaded(entry, version) {
    const code = `Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} }); try { require(${JSON.stringify(entry)}); console.log("fine"); } catch (error) { console.log(error.code + ": " + error.message); }`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", code], { cwd: PACKAGE, encoding: "utf8", timeout: CHILD_MS_MAX });
    assert.equal(status, 0, stderr);
    return stdout.trim();
}

for (const version of ["20.0.0", "20.18.0", "19.99.99"]) {
    test(`${version} is refused`, () => {
        assert.equal(loaded("leat/transport", version), `LEAT_NODE_TOO_OLD: leat/transport runs on Node.js 20.18.1 and newer, and this is ${version}; take the last Node.js 20, or a newer one`);
    });
}

for (const version of ["20.18.1", "20.19.0", "22.0.0", process.versions.node]) {
    test(`${version} is taken`, () => assert.equal(loaded("leat/transport", version), "fine"));
}

test("what needs no undici runs on older ones", () => assert.equal(loaded("leat/middleware", "20.0.0"), "fine"));
