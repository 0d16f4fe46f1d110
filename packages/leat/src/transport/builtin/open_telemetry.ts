// Spans of calls and tries, by the stable semantic conventions of OpenTelemetry for HTTP clients and for databases.
import { isThenable } from "../../middleware/apply";
import { type Context, type ContextOf } from "../../middleware/context";
import { type Awaitable, type Request, type Response } from "../../middleware/message";
import { middleware, type Middleware, type Next } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call, type Call, type CallOptions } from "../call";
import { TransportError, wrongOption } from "../error";
import { objectOf } from "../given";
import { type Attributes, KIND, NO_TRACE, type OpenTelemetryApi, type Span, STATUS_ERROR } from "./open_telemetry_api";
import { callOf } from "./own_call";

/** What a call does in a database, as far as it is known; for the name of its span and `db.…`. */
export interface DatabaseOperation {
    /** `db.operation.name`: "search". */
    readonly operation?: string;
    /** `db.collection.name`: an index, a table. */
    readonly collection?: string;
    /** `db.namespace`: a cluster, a database. */
    readonly namespace?: string;
    /** `db.query.text`; only with placeholders in the place of values. */
    readonly queryText?: string;
}

/** How spans are made. */
export interface OpenTelemetryOptions {
    /** `import * as api from "@opentelemetry/api"`. */
    readonly api: OpenTelemetryApi;
    /** The name of the tracer. Default: "leat/transport". */
    readonly tracer?: string;
    /** For a database that speaks HTTP: calls are spans of it, and tries HTTP's below. */
    readonly db?: {
        /** `db.system.name`: "elasticsearch". */
        readonly system: string;
        /** What a call does. Default: nothing is known. */
        readonly describe?: (request: Request, options: CallOptions) => DatabaseOperation;
    };
}

/** Others could be anything that a caller made up, and each would be a value of its own (`http.request.method`, HTTP conventions). */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

/** Where a try finds the span of its call, if there is no context manager to carry it. */
const parent = slot("open_telemetry_parent").of<{ readonly outside: object; readonly inside: object }>();

/**
 * A span for each call, and below it a client span for each try, whose context goes out with the request's headers and is active
 * in all that is inside. Two middleware, one of each scope: `middleware: [openTelemetry({ api }), …]`.
 *
 * Without an SDK there is no span, no header and no context: the API is asked once a call and once a try whether there is one, and
 * nothing is allocated. A span that is not recorded is handed on to the peer and to what is inside, and costs no promise.
 *
 * @throws {TransportError} `options.invalid`
 */
export function openTelemetry(options: OpenTelemetryOptions): readonly [Middleware<"call">, Middleware<"attempt">] {
    const { api, tracer, db } = optionsOf(options);
    const spans = new Spans(api, tracer, db);
    return [
        middleware({ name: "openTelemetry", scope: "call", reads: [call], writes: [parent], when: () => spans.areWanted(), around: (context, next) => spans.call(context, next) }),
        middleware({
            name: "openTelemetry.attempt",
            scope: "attempt",
            reads: [call, parent],
            when: (context) => context.get(parent) !== undefined || spans.areWanted(),
            around: (context, next) => spans.attempt(context, next),
        }),
    ];
}

class Spans {
    private readonly api: OpenTelemetryApi;
    private readonly tracer: string;
    private readonly db: OpenTelemetryOptions["db"];

    constructor(api: OpenTelemetryApi, tracer: string, db: OpenTelemetryOptions["db"]) {
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
            const found: Attributes = own.node === undefined ? {} : serverOf(own.node);
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

/** Errors without secrets; their stacks are the application's to log. */
function shownOf(error: unknown, { redactor }: Call): { readonly name: string; readonly code: string; readonly message: string } {
    if (error instanceof TransportError) return { name: error.name, code: error.code, message: redactor.text(error.message) };
    if (error instanceof Error) return { name: redactor.text(error.name), code: redactor.text(error.name), message: redactor.text(error.message) };
    return { name: typeof error, code: "_OTHER", message: "" };
}

interface Named {
    readonly name: string;
    readonly attributes: Attributes;
}

function httpCall(own: Call, request: Request): Named {
    return { name: nameOf(own, request), attributes: methodOf(request.method) };
}

function databaseCall({ system, describe }: NonNullable<OpenTelemetryOptions["db"]>, own: Call, request: Request): Named {
    const { operation, collection, namespace, queryText } = describe?.(request, own.options) ?? {};
    const attributes: Attributes = { "db.system.name": system };
    if (operation !== undefined) attributes["db.operation.name"] = operation;
    if (collection !== undefined) attributes["db.collection.name"] = collection;
    if (namespace !== undefined) attributes["db.namespace"] = namespace;
    if (queryText !== undefined) attributes["db.query.text"] = own.redactor.text(queryText);
    const target = collection ?? namespace;
    return { name: operation === undefined ? (target ?? system) : target === undefined ? operation : `${operation} ${target}`, attributes };
}

function methodOf(method: string): Attributes {
    return METHODS.has(method) ? { "http.request.method": method } : { "http.request.method": "_OTHER", "http.request.method_original": method };
}

/** "{method} {target}", where a target is known that is no path with ids in it. */
function nameOf({ options }: Call, { method }: Request): string {
    const shown = METHODS.has(method) ? method : "HTTP";
    const { route } = options;
    if (route === undefined) return shown;
    return route.startsWith(`${shown} `) ? route : `${shown} ${route}`;
}

function serverOf(origin: string): Attributes {
    const { hostname, port, protocol } = new URL(origin);
    // IPv6 stands without its brackets (general attributes).
    return { "server.address": hostname.replace(/^\[|\]$/g, ""), "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** By name, as the HTTP conventions list them for `url.full`; other secrets go by their values. */
function withoutSignatures(path: string): string {
    return path.replace(/([?&](?:AWSAccessKeyId|Signature|sig|X-Goog-Signature)=)[^&]*/gi, "$1REDACTED");
}

function optionsOf(given: unknown): { readonly api: OpenTelemetryApi; readonly tracer: string; readonly db: OpenTelemetryOptions["db"] } {
    const { api, tracer = "leat/transport", db } = objectOf("openTelemetry", given, ["api", "tracer", "db"]) as Partial<OpenTelemetryOptions>;
    const parts = api as Partial<OpenTelemetryApi> | undefined;
    const isApi = typeof parts?.trace?.getTracer === "function" && typeof parts.context?.with === "function" && typeof parts.propagation?.inject === "function";
    if (api === undefined || !isApi) throw wrongOption("openTelemetry.api", api, 'the module: import * as api from "@opentelemetry/api"');
    if (typeof tracer !== "string" || tracer === "") throw wrongOption("openTelemetry.tracer", tracer, "a name");
    if (db !== undefined) {
        const { system, describe } = objectOf("openTelemetry.db", db, ["system", "describe"]);
        if (typeof system !== "string" || system === "") throw wrongOption("openTelemetry.db.system", system, 'the name of a system: "elasticsearch"');
        if (describe !== undefined && typeof describe !== "function") throw wrongOption("openTelemetry.db.describe", describe, "a function: (request, options) => ({ operation, collection })");
    }
    return { api, tracer, db };
}
