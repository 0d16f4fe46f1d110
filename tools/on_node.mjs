// Runs tests on another major version of Node.js than the running one: `node tools/on_node.mjs 24 FILE…`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { majors, pathOf } from "./nodes.mjs";

const [major, ...files] = process.argv.slice(2);
if (!majors.includes(Number(major)) || files.length === 0) {
    console.error(`usage: node tools/on_node.mjs ${majors.join("|")} FILE…`);
    process.exit(2);
}

const node = pathOf(Number(major));
if (existsSync(node)) {
    // The stage that runs this has a limit in time, and ends what this started.
    const { status, error } = spawnSync(node, ["--test", ...files], { stdio: ["ignore", "inherit", "inherit"] });
    if (error) console.error(`${node}: ${error.message}`);
    process.exitCode = status ?? 1;
} else {
    console.log(`SKIP node ${major}: not installed; run: node tools/nodes.mjs`);
}
