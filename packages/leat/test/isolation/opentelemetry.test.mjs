// OpenTelemetry: the spans of a batch's requests stay apart, with the instrumentation that people use for node:http.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { start } from "../child.mjs";
import { Connection } from "../load/connection.mjs";
import { load } from "../load/generate.mjs";

const CONNECTIONS = 100;
const REQUESTS = 3000;

if (!existsSync(new URL("opentelemetry/node_modules", import.meta.url))) {
    console.log("SKIP opentelemetry: its npm packages are not installed; run npm ci in packages/leat/test/isolation/opentelemetry");
    process.exit(0);
}

test("each request runs in the span of its own trace, which ends once", async (t) => {
    const child = start(new URL("opentelemetry/server.mjs", import.meta.url));
    t.after(() => child.kill());
    const port = Number(await child.line("port"));
    const fields = "traceparent: 00-{hex32}-{hex16}-01\r\nbaggage: request={id}\r\n";
    const result = await load({ port, connections: CONNECTIONS, requests: REQUESTS, patterns: ["/{id}"], fields });
    assert.deepEqual(result.wrong, []);

    const connection = await Connection.open(port);
    let report;
    // The last spans end with their replies' 'close', which may come after the client has them.
    for (let i = 0; i < 50; i += 1) {
        report = JSON.parse((await connection.get("/report")).body);
        if (report.server === REQUESTS) break;
    }
    connection.destroy();
    assert.deepEqual(report.wrong, []);
    assert.deepEqual(report.strangers, []);
    assert.equal(report.server, REQUESTS);
    assert.equal(report.inner, REQUESTS);
    assert.ok(report.shared > 5, `only ${report.shared} turns brought more than one request`);
    assert.equal(child.stderr, "");
});
