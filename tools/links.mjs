// Finds links of a Markdown page to files of this repository that are not there.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** What is wrong in the page at `path` below `root`, one `path:line: sentence` each. Links into the web are not followed. */
export function problems(root, path, text) {
    const found = [];
    let fenced = false;
    text.split("\n").forEach((line, at) => {
        if (/^\s*```/.test(line)) fenced = !fenced;
        if (fenced) return;
        for (const [, target] of line.matchAll(/\]\(([^)\s]+)\)/g)) {
            const file = target.replace(/#.*$/, "");
            if (file === "" || /^[a-z]+:/.test(file)) continue;
            if (!existsSync(join(root, dirname(path), file))) found.push(`${path}:${at + 1}: there is no ${file}`);
        }
    });
    return found;
}
