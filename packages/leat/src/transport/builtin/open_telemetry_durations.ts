// How long tries and calls take, as histograms of the stable semantic conventions ("HTTP client metrics", "Database client metrics").
import { type Completed, type Context } from "../../middleware/context";
import { middleware, type Middleware } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call, type Call } from "../call";
import { type Attributes, type Histogram, type MeterProvider, type MetricsApi, type OpenTelemetryApi } from "./open_telemetry_api";
import { databaseOf, type DatabaseOptions, methodNameOf, serverOf, shownOf } from "./open_telemetry_attributes";
import { callOf } from "./own_call";

/** Seconds, as the conventions list them ("Metric: http.client.request.duration"). */
const REQUEST_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Seconds ("Metric: db.client.operation.duration"). */
const OPERATION_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const MS_A_SECOND = 1000;

/** What is under way. */
interface Timed {
    readonly startedMs: number;
    readonly attributes: Attributes;
    isOver: boolean;
}

const timedTry = slot("open_telemetry_try").of<Timed>();
const timedCall = slot("open_telemetry_call").of<Timed>();

/**
 * Middleware that record durations: of each try, and with `db` of each call. Hooks alone, so they make no promise; without an SDK
 * they find nothing to do, and take no byte.
 */
export function durations(metrics: MetricsApi, api: OpenTelemetryApi, name: string, db: DatabaseOptions | undefined): readonly Middleware[] {
    const requests = new Duration(metrics, api, name, "http.client.request.duration", "Duration of HTTP client requests.", REQUEST_BUCKETS_S, "http.response.status_code");
    const tries = middleware({
        name: "openTelemetry.requestDuration",
        scope: "attempt",
        reads: [call],
        writes: [timedTry],
        onRequest(context) {
            if (requests.histogram === undefined) return undefined;
            const own = callOf(context);
            return { set: { open_telemetry_try: requests.begin(own, own.clock.nowMs(), { "http.request.method": methodNameOf(context.request.method) }) } };
        },
        onComplete: (context) => requests.over(context, context.get(timedTry)),
    });
    if (db === undefined) return [tries];
    const operations = new Duration(metrics, api, name, "db.client.operation.duration", "Duration of database client operations.", OPERATION_BUCKETS_S, "db.response.status_code");
    const calls = middleware({
        name: "openTelemetry.operationDuration",
        scope: "call",
        reads: [call],
        writes: [timedCall],
        onRequest(context) {
            if (operations.histogram === undefined) return undefined;
            const own = callOf(context);
            return { set: { open_telemetry_call: operations.begin(own, own.startedMs, databaseOf(db, db.describe?.(context.request, own.options) ?? {})) } };
        },
        onComplete: (context) => operations.over(context, context.get(timedCall)),
    });
    return [calls, tries];
}

type StatusName = "http.response.status_code" | "db.response.status_code";

class Duration {
    private readonly metrics: MetricsApi;
    private readonly api: OpenTelemetryApi;
    private readonly meter: string;
    private readonly name: string;
    private readonly description: string;
    private readonly bucketsS: readonly number[];
    private readonly statusName: StatusName;
    /** The provider that `made` is of: an SDK may be registered, and taken away, at any time. */
    private provider: MeterProvider | undefined = undefined;
    private made: Histogram | undefined = undefined;

    constructor(metrics: MetricsApi, api: OpenTelemetryApi, meter: string, name: string, description: string, bucketsS: readonly number[], statusName: StatusName) {
        this.metrics = metrics;
        this.api = api;
        this.meter = meter;
        this.name = name;
        this.description = description;
        this.bucketsS = bucketsS;
        this.statusName = statusName;
    }

    /** The instrument; undefined without an SDK. */
    get histogram(): Histogram | undefined {
        const provider = this.metrics.getMeterProvider();
        if (provider === this.provider) return this.made;
        const meter = provider.getMeter(this.meter);
        const isNone = meter === this.api.createNoopMeter?.();
        this.made = isNone ? undefined : meter.createHistogram(this.name, { description: this.description, unit: "s", advice: { explicitBucketBoundaries: [...this.bucketsS] } });
        this.provider = provider;
        return this.made;
    }

    begin(own: Call, startedMs: number, attributes: Attributes): Timed {
        const timed = { startedMs, attributes, isOver: false };
        // A call that is ended from outside does not wait for what is inside of it, and is over with that.
        own.onEnd(() => this.ended(own, timed, undefined, own.signal.reason));
        return timed;
    }

    over(context: Context<typeof call> & Completed, timed: Timed | undefined): undefined {
        if (timed !== undefined) this.ended(callOf(context), timed, context.response?.status, context.error);
    }

    private ended(own: Call, timed: Timed, status: number | undefined, error: unknown): void {
        if (timed.isOver) return;
        timed.isOver = true;
        const { attributes } = timed;
        if (own.node !== undefined) Object.assign(attributes, serverOf(own.node));
        if (status === undefined) attributes["error.type"] = shownOf(error, own).code;
        else {
            attributes[this.statusName] = this.statusName === "db.response.status_code" ? String(status) : status;
            // From 400 on it is an error for a client (HTTP conventions, "Status").
            if (status >= 400) attributes["error.type"] = String(status);
        }
        this.histogram?.record((own.clock.nowMs() - timed.startedMs) / MS_A_SECOND, attributes, this.api.context.active());
    }
}
