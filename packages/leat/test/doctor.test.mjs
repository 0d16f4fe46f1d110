// `npx leat doctor`: the command line, and that it says what the addon says. What that says is tested in crates/base/doctor.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { bin, version } = createRequire(import.meta.url)("../package.json");
const CHILD_MS_MAX = 30_000;

/** A folder with apps in it, by their folders' names. */
function folder(t, apps) {
    const path = mkdtempSync(join(tmpdir(), "leat-"));
    t.after(() => rmSync(path, { recursive: true }));
    for (const [name, manifest] of Object.entries(apps)) {
        mkdirSync(join(path, name), { recursive: true });
        writeFileSync(join(path, name, "package.json"), JSON.stringify(manifest));
    }
    return path;
}

function leat(cwd, ...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, bin.leat), ...args], { cwd, encoding: "utf8", timeout: CHILD_MS_MAX });
    return { status, stdout, stderr };
}

const five = { name: "shop", dependencies: { express: "^5.1.0" } };

test("says of the app in this folder what it can write", (t) => {
    const { status, stdout, stderr } = leat(folder(t, { ".": five }), "doctor");
    assert.equal(stderr, "");
    assert.equal(status, 0);
    assert.match(stdout, /^shop \(\.\), Express \^5\.1\.0\n {2}write: import express from "leat\/express"\n/);
});

test("prints JSON of the app in another folder", (t) => {
    const { status, stdout } = leat(folder(t, { "apps/shop": five }), "doctor", "apps/shop", "--json");
    assert.deepEqual(JSON.parse(stdout), { supported: true, apps: [{ folder: ".", name: "shop", express: "^5.1.0", module: "leat/express", packages: [] }] });
    assert.equal(status, 0);
});

test("ends with 1 where something is not supported", (t) => {
    assert.equal(leat(folder(t, { ".": { dependencies: { express: "3" } } }), "doctor").status, 1);
});

for (const [what, args, text] of [
    ["a folder without an app", ["doctor"], /there is no package\.json; write the folder of an app: leat doctor path\/to\/app/],
    ["an unknown command", ["gateway"], /there is no command gateway here; write: leat doctor \[DIR\]/],
    ["an unknown option", ["doctor", "--yaml"], /--yaml/],
    ["two folders", ["doctor", "a", "b"], /one folder at a time; write: leat doctor a\n/],
    ["no command", [], /Usage: leat doctor \[DIR\]/],
]) {
    test(`ends with 2 and says what to write: ${what}`, (t) => {
        const { status, stdout, stderr } = leat(folder(t, {}), ...args);
        assert.match(stderr, text);
        assert.equal(stdout, "");
        assert.equal(status, 2);
    });
}

test("help and version are there", (t) => {
    const cwd = folder(t, {});
    for (const args of [["--help"], ["-h"], ["doctor", "--help"]]) {
        const { status, stdout } = leat(cwd, ...args);
        assert.match(stdout, /leat doctor apps\/web --json/);
        assert.equal(status, 0);
    }
    for (const args of [["version"], ["--version"]]) assert.equal(leat(cwd, ...args).stdout, `leat ${version}\n`);
});

test("a missing addon is told in one sentence", (t) => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, bin.leat), "doctor"], {
        cwd: folder(t, { ".": five }),
        encoding: "utf8",
        timeout: CHILD_MS_MAX,
        env: { ...process.env, LEAT_ADDON: join(root, "nowhere.node") },
    });
    assert.match(stderr, /^leat doctor: LEAT_ADDON names .*nowhere\.node, which is not there/);
    assert.equal(status, 1);
});
