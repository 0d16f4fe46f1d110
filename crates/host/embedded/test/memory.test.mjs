// What a process holds does not grow with the requests that it has answered. A million of them: `make bench ONLY=run-million-get`.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { folder, start } from "./started.mjs";

const CONNECTIONS = 20;
/** Until buffers, layouts and pages of code that serving needs are there. */
const WARM = 20_000;
const REQUESTS = 100_000;
/** A reference that each request would leave behind is 16 bytes at the least: 1.6 MB. */
const GROWTH_KB_MAX = 1_400;
/** After this the pages of the start are let go, which is no growth. */
const SETTLED_MS = 1_500;

const APP = `
const express = require("express");
const app = express();
app.get("/", (request, response) => { response.json({ hello: "world" }); });
app.post("/", express.json(), (request, response) => { response.json(request.body); });
app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

const many = fileURLToPath(new URL("../../../../bench/load/many.mjs", import.meta.url));
const run = promisify(execFile);

const residentKb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

for (const [name, json] of [["GET", []], ["POST of JSON", ['{"name":"leat","kind":"channel","length":42}']]]) {
    test(`${REQUESTS} requests (${name}) leave nothing behind`, { timeout: 300_000, skip: process.platform !== "linux" && "memory is read from /proc" }, async (t) => {
        const program = start(t, folder(t, { "app.cjs": APP }), ["app.cjs"]);
        const port = await program.port();
        await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
        const ask = async (requests) => {
            const { stdout } = await run(process.execPath, [many, String(port), "/", String(CONNECTIONS), String(requests), ...json]);
            assert.equal(JSON.parse(stdout).requests, requests);
            return residentKb(program.child.pid);
        };
        const before = await ask(WARM);
        const after = await ask(REQUESTS);
        t.diagnostic(`${before} kB after ${WARM}, ${after} kB after ${REQUESTS} more`);
        assert.ok(after - before < GROWTH_KB_MAX, `${after - before} kB grown: ${before} kB, then ${after} kB`);
    });
}
