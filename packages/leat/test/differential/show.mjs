// Prints what cases show on a target, without judging: `node show.mjs TARGET [TEXT]`, cases picked by a part of their names.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificate } from "../../../../conformance/certificate.mjs";
import { mistakes } from "./compare.mjs";
import { run } from "./run.mjs";
import { table } from "./table.mjs";

const [, , target = "node", picked = ""] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "leat-differential-"));
const names = [...table.keys()].filter((name) => name.includes(picked));
for (const [name, result] of await run(table, names, target, certificate(folder))) {
    console.log(`\n# ${name}`);
    for (const line of result.log) console.log(`  ${line}`);
    for (const { bytes, end } of result.connections) console.log(`  < ${JSON.stringify(bytes.length > 700 ? `${bytes.slice(0, 700)}… ${bytes.length}` : bytes)} ${end}`);
    for (const mistake of mistakes(result, table.get(name))) console.log(`  ! ${mistake}`);
}
rmSync(folder, { recursive: true });
