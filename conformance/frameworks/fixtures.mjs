// Files to serve, made once per process: their time and size are part of what is compared.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIB, bytesOf } from "./bytes.mjs";

export const folder = mkdtempSync(join(tmpdir(), "leat-frameworks-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Three files: a page, an empty one, and one of 3 MiB. */
export const files = { "index.html": Buffer.from("<!doctype html><title>leat</title>\n"), "empty.txt": Buffer.alloc(0), "large.bin": bytesOf(3 * MIB) };

for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
}
