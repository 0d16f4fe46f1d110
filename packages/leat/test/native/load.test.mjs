// Which addon is loaded on which host, and what is said where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "../../dist/native/load.js";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
const CHILD_MS_MAX = 20_000;

const linux = { platform: "linux", arch: "x64", libc: () => "gnu", node: "20.20.2", napi: "9" };
const fits = { version: () => manifest.version };

function files({ opened = fits, error, exists = true, override } = {}) {
    const asked = [];
    const open = (path) => {
        asked.push(path);
        if (error) throw error;
        return opened;
    };
    return { root, override, exists: () => exists, open, asked };
}

function nodeError(code, message = "") {
    return Object.assign(new Error(message), { code });
}

const found = [
    ["Linux with glibc", {}, {}, "native/leat.linux-x64-gnu.node"],
    ["Linux whose C library is not known", { libc: () => "unknown" }, {}, "native/leat.linux-x64-gnu.node"],
    ["Linux with musl, where somebody built an addon", { libc: () => "musl" }, {}, "native/leat.linux-x64-musl.node"],
    ["another processor, where somebody built an addon", { arch: "arm64" }, {}, "native/leat.linux-arm64-gnu.node"],
    ["a system with one C library", { platform: "darwin", arch: "arm64", libc: () => assert.fail("asked") }, {}, "native/leat.darwin-arm64.node"],
    ["a later Node", { node: "26.10.0", napi: "10" }, {}, "native/leat.linux-x64-gnu.node"],
];

for (const [name, host, options, path] of found) {
    test(`loads on ${name}`, () => {
        const at = files(options);
        assert.equal(load({ ...linux, ...host }, at), fits);
        assert.deepEqual(at.asked, [`${root}/${path}`]);
    });
}

test("LEAT_ADDON names another file", () => {
    const at = files({ override: "/elsewhere/libleat_node.so" });
    assert.equal(load(linux, at), fits);
    assert.deepEqual(at.asked, ["/elsewhere/libleat_node.so"]);
});

const absent = { error: nodeError("ERR_DLOPEN_FAILED", "cannot open shared object file"), exists: false };
const refused = [
    ["Node 18", { node: "18.20.8", napi: "9" }, {}, "LEAT_UNSUPPORTED_NODE", /20\.3 or newer, and this is 18\.20\.8.*install a newer Node\.js, or stay with node:http/],
    ["the first of Node 20", { node: "20.0.0", napi: "8" }, {}, "LEAT_UNSUPPORTED_NODE", /this is 20\.0\.0/],
    ["a lost file", {}, absent, "LEAT_ADDON_MISSING", /linux-x64-gnu is not at .*native\/leat\.linux-x64-gnu\.node: install the package again, or run `make build`/],
    ["LEAT_ADDON that names nothing", {}, { ...absent, override: "/nowhere.so" }, "LEAT_ADDON_MISSING", /LEAT_ADDON names \/nowhere\.so/],
    ["Alpine", { libc: () => "musl" }, absent, "LEAT_UNSUPPORTED_PLATFORM", /no addon for linux-x64-musl, only for linux-x64-gnu: .*linked with musl.*node:22-slim.*stay with node:http/],
    ["another processor", { arch: "arm64" }, absent, "LEAT_UNSUPPORTED_PLATFORM", /no addon for linux-arm64-gnu, .*`make build`/],
    ["macOS", { platform: "darwin", arch: "arm64" }, absent, "LEAT_UNSUPPORTED_PLATFORM", /no addon for darwin-arm64, /],
    ["Windows", { platform: "win32" }, absent, "LEAT_UNSUPPORTED_PLATFORM", /no addon for win32-x64, .*stay with node:http/],
    ["Node with --no-addons", {}, { error: nodeError("ERR_DLOPEN_DISABLED") }, "LEAT_ADDON_REFUSED", /without --no-addons, with --allow-addons/],
    ["a C library that is too old", {}, { error: nodeError("ERR_DLOPEN_FAILED", "version `GLIBC_2.99' not found") }, "LEAT_ADDON_FAILED", /could not be loaded \(version `GLIBC_2\.99' not found\): build it/],
    ["something thrown that is no error", {}, { error: "odd" }, "LEAT_ADDON_FAILED", /\(odd\)/],
    ["an addon of another version", {}, { opened: { version: () => "0.0.9" } }, "LEAT_ADDON_MISMATCH", /has version 0\.0\.9 and the package \d/],
];

for (const [name, host, options, code, message] of refused) {
    test(`refuses ${name}`, () => {
        const at = files(options);
        assert.throws(
            () => load({ ...linux, ...host }, at),
            (error) => {
                assert.ok(error instanceof Error);
                assert.equal(error.name, "AddonError");
                assert.equal(error.code, code);
                assert.match(error.message, message);
                if (code === "LEAT_ADDON_FAILED" || code === "LEAT_ADDON_REFUSED") assert.equal(error.cause, options.error);
                return true;
            },
        );
        if (code === "LEAT_UNSUPPORTED_NODE") assert.deepEqual(at.asked, [], "a Node that is too old is not made to load anything");
    });
}

test("a real Node that loads no addons says so", () => {
    const program = `require(${JSON.stringify(`${root}/dist/native/load.js`)}).addon()`;
    const { status, stderr } = spawnSync(process.execPath, ["--no-addons", "-e", program], { encoding: "utf8", timeout: CHILD_MS_MAX });
    assert.equal(status, 1);
    assert.match(stderr, /LEAT_ADDON_REFUSED/);
});
