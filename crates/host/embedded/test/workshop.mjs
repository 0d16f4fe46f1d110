// A folder for one file of tests, which goes with them, and programs that are run in it to their end.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";

export const RUN_MS_MAX = 30_000;

/** `folder(name, files)` makes a folder with these files; `run(program, args)` gives `{ status, stdout, stderr }`. */
export function workshop(prefix) {
    const root = mkdtempSync(join(tmpdir(), prefix));
    test.after(() => rmSync(root, { recursive: true, force: true }));
    return {
        root,
        folder(name, files) {
            const path = join(root, name);
            for (const [file, text] of Object.entries(files)) {
                mkdirSync(dirname(join(path, file)), { recursive: true });
                writeFileSync(join(path, file), text);
            }
            return path;
        },
        run(program, args, { env = {}, cwd = root } = {}) {
            const { status, stdout, stderr } = spawnSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8", timeout: RUN_MS_MAX });
            return { status, stdout, stderr };
        },
    };
}
