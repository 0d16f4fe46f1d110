// How the C library of a program is told.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { libcOf, platformOf, thisHost } from "../../dist/native/host.js";

const cases = [
    ["glibc on x64", "\x7fELF\x02\x01\x01\0\0/lib64/ld-linux-x86-64.so.2\0", "gnu"],
    ["glibc on arm64", "\x7fELF\0/lib/ld-linux-aarch64.so.1\0", "gnu"],
    ["musl on x64", "\x7fELF\0/lib/ld-musl-x86_64.so.1\0", "musl"],
    ["musl on arm64", "\x7fELF\0/lib/ld-musl-aarch64.so.1\0", "musl"],
    ["a program without interpreter", "\x7fELF\0\0\0", "unknown"],
    ["an empty file", "", "unknown"],
    ["an interpreter named far behind the headers", `\x7fELF${"\0".repeat(8192)}/lib/ld-musl-x86_64.so.1\0`, "unknown"],
];

for (const [name, text, libc] of cases) {
    test(name, (t) => {
        const folder = mkdtempSync(join(tmpdir(), "leat-"));
        t.after(() => rmSync(folder, { recursive: true }));
        const program = join(folder, "node");
        writeFileSync(program, text, "latin1");
        assert.equal(libcOf(program), libc);
    });
}

test("a program that cannot be read", () => assert.equal(libcOf("/nowhere/node"), "unknown"));

test("this Node's own library is the one that its report names", { skip: process.platform !== "linux" && "not Linux" }, () => {
    process.report.excludeNetwork = true;
    const { glibcVersionRuntime } = process.report.getReport().header;
    assert.equal(libcOf(process.execPath), glibcVersionRuntime === undefined ? "musl" : "gnu");
    assert.match(platformOf(thisHost()), glibcVersionRuntime === undefined ? /-musl$/ : /-gnu$/);
});
