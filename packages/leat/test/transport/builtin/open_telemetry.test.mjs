// The middleware `openTelemetry`, on the real API with an SDK of a few lines.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import * as api from "@opentelemetry/api";
import { middleware } from "leat/middleware";
import { failure, load, setup, thrown } from "./setup.mjs";

const { openTelemetry } = load("builtin/open_telemetry");
const { redaction } = load("builtin/redaction");
const { retry } = load("builtin/retry");

/** The least that is an SDK: spans that remember, a context that follows promises, and `traceparent`. */
function sdk(t, { hasContext = true } = {}) {
    const spans = [];
    const startSpan = (name, { kind, attributes }, context) => {
        const parent = api.trace.getSpanContext(context);
        const id = String(spans.length + 1).padStart(16, "0");
        const span = { name, kind, parent: parent && Number(parent.spanId), attributes: { ...attributes }, ends: 0, id: Number(id) };
        spans.push(span);
        return {
            spanContext: () => ({ traceId: parent?.traceId ?? "1".repeat(32), spanId: id, traceFlags: 1 }),
            isRecording: () => span.ends === 0,
            setAttributes: (more) => Object.assign(span.attributes, more),
            setStatus: (status) => (span.status = status),
            recordException: (exception) => (span.exception = exception),
            end: () => (span.ends += 1),
        };
    };
    const storage = new AsyncLocalStorage();
    api.trace.setGlobalTracerProvider({ getTracer: (name) => ({ startSpan: (...given) => (spans.tracer = name, startSpan(...given)) }) });
    if (hasContext) {
        api.context.setGlobalContextManager({
            active: () => storage.getStore() ?? api.ROOT_CONTEXT,
            with: (context, run, self, ...rest) => storage.run(context, () => run.call(self, ...rest)),
            bind: (_context, target) => target,
            enable: () => undefined,
            disable: () => undefined,
        });
    }
    api.propagation.setGlobalPropagator({
        inject(context, carrier, setter) {
            const { traceId, spanId } = api.trace.getSpanContext(context);
            setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-01`);
        },
        extract: (context) => context,
        fields: () => ["traceparent"],
    });
    t.after(() => [api.trace, api.context, api.propagation].forEach((each) => each.disable()));
    return spans;
}
const parents = (exchanges) => exchanges.map(({ headers }) => Number(headers.traceparent.split("-")[2]));

for (const hasContext of [true, false]) {
    test(`a span for the call and one for each try, ${hasContext ? "with" : "without"} a context manager`, async (t) => {
        const spans = sdk(t, { hasContext });
        const { request, exchanges } = setup([...openTelemetry({ api }), retry()], [{ status: 503 }, { fails: "connection.broken" }, {}]);
        await request({ path: "/users/1?sig=abc&page=2", route: "/users/{id}" });
        const server = { "server.address": "a.test", "server.port": 80 };
        const http = { "http.request.method": "GET", ...server, "url.full": "http://a.test/users/1?sig=REDACTED&page=2" };
        assert.deepEqual(
            spans.map(({ name, kind, parent, attributes, status, ends }) => ({ name, kind, parent, attributes, error: status?.code, ends })),
            [
                { name: "GET /users/{id}", kind: api.SpanKind.INTERNAL, parent: undefined, attributes: { "http.request.method": "GET", ...server, "http.response.status_code": 200 }, error: undefined, ends: 1 },
                { name: "GET /users/{id}", kind: api.SpanKind.CLIENT, parent: 1, attributes: { ...http, "http.response.status_code": 503, "error.type": "503" }, error: api.SpanStatusCode.ERROR, ends: 1 },
                { name: "GET /users/{id}", kind: api.SpanKind.CLIENT, parent: 1, attributes: { ...http, "http.request.resend_count": 1, "error.type": "connection.broken" }, error: api.SpanStatusCode.ERROR, ends: 1 },
                { name: "GET /users/{id}", kind: api.SpanKind.CLIENT, parent: 1, attributes: { ...http, "http.request.resend_count": 2, "http.response.status_code": 200 }, error: undefined, ends: 1 },
            ],
        );
        assert.deepEqual(parents(exchanges), [2, 3, 4]);
        assert.equal(spans.tracer, "leat/transport");
    });
}

test("the call's context is active inside, and the caller's outside", async (t) => {
    const spans = sdk(t);
    const seen = [];
    const spanId = () => Number(api.trace.getSpanContext(api.context.active())?.spanId);
    const inside = middleware({ name: "inside", scope: "call", onRequest: async () => { seen.push(spanId()); await null; seen.push(spanId()); } });
    const innermost = middleware({ name: "innermost", scope: "attempt", onRequest: () => void seen.push(spanId()) });
    const { transport, clock } = setup([...openTelemetry({ api, tracer: "mine" }), inside, innermost], () => ({ afterMs: 5 }));
    const outer = api.trace.getTracer("app").startSpan("app", {}, api.ROOT_CONTEXT);
    await api.context.with(api.trace.setSpan(api.ROOT_CONTEXT, outer), async () => {
        await clock.settle(transport.request({ path: "/" }));
        seen.push(spanId());
    });
    assert.deepEqual(seen, [2, 2, 3, 1]);
    assert.deepEqual(spans.map(({ parent }) => parent), [undefined, 1, 2]);
    assert.equal(spans.tracer, "mine");
});

test("a database's call is a span of it, and its tries are HTTP's", async (t) => {
    const spans = sdk(t);
    const describe = ({ path }, { meta }) => ({ operation: meta, collection: path.split("/")[1], namespace: "cluster" });
    const { request } = setup([...openTelemetry({ api, db: { system: "elasticsearch", describe } })], [{ status: 404 }]);
    await request({ method: "POST", path: "/logs/_search", meta: "search" });
    const [call, attempt] = spans;
    assert.deepEqual([call.name, call.kind, call.status.code], ["search logs", api.SpanKind.CLIENT, api.SpanStatusCode.ERROR]);
    assert.deepEqual(call.attributes, {
        "db.system.name": "elasticsearch",
        "db.operation.name": "search",
        "db.collection.name": "logs",
        "db.namespace": "cluster",
        "db.response.status_code": "404",
        "error.type": "404",
        "server.address": "a.test",
        "server.port": 80,
    });
    assert.equal(attempt.name, "POST");
    assert.equal(attempt.attributes["http.response.status_code"], 404);
});

test("errors and secrets: the span has the code, and never the value", async (t) => {
    const spans = sdk(t);
    const leaking = middleware({ name: "leaking", scope: "attempt", onRequest: () => { throw new RangeError("hunter2 leaked"); } });
    const { request } = setup([redaction(), ...openTelemetry({ api }), leaking], []);
    await failure(request({ path: "/a?token=hunter2" }));
    for (const span of spans) {
        assert.equal(span.attributes["error.type"], "RangeError");
        assert.deepEqual(span.exception, { name: "RangeError", code: "RangeError", message: "[secret] leaked" });
        assert.equal(span.ends, 1);
    }
    assert.equal(spans.length, 2);
    assert.ok(!JSON.stringify(spans).includes("hunter2"));
});

test("a call that is ended from outside ends its spans, also where a middleware never comes back", async (t) => {
    const spans = sdk(t);
    const stuck = middleware({ name: "stuck", scope: "attempt", onRequest: () => new Promise(() => undefined) });
    for (const [more, script] of [[[], ["silent"]], [[stuck], []]]) {
        spans.length = 0;
        const { request } = setup([...openTelemetry({ api }), ...more], script);
        await failure(request({ timeoutMs: 50 }));
        await null;
        assert.deepEqual(spans.map(({ ends, attributes }) => [ends, attributes["error.type"]]), [[1, "call.deadline"], [1, "call.deadline"]]);
    }
});

test("methods that nobody knows, and IPv6", async (t) => {
    const spans = sdk(t);
    const { request } = setup([...openTelemetry({ api })], [{}], { nodes: "https://[::1]" });
    await request({ method: "BREW", route: "/pot" });
    assert.equal(spans[1].name, "HTTP /pot");
    assert.deepEqual(spans[1].attributes, { "http.request.method": "_OTHER", "http.request.method_original": "BREW", "server.address": "::1", "server.port": 443, "url.full": "https://[::1]/", "http.response.status_code": 200 });
});

test("without an SDK nothing goes out", async () => {
    const { request, exchanges } = setup([...openTelemetry({ api })], [{}]);
    await request();
    assert.deepEqual({ ...exchanges[0].headers }, {});
});

test("a span that is not recorded is handed on, and told nothing", async (t) => {
    const told = [];
    const context = { traceId: "3".repeat(32), spanId: "0000000000000007", traceFlags: 0 };
    const tell = (...given) => told.push(given);
    sdk(t);
    api.trace.disable();
    api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => ({ spanContext: () => context, isRecording: () => false, setAttributes: tell, setStatus: tell, recordException: tell, end: tell }) }) });
    const seen = [];
    const inside = middleware({ name: "inside", scope: "call", onRequest: () => void seen.push(api.trace.getSpanContext(api.context.active()).spanId) });
    const { request, exchanges } = setup([...openTelemetry({ api }), inside], [{ status: 500 }]);
    await request();
    assert.deepEqual(parents(exchanges), [7]);
    assert.deepEqual(seen, [context.spanId]);
    assert.deepEqual(told, []);
});

test("without an SDK, what was begun elsewhere is handed on", async (t) => {
    const spans = sdk(t);
    api.trace.disable();
    const { transport, exchanges, clock } = setup([...openTelemetry({ api })], [{}]);
    const remote = api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId: "2".repeat(32), spanId: "0000000000000009", traceFlags: 0 });
    await clock.settle(api.context.with(remote, () => transport.request({ path: "/" })));
    assert.deepEqual(parents(exchanges), [9]);
    assert.equal(spans.length, 0);
});

test("wrong options are refused by their names", () => {
    for (const [options, message] of [
        [undefined, "openTelemetry is missing"],
        [{}, "openTelemetry.api is missing; it takes the module"],
        [{ api: {} }, "openTelemetry.api is an object"],
        [{ api, tracer: "" }, "openTelemetry.tracer is an empty string"],
        [{ api, db: {} }, "openTelemetry.db.system is missing"],
        [{ api, db: { system: "a", describe: "b" } }, "openTelemetry.db.describe is a string"],
        [{ api, meter: 1 }, 'no "meter"'],
    ]) {
        const error = thrown(() => openTelemetry(options));
        assert.equal(error.code, "options.invalid");
        assert.ok(error.message.includes(message), error.message);
    }
});
