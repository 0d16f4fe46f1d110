// The part of @opentelemetry/api that is used, by its shape: the application gives its own, and nothing is loaded for others.

/** A value of an attribute. */
export type AttributeValue = string | number | boolean | string[];
export type Attributes = Record<string, AttributeValue>;

/** A span. */
export interface Span {
    spanContext(): { readonly traceId: string };
    isRecording(): boolean;
    setAttributes(attributes: Attributes): unknown;
    setStatus(status: { code: number; message?: string }): unknown;
    recordException(exception: { name: string; message: string; code: string }): void;
    end(): void;
}

/** What `import * as api from "@opentelemetry/api"` gives, from version 1.0 on. */
export interface OpenTelemetryApi {
    readonly trace: {
        getTracer(name: string, version?: string): { startSpan(name: string, options?: { kind?: number; attributes?: Attributes }, context?: object): Span };
        setSpan(context: object, span: Span): object;
        /** The provider that stands for an SDK's has `getDelegateTracer`, which tells nothing as long as there is no SDK. */
        getTracerProvider?(): object;
        getSpanContext?(context: object): unknown;
    };
    readonly context: { active(): object; with<T>(context: object, run: () => T): T };
    readonly propagation: { inject(context: object, carrier: object): void };
    /** From 1.3 on. */
    readonly metrics?: MetricsApi;
    /** The meter that there is without an SDK, the same one each time. */
    createNoopMeter?(): object;
}

/** Its part for metrics. */
export interface MetricsApi {
    getMeterProvider(): MeterProvider;
}

/** An SDK's provider, or the one that stands for none. */
export interface MeterProvider {
    getMeter(name: string, version?: string): Meter;
}

/** Makes instruments. */
export interface Meter {
    createHistogram(name: string, options: { description: string; unit: string; advice: { explicitBucketBoundaries: number[] } }): Histogram;
}

/** An instrument. */
export interface Histogram {
    record(value: number, attributes: Attributes, context?: object): void;
}

/** Values of the API's enums, which never change. */
export const KIND = { INTERNAL: 0, CLIENT: 2 } as const;
export const STATUS_ERROR = 2;
/** The id of a span that is none. */
export const NO_TRACE = "00000000000000000000000000000000";
