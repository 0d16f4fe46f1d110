// The files that programs serve: a copy of fixtures/ with times that don't depend on the checkout, and what is too large to keep.
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const KEPT = fileURLToPath(new URL("fixtures", import.meta.url));
const MODIFIED = new Date("2020-01-02T03:04:05.678Z");
const LARGE_BYTES = 300_000;

/** The folder that `t.dir` names; all subjects are given the same, so that it may show. */
export function fixtures() {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leat-express-")));
    cpSync(KEPT, folder, { recursive: true });
    mkdirSync(join(folder, "static"), { recursive: true });
    writeFileSync(join(folder, "static", "large.bin"), Uint8Array.from({ length: LARGE_BYTES }, (_, at) => at % 251));
    age(folder);
    return folder;
}

function age(path) {
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) age(join(path, name));
    utimesSync(path, MODIFIED, MODIFIED);
}
