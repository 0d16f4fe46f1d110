// What a request costs in crossings between the engine and JavaScript and in system calls, held against the committed
// table. Counted things: no other load on the machine makes them dearer, it only fills the batches.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { asked, counted, row } from "./counts/table.mjs";
import { onLeat } from "./subject.mjs";
import { within } from "./within.mjs";

/** Requests of a count. */
const COUNTED = 2000;

const HTTP = "server.mjs";
const EXPRESS = "express.mjs";

const PATHS = [
    { name: "GET, one connection", program: HTTP, connections: 1, pattern: "/{id}" },
    { name: "GET, 64 connections", program: HTTP, connections: 64, pattern: "/{id}" },
    { name: "POST in two writes, 64 connections", program: HTTP, connections: 64, pattern: "POST /{id}" },
    { name: "Express: GET of JSON, one connection", program: EXPRESS, connections: 1, pattern: "/json/{id}" },
    { name: "Express: GET of JSON, 64 connections", program: EXPRESS, connections: 64, pattern: "/json/{id}" },
    { name: "Express: three middlewares, 64 connections", program: EXPRESS, connections: 64, pattern: "/chain/{id}" },
    { name: "Express: POST of JSON, 64 connections", program: EXPRESS, connections: 64, pattern: "JSON /body/{id}" },
];

/** Why strace can't be used; undefined where it can. */
function untraceable() {
    const tried = spawnSync("strace", ["-e", "trace=none", "true"], { encoding: "utf8" });
    if (tried.error) return `strace can't be started (${tried.error.code})`;
    return tried.status === 0 ? undefined : `strace may not trace: ${tried.stderr.trim()}`;
}

/** How many system calls all threads of our own child `pid` make meanwhile. */
async function traced(pid, run) {
    const folder = mkdtempSync(join(tmpdir(), "leat-counts-"));
    const out = join(folder, "strace");
    const strace = spawn("strace", ["-f", "-c", "-o", out, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
    try {
        let said = "";
        await within(
            new Promise((resolve) => strace.stderr.on("data", (chunk) => ((said += chunk).includes("attached") ? resolve() : undefined))),
            "strace's word that it has attached",
        );
        await run();
        strace.kill("SIGINT");
        await within(once(strace, "close"), "the end of strace");
        const total = /^.*?(\d+)(?:\s+\d+)?\s+total$/m.exec(readFileSync(out, "utf8"));
        assert.ok(total, "strace's sum");
        return Number(total[1]);
    } finally {
        strace.kill("SIGKILL");
        rmSync(folder, { recursive: true });
    }
}

for (const path of PATHS) {
    test(`crossings and system calls a request: ${path.name}`, { skip: !onLeat && "there is no lane", timeout: 120_000 }, async (t) => {
        const most = row("Crossings and system calls", path.name);
        const reason = untraceable();
        if (reason !== undefined) console.log(`SKIP counts: ${reason}`);
        await counted(path.program, [], async ({ port, pid, ask }) => {
            await asked(port, path, COUNTED);
            const { counts: before } = await ask("counts");
            await asked(port, path, COUNTED);
            const { counts: after } = await ask("counts");
            const each = (name) => (after[name] - before[name]) / COUNTED;
            assert.equal(each("leat_lane_requests_total"), 1);
            const found = { "wake-ups": each("leat_lane_wakes_total"), flushes: each("leat_lane_flushes_total") };
            if (reason === undefined) found["system calls"] = (await traced(pid, () => asked(port, path, COUNTED))) / COUNTED;
            t.diagnostic(JSON.stringify(found));
            for (const [what, count] of Object.entries(found)) {
                assert.ok(count <= most[what], `${count} ${what} for each request, the table has ${most[what]} at most`);
            }
        });
    });
}
