import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../../dist/transport/kit/index.js";

test("timers run in the order of their times, each at its own", async () => {
    const clock = new VirtualClock();
    const log = [];
    for (const [name, waitMs] of [["b", 20], ["a", 10], ["c", 20], ["late", 31]]) clock.after(waitMs, () => log.push(`${name} ${clock.nowMs()}`));
    await clock.advance(30);
    assert.deepEqual(log, ["a 10", "b 20", "c 20"]);
    assert.equal(clock.nowMs(), 30);
    assert.equal(clock.nextInMs, 1);
});

test("what follows from a timer happens before the next one", async () => {
    const clock = new VirtualClock();
    const log = [];
    const chain = async () => {
        for (let at = 0; at < 3; at++) {
            await new Promise((resolve) => clock.after(10, resolve));
            log.push(`chain ${clock.nowMs()}`);
        }
    };
    clock.after(15, () => log.push("between 15"));
    const done = chain();
    await clock.advance(30);
    await done;
    assert.deepEqual(log, ["chain 10", "between 15", "chain 20", "chain 30"]);
});

test("a cancelled timer does not come, and cancelling late does nothing", async () => {
    const clock = new VirtualClock();
    let count = 0;
    const first = clock.after(1, () => count++);
    const second = clock.after(1, () => count++);
    first.cancel();
    await clock.advance(5);
    second.cancel();
    assert.equal(count, 1);
    assert.equal(clock.pending, 0);
});

test("the date goes with the clock, and begins where it is told", async () => {
    const clock = new VirtualClock({ timeMs: 1000 });
    await clock.advance(500);
    assert.equal(clock.timeMs(), 1500);
    assert.equal(new VirtualClock().timeMs(), Date.UTC(2026, 0, 1));
});

test("settle goes from timer to timer as long as there are any", async () => {
    const clock = new VirtualClock();
    const slow = (async () => {
        for (let hour = 0; hour < 24; hour++) await new Promise((resolve) => clock.after(3_600_000, resolve));
        return "next day";
    })();
    assert.equal(await clock.settle(slow), "next day");
    assert.equal(clock.nowMs(), 86_400_000);
    await assert.rejects(clock.settle(Promise.reject(new Error("no"))), { message: "no" });
    assert.equal(await clock.settle(7), 7);
});

test("what can never settle is told, and not waited for", async () => {
    await assert.rejects(new VirtualClock().settle(new Promise(() => {})), { message: "it does not settle, and no timer waits on the virtual clock" });
});

test("waiting resolves when so many timers are set", async () => {
    const clock = new VirtualClock();
    const log = [];
    const waited = clock.waiting(2).then(() => log.push("two"));
    clock.after(1, () => {});
    await clock.advance(0);
    assert.deepEqual(log, []);
    clock.after(1, () => {});
    await waited;
    await clock.waiting(1);
    assert.deepEqual(log, ["two"]);
});

test("a loop that sets timers for ever ends with an error", () => {
    const clock = new VirtualClock();
    assert.throws(() => {
        for (;;) clock.after(1, () => {});
    }, { message: /100000 timers wait on the virtual clock, at most/ });
});
