// The table that `leat doctor` reads, and what must be true of it.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const file = fileURLToPath(new URL("../../packages/leat/src/doctor/middleware.json", import.meta.url));
export const table = JSON.parse(readFileSync(file, "utf8"));

const VERDICTS = new Set(["drop-in", "register", "unsupported"]);
const ROWS = ["express5", "express4"];

/** Writes the versions anew, and a row for what has none; a verdict and its words are for people to write. */
export function update(versions, exercised) {
    for (const row of ROWS) {
        for (const name of exercised[row]) {
            const entry = (table[name] ??= {});
            const { verdict = "drop-in", why } = entry[row] ?? {};
            entry[row] = { version: versions[row][name], verdict, ...(why && { why }) };
        }
    }
    const sorted = Object.keys(table).sort().map((name) => [name, table[name]]);
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 4)}\n`);
}

/** What is wrong with it, given the `versions` that each project installs and the packages that its suites `exercised`. */
export function problems(versions, exercised, rows = table) {
    const found = [];
    const names = Object.keys(rows);
    if (names.join() !== [...names].sort().join()) found.push("its packages are not in order");
    for (const [name, entry] of Object.entries(rows)) {
        for (const row of ROWS) if (entry[row]) found.push(...rowProblems(`${name}, ${row}`, entry, entry[row], versions[row][name], exercised[row].has(name)));
        if (!ROWS.some((row) => entry[row])) found.push(`${name}: no row`);
    }
    return found;
}

function rowProblems(what, entry, { version, verdict, why, ...rest }, installed, ran) {
    const found = [];
    if (!VERDICTS.has(verdict)) found.push(`${what}: no verdict ${verdict}`);
    if (version !== installed) found.push(`${what}: says version ${version}, but ${installed} was run`);
    if (!ran) found.push(`${what}: no suite exercised it`);
    if (verdict !== "drop-in" && !why) found.push(`${what}: "${verdict}" needs a why`);
    if (verdict === "unsupported" && !entry.instead) found.push(`${what}: "unsupported" needs what to use instead`);
    for (const name of Object.keys(rest)) found.push(`${what}: no field ${name}`);
    return found;
}
