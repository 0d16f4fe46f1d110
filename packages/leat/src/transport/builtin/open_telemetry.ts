// Spans of calls and tries, by the stable semantic conventions of OpenTelemetry for HTTP clients and for databases.
import { isThenable } from "../../middleware/apply";
import { type Context, type ContextOf } from "../../middleware/context";
import { type Awaitable, type Request, type Response } from "../../middleware/message";
import { middleware, type Middleware, type Next } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call, type Call } from "../call";
import { wrongOption } from "../error";
import { objectOf } from "../given";
import { type Attributes, KIND, type MetricsApi, NO_TRACE, type OpenTelemetryApi, type Span, STATUS_ERROR } from "./open_telemetry_api";
import { databaseOf, type DatabaseOptions, methodOf, METHODS, serverOf, shownOf } from "./open_telemetry_attributes";
import { durations } from "./open_telemetry_durations";
import { callOf } from "./own_call";

/** How spans are made, and durations measured. */
export interface OpenTelemetryOptions {
    /** `import * as api from "@opentelemetry/api"`. */
    readonly api: OpenTelemetryApi;
    /** The name of the tracer, and of the meter. Default: "leat/transport". */
    readonly tracer?: string;
    /** For a database that speaks HTTP: calls are spans of it, and tries HTTP's below. */
    readonly db?: DatabaseOptions;
    /** Whether durations are measured too, by an SDK for metrics. Default: true, where `api` has metrics. */
    readonly metrics?: boolean;
}

/** Where a try finds the span of its call, if there is no context manager to carry it. */
const parent = slot("open_telemetry_parent").of<{ readonly outside: object; readonly inside: object }>();

/**
 * A span for each call, and below it a client span for each try, whose context goes out with the request's headers and is active
 * in all that is inside: `middleware: [openTelemetry({ api }), …]`. With an SDK for metrics also the durations of tries
 * (`http.client.request.duration`) and, with `db`, of calls (`db.client.operation.duration`), in seconds.
 *
 * Without an SDK there is no span, no header, no context and no duration: the API is asked once a call and once a try whether there is one,
 * and nothing is allocated. A span that is not recorded is handed on to the peer and to what is inside, and costs no promise.
 *
 * @throws {TransportError} `options.invalid`
 */
export function openTelemetry(options: OpenTelemetryOptions): readonly Middleware[] {
    const { api, tracer, db, metrics } = optionsOf(options);
    const spans = new Spans(api, tracer, db);
    const made: readonly Middleware[] = [
        middleware({ name: "openTelemetry", scope: "call", reads: [call], writes: [parent], when: () => spans.areWanted(), around: (context, next) => spans.call(context, next) }),
        middleware({
            name: "openTelemetry.attempt",
            scope: "attempt",
            reads: [call, parent],
            when: (context) => context.get(parent) !== undefined || spans.areWanted(),
            around: (context, next) => spans.attempt(context, next),
        }),
    ];
    // Inside of the spans, whose context is what an exemplar names.
    return metrics === undefined ? made : [...made, ...durations(metrics, api, tracer, db)];
}

class Spans {
    private readonly api: OpenTelemetryApi;
    private readonly tracer: string;
    private readonly db: DatabaseOptions | undefined;

    constructor(api: OpenTelemetryApi, tracer: string, db: DatabaseOptions | undefined) {
        this.api = api;
        this.tracer = tracer;
        this.db = db;
    }

    /** Whether there is an SDK, or without one a trace to hand on. Whoever cannot say is asked for spans. */
    areWanted(): boolean {
        const { trace, context } = this.api;
        const provider = trace.getTracerProvider?.() as { readonly getDelegateTracer?: (name: string) => unknown } | undefined;
        if (typeof provider?.getDelegateTracer !== "function" || trace.getSpanContext === undefined) return true;
        return provider.getDelegateTracer(this.tracer) !== undefined || trace.getSpanContext(context.active()) !== undefined;
    }

    call(context: Context<typeof call>, next: Next<typeof parent>): Awaitable<Response> {
        const own = callOf(context);
        const { request } = context;
        const outside = this.api.context.active();
        const { name, attributes } = this.db === undefined ? httpCall(own, request) : databaseCall(this.db, own, request);
        const span = this.start(name, this.db === undefined ? KIND.INTERNAL : KIND.CLIENT, attributes, outside);
        if (span === undefined) return next();
        const inside = this.api.trace.setSpan(outside, span);
        return this.within(inside, span, own, () => next({ set: { open_telemetry_parent: { outside, inside } } }), (response) => {
            const found: Attributes = own.node === undefined ? {} : { ...serverOf(own.node) };
            if (response !== undefined) found[this.db === undefined ? "http.response.status_code" : "db.response.status_code"] = this.db === undefined ? response.status : String(response.status);
            return found;
        });
    }

    attempt(context: ContextOf<"attempt", typeof call | typeof parent>, next: Next): Awaitable<Response> {
        const own = callOf(context);
        const { request } = context;
        const active = this.api.context.active();
        const before = context.get(parent);
        const outside = before !== undefined && active === before.outside ? before.inside : active;
        const attributes = methodOf(request.method);
        if (context.attempt > 1) attributes["http.request.resend_count"] = context.attempt - 1;
        const span = this.start(nameOf(own, request), KIND.CLIENT, attributes, outside);
        if (span === undefined) return next();
        const inside = this.api.trace.setSpan(outside, span);
        const headers: Record<string, string> = {};
        this.api.propagation.inject(inside, headers);
        return this.within(inside, span, own, () => next({ headers }), (response) => {
            const found: Attributes = own.node === undefined ? {} : { ...serverOf(own.node), "url.full": own.redactor.text(own.node + withoutSignatures(request.path)) };
            if (response !== undefined) found["http.response.status_code"] = response.status;
            return found;
        });
    }

    /** A span, or undefined if there is no SDK and nothing to hand on. */
    private start(name: string, kind: number, attributes: Attributes, context: object): Span | undefined {
        const span = this.api.trace.getTracer(this.tracer).startSpan(name, { kind, attributes }, context);
        return span.isRecording() || span.spanContext().traceId !== NO_TRACE ? span : undefined;
    }

    private within(inside: object, span: Span, own: Call, run: () => Awaitable<Response>, found: (response: Response | undefined) => Attributes): Awaitable<Response> {
        // It takes no attributes, and nobody hears of its end.
        if (!span.isRecording()) return this.api.context.with(inside, run);
        let isOver = false;
        const failedBy = (error: unknown): void => {
            if (isOver) return;
            isOver = true;
            const { name, code, message } = shownOf(error, own);
            span.setAttributes({ ...found(undefined), "error.type": code });
            span.recordException({ name, code, message });
            span.setStatus({ code: STATUS_ERROR, message });
            span.end();
        };
        // A call that is ended from outside does not wait for what is inside of it, and its spans end with it.
        own.onEnd(() => failedBy(own.signal.reason));
        const ended = (response: Response): Response => {
            if (isOver) return response;
            isOver = true;
            span.setAttributes(found(response));
            // A status from 400 on is an error for a client (HTTP conventions, "Status").
            if (response.status >= 400) {
                span.setAttributes({ "error.type": String(response.status) });
                span.setStatus({ code: STATUS_ERROR });
            }
            span.end();
            return response;
        };
        const failed = (error: unknown): never => {
            failedBy(error);
            throw error;
        };
        let result: Awaitable<Response>;
        try {
            result = this.api.context.with(inside, run);
        } catch (error) {
            return failed(error);
        }
        return isThenable(result) ? result.then(ended, failed) : ended(result);
    }
}

interface Named {
    readonly name: string;
    readonly attributes: Attributes;
}

function httpCall(own: Call, request: Request): Named {
    return { name: nameOf(own, request), attributes: methodOf(request.method) };
}

function databaseCall(db: DatabaseOptions, own: Call, request: Request): Named {
    const known = db.describe?.(request, own.options) ?? {};
    const attributes = databaseOf(db, known);
    const { operation, queryText } = known;
    if (queryText !== undefined) attributes["db.query.text"] = own.redactor.text(queryText);
    const target = known.collection ?? known.namespace;
    return { name: operation === undefined ? (target ?? db.system) : target === undefined ? operation : `${operation} ${target}`, attributes };
}

/** "{method} {target}", where a target is known that is no path with ids in it. */
function nameOf({ options }: Call, { method }: Request): string {
    const shown = METHODS.has(method) ? method : "HTTP";
    const { route } = options;
    if (route === undefined) return shown;
    return route.startsWith(`${shown} `) ? route : `${shown} ${route}`;
}

/** By name, as the HTTP conventions list them for `url.full`; other secrets go by their values. */
function withoutSignatures(path: string): string {
    return path.replace(/([?&](?:AWSAccessKeyId|Signature|sig|X-Goog-Signature)=)[^&]*/gi, "$1REDACTED");
}

interface Settings {
    readonly api: OpenTelemetryApi;
    readonly tracer: string;
    readonly db: DatabaseOptions | undefined;
    readonly metrics: MetricsApi | undefined;
}

function optionsOf(given: unknown): Settings {
    const { api, tracer = "leat/transport", db, metrics } = objectOf("openTelemetry", given, ["api", "tracer", "db", "metrics"]) as Partial<OpenTelemetryOptions>;
    const parts = api as Partial<OpenTelemetryApi> | undefined;
    const isApi = typeof parts?.trace?.getTracer === "function" && typeof parts.context?.with === "function" && typeof parts.propagation?.inject === "function";
    if (api === undefined || !isApi) throw wrongOption("openTelemetry.api", api, 'the module: import * as api from "@opentelemetry/api"');
    if (typeof tracer !== "string" || tracer === "") throw wrongOption("openTelemetry.tracer", tracer, "a name");
    if (db !== undefined) {
        const { system, describe } = objectOf("openTelemetry.db", db, ["system", "describe"]);
        if (typeof system !== "string" || system === "") throw wrongOption("openTelemetry.db.system", system, 'the name of a system: "elasticsearch"');
        if (describe !== undefined && typeof describe !== "function") throw wrongOption("openTelemetry.db.describe", describe, "a function: (request, options) => ({ operation, collection })");
    }
    if (metrics !== undefined && typeof metrics !== "boolean") throw wrongOption("openTelemetry.metrics", metrics, "true or false");
    const hasMetrics = typeof api.metrics?.getMeterProvider === "function";
    if (metrics === true && !hasMetrics) throw wrongOption("openTelemetry.metrics", metrics, "an API with metrics, which @opentelemetry/api has from 1.3 on");
    return { api, tracer, db, metrics: metrics === false || !hasMetrics ? undefined : api.metrics };
}
