// What a request costs in crossings between the engine and JavaScript and in system calls, held against the committed
// table. Counted things: no other load on the machine makes them dearer, it only fills the batches.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { start } from "./child.mjs";
import { load } from "./load/generate.mjs";
import { onLeat } from "./subject.mjs";
import { within } from "./within.mjs";

const TABLE = new URL("../../../docs/reference/crossings.md", import.meta.url);

/** Requests of a count. */
const COUNTED = 2000;

const PATHS = [
    { name: "GET, one connection", connections: 1, patterns: ["/{id}"] },
    { name: "GET, 64 connections", connections: 64, patterns: ["/{id}"] },
    { name: "POST in two writes, 64 connections", connections: 64, patterns: ["POST /{id}"] },
];

/** The rows of the table by name: the most wake-ups, flushes and system calls for each request. */
function table() {
    const rows = new Map();
    for (const line of readFileSync(TABLE, "utf8").split("\n")) {
        const [, name, ...cells] = line.split("|").map((cell) => cell.trim());
        const most = cells.slice(0, 3).map(Number);
        if (most.length === 3 && most.every((cell) => cell > 0)) rows.set(name, { wakes: most[0], flushes: most[1], calls: most[2] });
    }
    return rows;
}

async function served(use) {
    const child = start(new URL("./counts/server.mjs", import.meta.url), [], { ipc: true, lifeMs: 110_000 });
    const counts = async () => {
        child.send("counts");
        return (await child.message("counts")).counts;
    };
    try {
        await use({ port: (await child.message("port")).port, pid: child.pid, counts });
    } finally {
        child.send("end");
        await child.exit;
    }
}

async function asked(port, path) {
    const outcome = await load({ port, connections: path.connections, requests: COUNTED, patterns: path.patterns });
    assert.deepEqual(outcome.wrong, []);
    assert.equal(outcome.answered, COUNTED);
}

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
        const most = table().get(path.name);
        assert.ok(most, `${path.name} stands in docs/reference/crossings.md`);
        const reason = untraceable();
        if (reason !== undefined) console.log(`SKIP counts: ${reason}`);
        await served(async ({ port, pid, counts }) => {
            await asked(port, path);
            const before = await counts();
            await asked(port, path);
            const after = await counts();
            const each = (name) => (after[name] - before[name]) / COUNTED;
            assert.equal(each("leat_lane_requests_total"), 1);
            const found = { wakes: each("leat_lane_wakes_total"), flushes: each("leat_lane_flushes_total") };
            if (reason === undefined) found.calls = (await traced(pid, () => asked(port, path))) / COUNTED;
            t.diagnostic(JSON.stringify(found));
            for (const [what, count] of Object.entries(found)) {
                assert.ok(count <= most[what], `${count} ${what} for each request, the table has ${most[what]} at most`);
            }
        });
    });
}
