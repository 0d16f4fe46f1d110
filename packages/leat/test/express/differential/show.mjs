// Prints what cases show on a subject, without judging: `node show.mjs SUBJECT [TEXT]`, cases picked by a part of their names, slowest last.
import { rmSync } from "node:fs";
import { fixtures } from "./fixtures.mjs";
import { mistakes } from "./mistakes.mjs";
import { run } from "./run.mjs";
import { table } from "./table.mjs";

const SHOWN_MAX = 1500;
const [, , subject = "reference", picked = ""] = process.argv;
const folder = fixtures();
const names = [...table.keys()].filter((name) => name.includes(picked));
const results = await run(names, subject, folder);
rmSync(folder, { recursive: true });
const slowest = [...names].sort((a, b) => results.get(a).ms - results.get(b).ms);
for (const name of slowest) {
    const result = results.get(name);
    console.log(`\n# ${name} (${Math.round(result.ms)} ms)`);
    for (const line of result.log) console.log(`  ${line}`);
    for (const { bytes } of result.connections) for (const line of bytes.slice(0, SHOWN_MAX).split("\r\n")) console.log(`  < ${line}`);
    for (const line of [...result.unmet, ...mistakes(result, table.get(name))]) console.log(`  ! ${line}`);
}
