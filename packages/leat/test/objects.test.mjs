// What V8 allocates for a request, held against the committed table: Leat's replies at most as much, and the same program
// on what it replaces at least as much, so that the table stays true from both sides.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { asked, counted, row } from "./counts/table.mjs";
import { onLeat } from "./subject.mjs";

/** Until V8 has optimized what it will. */
const WARM = 12_000;
const COUNTED = 500;

const HTTP = { program: "server.mjs", ours: "leat/http", theirs: "node:http" };
const EXPRESS = { program: "express.mjs", ours: "leat/express", theirs: "express" };

const PATHS = [
    { name: "a handler of `createServer`", ...HTTP, pattern: "/{id}" },
    { name: "Express: `res.json`", ...EXPRESS, pattern: "/json/{id}" },
    { name: "Express: two parameters and a query", ...EXPRESS, pattern: "/params/{id}/posts/four?tag=x" },
    { name: "Express: three middlewares", ...EXPRESS, pattern: "/chain/{id}" },
    { name: "Express: `express.json()`", ...EXPRESS, pattern: "JSON /body/{id}" },
];

const installed = existsSync(new URL("./express/differential/node_modules/express", import.meta.url));
if (!installed) console.log("SKIP objects: Express is not installed; run npm ci in packages/leat/test/express/differential");

const allocated = (path, library) =>
    counted(path.program, [library], async ({ port, ask }) => {
        const load = { connections: 1, pattern: path.pattern };
        await asked(port, load, WARM);
        await ask("sample");
        await asked(port, load, COUNTED);
        const { objects, bytes } = await ask("sampled");
        return { objects: objects / COUNTED, bytes: bytes / COUNTED };
    });

for (const path of PATHS.filter(({ theirs }) => theirs !== "express" || installed)) {
    test(`objects a request: ${path.name}`, { skip: !onLeat && "it is about Leat", timeout: 120_000 }, async (t) => {
        const table = row("What V8 allocates", path.name);
        const ours = await allocated(path, path.ours);
        const theirs = await allocated(path, path.theirs);
        t.diagnostic(JSON.stringify({ ours, theirs }));
        for (const what of ["objects", "bytes"]) {
            assert.ok(ours[what] <= table[`Leat: ${what}`], `${ours[what]} ${what} for each request, the table has ${table[`Leat: ${what}`]} at most`);
            assert.ok(theirs[what] >= table[`theirs: ${what}`], `${theirs[what]} ${what} for each request of ${path.theirs}, the table has ${table[`theirs: ${what}`]} at least`);
        }
    });
}
