// The tables of docs/reference/crossings.md by their columns, and counted programs as child processes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { start } from "../child.mjs";
import { load } from "../load/generate.mjs";

const PAGE = new URL("../../../../docs/reference/crossings.md", import.meta.url);

/** The row `name` of the table under `heading`, by its columns' names. */
export function row(heading, name) {
    const [, section] = readFileSync(PAGE, "utf8").split(`\n## ${heading}\n`);
    assert.ok(section, `"${heading}" stands in docs/reference/crossings.md`);
    const rows = section
        .split("\n## ", 1)[0]
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
    const cells = rows.find(([first]) => first === name);
    assert.ok(cells, `${name} stands under "${heading}" in docs/reference/crossings.md`);
    return Object.fromEntries(rows[0].slice(1).map((column, index) => [column, Number(cells[index + 1])]));
}

/** Runs `file` with `args` while `use` has its port, its pid and `ask(what)`. */
export async function counted(file, args, use) {
    const child = start(new URL(file, import.meta.url), args, { ipc: true, lifeMs: 110_000 });
    const ask = (what) => {
        child.send(what);
        return child.message(what);
    };
    try {
        return await use({ port: (await child.message("port")).port, pid: child.pid, ask });
    } finally {
        child.send("end");
        await child.exit;
    }
}

/** Asks `requests` times and checks every reply. */
export async function asked(port, { connections, pattern }, requests) {
    const outcome = await load({ port, connections, requests, patterns: [pattern] });
    assert.deepEqual(outcome.wrong, []);
    assert.equal(outcome.answered, requests);
}
