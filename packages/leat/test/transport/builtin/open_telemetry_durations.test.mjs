// Durations that `openTelemetry` measures, by the real SDK for metrics.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "@opentelemetry/api";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { middleware } from "leat/middleware";
import { failure, load, setup, thrown } from "./setup.mjs";

const { openTelemetry } = load("builtin/open_telemetry");
const { redaction } = load("builtin/redaction");
const { retry } = load("builtin/retry");

class Reader extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
}

/** A registered SDK, and what it has collected: by instrument its unit, its buckets, and its points. */
function sdk(t) {
    const reader = new Reader();
    api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    t.after(() => api.metrics.disable());
    return async () => {
        const { resourceMetrics, errors } = await reader.collect();
        assert.deepEqual(errors, []);
        const found = {};
        for (const { scope, metrics } of resourceMetrics.scopeMetrics) {
            for (const { descriptor, dataPoints } of metrics) {
                found[descriptor.name] = {
                    scope: scope.name,
                    unit: descriptor.unit,
                    boundaries: dataPoints[0]?.value.buckets.boundaries,
                    points: dataPoints.map(({ attributes, value }) => ({ attributes, count: value.count, sum: value.sum })),
                };
            }
        }
        return found;
    };
}
const HTTP = "http.client.request.duration";
const DB = "db.client.operation.duration";
const SERVER = { "server.address": "a.test", "server.port": 80 };

test("each try is a duration in seconds, with the attributes and the buckets of the conventions", async (t) => {
    const collect = sdk(t);
    const { request } = setup([openTelemetry({ api }), retry({ baseMs: 4 })], [{ status: 503, afterMs: 250 }, { fails: "connection.broken", afterMs: 500 }, { afterMs: 20 }]);
    await request();
    const { [HTTP]: requests, ...others } = await collect();
    assert.deepEqual(others, {});
    assert.deepEqual([requests.scope, requests.unit], ["leat/transport", "s"]);
    assert.deepEqual(requests.boundaries, [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]);
    const get = { "http.request.method": "GET", ...SERVER };
    assert.deepEqual(requests.points, [
        { attributes: { ...get, "http.response.status_code": 503, "error.type": "503" }, count: 1, sum: 0.25 },
        { attributes: { ...get, "error.type": "connection.broken" }, count: 1, sum: 0.5 },
        { attributes: { ...get, "http.response.status_code": 200 }, count: 1, sum: 0.02 },
    ]);
});

test("a database's call is one duration over all of its tries", async (t) => {
    const collect = sdk(t);
    const describe = ({ path }) => ({ operation: "search", collection: path.split("/")[1], namespace: "cluster", queryText: "never a label" });
    const { request } = setup([openTelemetry({ api, tracer: "sdk", db: { system: "elasticsearch", describe } }), retry({ baseMs: 100 })], [{ status: 503, afterMs: 1000 }, { status: 404, afterMs: 200 }]);
    await request({ path: "/logs/_search" });
    const { [HTTP]: requests, [DB]: operations } = await collect();
    assert.deepEqual([operations.scope, operations.unit], ["sdk", "s"]);
    assert.deepEqual(operations.boundaries, [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]);
    const attributes = { "db.system.name": "elasticsearch", "db.operation.name": "search", "db.collection.name": "logs", "db.namespace": "cluster", ...SERVER, "db.response.status_code": "404", "error.type": "404" };
    // With half of the first wait, which is what no chance leaves of it.
    assert.deepEqual(operations.points, [{ attributes, count: 1, sum: 1.25 }]);
    assert.deepEqual(requests.points.map(({ attributes: { "http.response.status_code": status }, sum }) => [status, sum]), [[503, 1], [404, 0.2]]);
});

test("a call that is ended from outside is over, also where a middleware never comes back", async (t) => {
    const collect = sdk(t);
    const stuck = middleware({ name: "stuck", scope: "attempt", onRequest: () => new Promise(() => undefined) });
    const { request } = setup([openTelemetry({ api, db: { system: "a" } }), stuck], []);
    await failure(request({ timeoutMs: 50 }));
    const { [HTTP]: requests, [DB]: operations } = await collect();
    for (const { points } of [requests, operations]) assert.deepEqual(points.map(({ attributes, count, sum }) => [attributes["error.type"], count, sum]), [["call.deadline", 1, 0.05]]);
});

test("durations are measured without spans, and spans without durations", async (t) => {
    const collect = sdk(t);
    const { request, exchanges } = setup([openTelemetry({ api })], [{}]);
    await request();
    assert.deepEqual({ ...exchanges[0].headers }, {}, "there is no SDK for traces");
    assert.equal((await collect())[HTTP].points.length, 1);
    const off = setup([openTelemetry({ api, metrics: false })], [{}]);
    await off.request();
    assert.equal((await collect())[HTTP].points[0].count, 1);
});

test("an SDK that is registered later is found, and one that is gone is left alone", async (t) => {
    const { request } = setup([openTelemetry({ api })], () => ({}));
    await request();
    const collect = sdk(t);
    await request();
    await request();
    assert.equal((await collect())[HTTP].points[0].count, 2);
    api.metrics.disable();
    await request();
    assert.equal((await collect())[HTTP].points[0].count, 2);
});

test("methods that nobody knows are one, and no value tells a secret or a path", async (t) => {
    const collect = sdk(t);
    const leaking = middleware({ name: "leaking", scope: "attempt", onRequest: () => { throw new RangeError("hunter2 leaked"); } });
    const { request } = setup([redaction(), openTelemetry({ api }), leaking], []);
    await failure(request({ method: "BREW", path: "/users/1?token=hunter2" }));
    const { points } = (await collect())[HTTP];
    assert.deepEqual(points.map(({ attributes }) => attributes), [{ "http.request.method": "_OTHER", "error.type": "RangeError" }]);
});

test("wrong options are refused by their names", () => {
    const old = { trace: api.trace, context: api.context, propagation: api.propagation };
    for (const [options, message] of [
        [{ api, metrics: "yes" }, "openTelemetry.metrics is a string; it takes true or false"],
        [{ api: old, metrics: true }, "openTelemetry.metrics is true; it takes an API with metrics"],
    ]) {
        const error = thrown(() => openTelemetry(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
    assert.equal(openTelemetry({ api: old }).length, 2);
});
