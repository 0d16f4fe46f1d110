// What a transport tells of its plan: its order, and what each middleware takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { compression, retry, Transport } from "leat/transport";
import { ScriptedConnection, VirtualClock } from "leat/transport/kit";

function scripted(options) {
    const clock = new VirtualClock();
    const connection = new ScriptedConnection({ clock, script: ({ number }) => (number === 0 ? { status: 503 } : {}) });
    const transport = new Transport({ nodes: "http://a.test", connection, clock, ...options });
    return { transport, request: () => clock.settle(transport.request({ path: "/" })) };
}
const grows = (more = {}) => {
    const kept = [];
    return middleware({ name: "grows", scope: "attempt", ...more, onRequest: () => void kept.push(new Array(10_000).fill(0)) });
};

test("explain() is a table of the order, whatever the list's was", () => {
    const { transport } = scripted({ middleware: [grows({ after: "compression" }), compression(), retry()] });
    assert.deepEqual(transport.explain().split("\n").slice(1).map((line) => line.split(/ +/)[1]), ["retry", "compression", "grows", "(send)"]);
    assert.deepEqual(transport.measured(), []);
});

test("with measure, each hook's calls, time and bytes are told", async () => {
    const { transport, request } = scripted({ middleware: [grows({ after: "compression" }), compression(), retry()], measure: true });
    assert.equal((await request()).status, 200);
    const rows = transport.measured();
    assert.deepEqual(rows.map(({ name, hook, calls }) => [name, hook, calls]), [
        ["retry", "onRequest", 1],
        ["retry", "again", 2],
        ["compression", "onRequest", 2],
        ["compression", "onResponse", 2],
        ["grows", "onRequest", 2],
    ]);
    for (const { time, timeMax } of rows) assert.ok(time > 0 && timeMax <= time);
});

test("bytes are those that a hook takes of the heap, where no collection comes between", async () => {
    const counted = [];
    for (let at = 0; at < 5; at++) {
        const { transport, request } = scripted({ middleware: [grows(), retry()], measure: true });
        await request();
        counted.push(transport.measured().at(-1).bytes);
    }
    assert.ok(counted.some((bytes) => bytes >= 2 * 10_000 * 8), `${counted} bytes: two arrays take more`);
});

test("gauges may be one's own", async () => {
    let reading = 0;
    const { transport, request } = scripted({ middleware: [grows()], measure: { clock: () => (reading += 1) } });
    await request();
    assert.deepEqual(transport.measured(), [{ name: "grows", hook: "onRequest", calls: 1, time: 1, waited: 0, timeMax: 1, bytes: 0 }]);
});

for (const measure of ["yes", {}, null, { clock: 1 }, { clock: () => 0, bytes: 1 }]) {
    test(`measure: ${JSON.stringify(measure)} is refused`, () => assert.throws(() => scripted({ measure }), { code: "options.invalid", message: /measure .* takes true, or gauges/ }));
}
