// An app with OpenTelemetry, as its documentation starts it: `node --require ./tracing.cjs app.js`, here in one file. A request to
// /spans gives what was recorded since the last one.
const { createRequire } = require("node:module");

// The packages are those of the project that the program was started in.
const project = createRequire(`${process.cwd()}/package.json`);
const { NodeTracerProvider } = project("@opentelemetry/sdk-trace-node");
const { InMemorySpanExporter, SimpleSpanProcessor } = project("@opentelemetry/sdk-trace-base");
const { registerInstrumentations } = project("@opentelemetry/instrumentation");
const { HttpInstrumentation } = project("@opentelemetry/instrumentation-http");
const { ExpressInstrumentation } = project("@opentelemetry/instrumentation-express");
const { trace } = project("@opentelemetry/api");

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerInstrumentations({
    instrumentations: [new HttpInstrumentation({ ignoreIncomingRequestHook: (request) => request.url === "/spans" }), new ExpressInstrumentation({ requestHook: (span, { route }) => span.setAttribute("test.route", route) })],
});

const http = require("node:http");
const express = project(process.env.LEAT_EXPRESS ?? "express");

const app = express();
app.set("env", "test");
app.get("/spans", (request, response) => {
    const named = new Map(exporter.getFinishedSpans().map((span) => [span.spanContext().spanId, span.name]));
    const spans = exporter.getFinishedSpans().map((span) => ({
        name: span.name,
        kind: span.kind,
        parent: named.get(span.parentSpanContext?.spanId) ?? null,
        trace: span.spanContext().traceId,
        route: span.attributes["http.route"] ?? null,
        type: span.attributes["express.type"] ?? null,
        hook: span.attributes["test.route"] ?? null,
        status: span.status.code,
        code: span.attributes["http.response.status_code"] ?? span.attributes["http.status_code"] ?? null,
        scheme: span.attributes["url.scheme"] ?? span.attributes["http.scheme"] ?? null,
        events: span.events.map(({ name }) => name),
    }));
    exporter.reset();
    response.json(spans);
});
app.use(express.json());
app.use(function marks(request, response, next) {
    setImmediate(next);
});
app.get("/items/:id", function show(request, response) {
    response.json({ id: request.params.id, active: trace.getActiveSpan()?.name ?? null });
});
const router = express.Router();
router.use(function inner(request, response, next) {
    next();
});
router.get("/leaf/:name", (request, response) => response.json({ name: request.params.name }));
app.use("/below", router);
app.get("/fails", (request, response, next) => next(new Error("on purpose")));
app.use((error, request, response, next) => response.status(500).json(error.message));

const server = http.createServer(app).listen(0, "127.0.0.1", () => require("./announce.cjs")(server, express));
