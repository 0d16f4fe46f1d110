// `metrics()`: that it is what Prometheus reads, that it counts requests and collections, and that it keeps nothing alive.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { createServer, metrics } from "leat/http";
import { fetched, listening } from "./ask.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const TURNS_MAX = 1_000;
const LINE = /^[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? (\d+(\.\d+)?(e-?\d+)?)$/;
const HEAD = /^# (HELP|TYPE) ([a-z_]+) (.+)$/;

/** The value of a sample, such as `leat_gc_pause_seconds_count{thread="0",kind="major"}`. */
function sample(text, series) {
    const line = text.split("\n").find((line) => line.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const majors = (text) => sample(text, 'leat_gc_pause_seconds_count{thread="0",kind="major"}');

test("every line is a description or a sample, and every sample is described before", () => {
    const text = metrics();
    assert.ok(text.endsWith("\n"));
    const described = new Map();
    for (const line of text.slice(0, -1).split("\n")) {
        const head = HEAD.exec(line);
        if (head?.[1] === "HELP") described.set(head[2], undefined);
        else if (head) described.set(head[2], head[3]);
        else {
            assert.match(line, LINE);
            const series = line.replace(/[{ ].*/, "");
            const kind = described.get(series) ?? described.get(series.replace(/_(bucket|sum|count)$/, ""));
            assert.match(kind ?? "", /^(counter|gauge|histogram)$/, line);
        }
    }
});

/** Text that `wanted` accepts: Node tells of a pause some turns of the event loop later. */
async function eventually(wanted) {
    for (let turn = 0; turn < TURNS_MAX; turn++) {
        const text = metrics();
        if (wanted(text)) return text;
        await new Promise((resolve) => setImmediate(resolve));
    }
    return assert.fail(`not after ${TURNS_MAX} turns:\n${metrics()}`);
}

test("a collection is counted once, in its bucket and in all above", async () => {
    const before = majors(metrics());
    collect();
    collect();
    const text = await eventually((text) => majors(text) >= before + 2);
    assert.equal(majors(text), before + 2);
    const buckets = text.split("\n").filter((line) => line.startsWith('leat_gc_pause_seconds_bucket{thread="0",kind="major"'));
    const counts = buckets.map((line) => Number(line.replace(/.* /, "")));
    assert.deepEqual(counts, [...counts].sort((a, b) => a - b));
    assert.match(buckets.at(-1), /le="\+Inf"/);
    assert.equal(counts.at(-1), majors(text));
    const seconds = sample(text, 'leat_gc_pause_seconds_sum{thread="0",kind="major"}');
    assert.ok(seconds > 0 && seconds < 10, `${seconds}`);
});

test("requests are counted by lane", async (t) => {
    const series = 'leat_lane_requests_total{lane="0"}';
    const server = await listening(t, createServer((_request, response) => response.end(metrics())));
    const before = sample(metrics(), series) ?? 0;
    const { body } = await fetched(server);
    assert.equal(sample(body, series), before + 1);
    assert.equal(sample(body, 'leat_lane_exchanges{lane="0"}'), 1);
});

test("a worker counts its own pauses", async () => {
    const worker = new Worker(
        `const { setFlagsFromString } = require("node:v8");
        setFlagsFromString("--expose-gc");
        const { metrics } = require(${JSON.stringify(createRequire(import.meta.url).resolve("leat/http"))});
        metrics();
        require("node:vm").runInNewContext("gc")();
        const { parentPort } = require("node:worker_threads");
        parentPort.on("message", () => parentPort.postMessage(metrics()));`,
        { eval: true },
    );
    const number = worker.threadId;
    let text = "";
    for (let turn = 0; turn < TURNS_MAX && !(sample(text, `leat_gc_pause_seconds_count{thread="${number}",kind="major"}`) >= 1); turn++) {
        worker.postMessage("more");
        [text] = await once(worker, "message");
    }
    await worker.terminate();
    assert.ok(sample(text, `leat_gc_pause_seconds_count{thread="${number}",kind="major"}`) >= 1, text);
    assert.ok(!text.includes('thread="0"'));
});

test("a program that asked and has nothing else to do ends", () => {
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const program = 'require("leat/http").metrics()';
    const { status, stderr } = spawnSync(process.execPath, ["-e", program], { cwd, encoding: "utf8", timeout: 20_000 });
    assert.equal(status, 0, stderr);
});
