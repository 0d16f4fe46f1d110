// The server of opentelemetry.test.mjs: traced by OpenTelemetry's own instrumentation of node:http, which wraps
// http.Server.prototype.emit. Each request names the trace that it belongs to; /report says what went otherwise.
import { createRequire } from "node:module";
import { setImmediate as turn } from "node:timers/promises";
import { hold, Turns } from "../turns.mjs";

const require = createRequire(import.meta.url);
const { context, propagation, trace, SpanKind } = require("@opentelemetry/api");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");

const REASONS_KEPT_MAX = 5;
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const instrumentation = new HttpInstrumentation();
instrumentation.setTracerProvider(provider);
// Its hook sits in require(); from here on http.Server is wrapped for the whole process.
require("node:http");
const { http } = await import("../../subject.mjs");

const tracer = trace.getTracer("test");
const turns = new Turns();
const wrong = [];
const note = (what) => wrong.length < REASONS_KEPT_MAX && wrong.push(what);

function check(id, where) {
    const span = trace.getActiveSpan();
    if (span === undefined) return note(`${where} of ${id}: no span`);
    const own = Number.parseInt(span.spanContext().traceId, 16);
    if (own !== Number(id)) note(`${where} of ${id}: the trace of ${own}`);
    const baggage = propagation.getActiveBaggage()?.getEntry("request")?.value;
    if (baggage !== id) note(`${where} of ${id}: the baggage of ${baggage}`);
    return span;
}

async function handle(req, res) {
    const id = req.url.slice(1);
    if (id === "report") return res.end(JSON.stringify(report()));
    turns.count();
    if (Number(id) % 50 === 0) hold(2);
    const outer = check(id, "the start");
    await turn();
    check(id, "a turn later");
    await tracer.startActiveSpan(`inner ${id}`, async (inner) => {
        if (inner.parentSpanContext?.spanId !== outer?.spanContext().spanId) note(`${id}: an inner span of another parent`);
        await Promise.resolve();
        check(id, "inside");
        inner.end();
    });
    check(id, "after the inner span");
    return context.bind(context.active(), () => res.end(id))();
}

/** The finished spans as { server, inner, strangers }: a stranger's trace, parent or route is not its request's. */
function report() {
    const spans = exporter.getFinishedSpans();
    const servers = spans.filter((span) => span.kind === SpanKind.SERVER && span.attributes["url.path"] !== "/report");
    const strangers = servers.filter((span) => {
        const id = Number.parseInt(span.spanContext().traceId, 16);
        return span.attributes["url.path"] !== `/${id}` || Number.parseInt(span.parentSpanContext?.spanId ?? "0", 16) !== id || span.attributes["http.response.status_code"] !== 200;
    });
    return {
        wrong,
        server: servers.length,
        inner: spans.filter((span) => span.name.startsWith("inner ")).length,
        strangers: strangers.slice(0, REASONS_KEPT_MAX).map(({ attributes, parentSpanContext }) => ({ attributes, parentSpanContext })),
        shared: turns.shared,
    };
}

const server = http.createServer(handle);
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
