// The folder of files that programs serve and render.
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFiles } from "./files.mjs";

/** The folder that `t.dir` names; all subjects are given the same, so that it may show. */
export function fixtures() {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leat-express-")));
    writeFiles(folder);
    return folder;
}
