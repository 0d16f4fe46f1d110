// The timers of calls: many that wait equally long share one of Node's, and nobody notices.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";

const path = createRequire(import.meta.url).resolve("../../../dist/transport/clock.js");
const { sleep, systemClock } = createRequire(import.meta.url)(path);
const { after, nowMs } = systemClock;
const CHILD_MS_MAX = 20_000;

const fired = (waitMs, log, name) => new Promise((resolve) => after(waitMs, () => resolve(log?.push(name))));

test("none comes before its time, and those that wait equally long come in their order", async () => {
    for (const waitMs of [0, 1, 5, 20, 20.5]) {
        const log = [];
        const from = nowMs();
        await Promise.all([fired(waitMs, log, "a"), fired(waitMs, log, "b"), fired(waitMs, log, "c")]);
        assert.deepEqual(log, ["a", "b", "c"]);
        // Node's own timers count from the beginning of a turn, and may be a millisecond early.
        assert.ok(nowMs() - from >= waitMs - 1, `${nowMs() - from} of ${waitMs}`);
    }
});

test("a shorter one comes before a longer one that began earlier", async () => {
    const log = [];
    await Promise.all([fired(40, log, "long"), fired(10, log, "short")]);
    assert.deepEqual(log, ["short", "long"]);
});

test("one that is cancelled never comes, and those around it do", async () => {
    const log = [];
    const first = after(10, () => log.push("first"));
    const a = fired(10, log, "a");
    const middle = after(10, () => log.push("middle"));
    const b = fired(10, log, "b");
    const last = after(10, () => log.push("last"));
    for (const timer of [first, middle, last, middle]) timer.cancel();
    await Promise.all([a, b]);
    await fired(15);
    assert.deepEqual(log, ["a", "b"]);
    first.cancel();
});

test("one may cancel the next, and begin another of its kind", async () => {
    const log = [];
    let second;
    const again = new Promise((resolve) => {
        after(10, () => {
            log.push("first");
            second.cancel();
            after(10, () => resolve(log.push("again")));
        });
        second = after(10, () => log.push("second"));
    });
    await again;
    assert.deepEqual(log, ["first", "again"]);
});

test("a queue that was empty for a while takes others", async () => {
    for (let round = 0; round < 3; round++) {
        after(7, () => assert.fail()).cancel();
        await fired(10);
        await fired(7);
    }
});

test("more lengths than there are queues", async () => {
    const from = nowMs();
    const early = [];
    await Promise.all(Array.from({ length: 200 }, (_, at) => fired(200 - at).then(() => nowMs() - from < 199 - at && early.push(200 - at))));
    assert.deepEqual(early, []);
});

test("no call's timer runs in the async context of another one, or keeps it", async () => {
    const storage = new AsyncLocalStorage();
    const seen = [];
    const other = storage.run("first", () => new Promise((resolve) => after(15, () => resolve(seen.push(storage.getStore())))));
    await storage.run("second", async () => {
        await sleep(systemClock, 15, undefined);
        seen.push(storage.getStore());
    });
    await other;
    assert.deepEqual(seen.filter((store) => store === "first"), []);
    assert.ok(seen.includes("second"), "who waits goes on in its own");
});

function child(program) {
    const from = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", `const { systemClock } = require(${JSON.stringify(path)}); ${program}`], { encoding: "utf8", timeout: CHILD_MS_MAX });
    return { status, stdout, stderr, ms: performance.now() - from };
}

test("one that waits keeps the process, and one that was cancelled does not", () => {
    assert.equal(child("systemClock.after(50, () => console.log('fired'))").stdout, "fired\n");
    const over = child("systemClock.after(15000, () => console.log('fired')).cancel(); console.log('over')");
    assert.equal(over.stdout, "over\n");
    assert.ok(over.ms < 10_000, `${over.ms}`);
    assert.equal(child("systemClock.after(50, () => 0).cancel(); systemClock.after(50, () => console.log('fired'))").stdout, "fired\n");
});

test("one that throws is told as Node tells it, and the others come", () => {
    const { stdout } = child("process.on('uncaughtException', (error) => console.log(error.message)); systemClock.after(10, () => { throw new Error('thrown') }); systemClock.after(10, () => console.log('fired'))");
    assert.equal(stdout, "thrown\nfired\n");
});
