// Thrown errors and rejections: each reaches the process once, as it is, and costs no other request its answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../child.mjs";
import { Connection } from "../load/connection.mjs";
import { load } from "../load/generate.mjs";

const CONNECTIONS = 200;
const REQUESTS = 3000;
const program = new URL("failing.mjs", import.meta.url);
const numbers = (kind, patterns) => {
    const at = patterns.findIndex((pattern) => pattern.includes(kind));
    return Array.from({ length: REQUESTS }, (_, i) => i + 1).filter((id) => id % patterns.length === at).map((id) => `${kind} ${id}`).sort();
};

for (const mode of ["listener", "capture", "monitor"]) {
    test(`with a ${mode}, each failure is reported once and all others are answered`, async (t) => {
        const child = start(program, [mode]);
        t.after(() => child.kill());
        const port = Number(await child.line("port"));
        const ok = Array.from({ length: 8 }, () => "/ok/{id}");
        const patterns = [...ok, "LOST /throw/{id}", ...ok, "LOST /reject/{id}", ...ok, "LOST /late/{id}", ...ok, "LOST /emit/{id}"];
        const result = await load({ port, connections: CONNECTIONS, requests: REQUESTS, patterns, lostMs: 100 });
        assert.deepEqual(result.wrong, []);
        assert.equal(result.answered + result.lost, REQUESTS);

        const connection = await Connection.open(port);
        const report = JSON.parse((await connection.get("/report")).body);
        connection.destroy();
        const uncaught = ["throw", "late", "emit"].flatMap((kind) => numbers(kind, patterns)).sort();
        assert.deepEqual(report.uncaught.sort(), uncaught);
        assert.deepEqual(report.unhandled.sort(), numbers("reject", patterns));
        assert.equal(report.once, true, "an error was reported twice, or never");
        assert.equal(report.strangers, 0, "an error that no handler made, a wrong origin, or a store of another request");
        if (mode === "monitor") assert.equal(report.monitored, uncaught.length);
        assert.ok(report.shared > 10, `only ${report.shared} turns brought more than one request`);
        assert.ok(report.most > 3, `no turn brought more than ${report.most} requests`);
        assert.equal(child.stderr, "");
    });
}

test("what is thrown need not be an Error", async (t) => {
    const child = start(program, ["listener"]);
    t.after(() => child.kill());
    const port = Number(await child.line("port"));
    for (let i = 0; i < 7; i += 1) {
        const connection = await Connection.open(port);
        connection.get(`/odd/${i}`).catch(() => {});
        connection.end();
    }
    const connection = await Connection.open(port);
    let report;
    do report = JSON.parse((await connection.get("/report")).body); while (report.odd.length < 7 && child.running);
    connection.destroy();
    assert.deepEqual(report.odd.sort(), ["'text'", "0", "Symbol(odd)", "[Object: null prototype] {}", "null", "undefined", "{ code: 'ODD' }"]);
});

// Without a listener the process ends, and says where the error came from.
for (const kind of ["throw", "reject", "late", "emit"]) {
    test(`with no listener, "${kind}" ends the process with code 1 and the error's own stack`, async () => {
        const child = start(program, ["none"], { lifeMs: 10_000 });
        const port = Number(await child.line("port"));
        const connection = await Connection.open(port);
        connection.get(`/${kind}/7`).catch(() => {});
        const [ended, closed] = await Promise.all([child.exit, connection.closed]);
        assert.equal(ended.signal, null);
        assert.equal(ended.code, 1);
        assert.match(ended.stderr, new RegExp(`^file:[^\\n]*failing\\.mjs:\\d+\\n[^]*\\nError: ${kind} 7\\n {4}at fail \\(`));
        assert.equal(ended.stderr.match(new RegExp(`Error: ${kind} 7`, "g")).length, 1, "the error is printed once");
        assert.match(ended.stderr, /\nNode\.js v/);
        assert.match(closed, /^(FIN|ECONNRESET)$/);
    });
}
