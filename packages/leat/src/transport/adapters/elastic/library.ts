// As much of @elastic/transport as the adapter touches. It is the program's own copy, so that its errors are what the program compares with.
import { type Readable } from "node:stream";
import { type Signal } from "../../../middleware/context";

/** Plain objects of the library's. */
export type Fields = Readonly<Record<string, unknown>>;

/** A node, as its pool has it. */
export interface ElasticConnection {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly tls?: object | null;
}

/** `TransportOptions` of the library, those of its fields that are followed here. */
export interface ElasticOptions {
    readonly connectionPool: { readonly connections: readonly ElasticConnection[] };
    readonly serializer?: ElasticSerializer | undefined;
    readonly maxRetries?: number | undefined;
    readonly requestTimeout?: number | string | null | undefined;
    readonly retryOnTimeout?: boolean | undefined;
    readonly compression?: boolean | undefined;
    readonly headers?: Readonly<Record<string, unknown>> | undefined;
    readonly name?: string | symbol | undefined;
    readonly opaqueIdPrefix?: string | null | undefined;
    readonly context?: Fields | null | undefined;
    readonly productCheck?: string | null | undefined;
    readonly maxResponseSize?: number | null | undefined;
    readonly maxCompressedResponseSize?: number | null | undefined;
    readonly vendoredHeaders?: { readonly jsonContentType?: string; readonly ndjsonContentType?: string; readonly accept?: string } | undefined;
    readonly sniffOnStart?: boolean | undefined;
    readonly sniffEndpoint?: string | null | undefined;
    readonly generateRequestId?: ((params: ElasticParams, options: ElasticRequestOptions) => unknown) | null | undefined;
}

export interface ElasticParams {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly bulkBody?: unknown;
    readonly querystring?: Fields | string | undefined;
}

export interface ElasticRequestOptions {
    readonly ignore?: readonly number[];
    readonly requestTimeout?: number | string | null;
    readonly retryOnTimeout?: boolean;
    readonly maxRetries?: number;
    readonly asStream?: boolean;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly querystring?: Fields;
    readonly compression?: boolean;
    readonly id?: unknown;
    readonly context?: Fields | null;
    readonly opaqueId?: string;
    readonly signal?: Signal;
    readonly meta?: boolean;
}

export interface ElasticSerializer {
    serialize(value: unknown): string;
    deserialize(text: string): unknown;
    ndserialize(values: unknown): string;
    qserialize(query: Fields | string | undefined): string;
}

/** What a call comes to with `meta: true`, and what errors have as `meta`. */
export interface ElasticResult {
    body: unknown;
    statusCode: number;
    headers: Readonly<Record<string, unknown>>;
    readonly warnings: readonly string[] | null;
    readonly meta: {
        readonly context: Fields | null;
        readonly name: string | symbol;
        readonly request: { readonly params: Fields; readonly options: ElasticRequestOptions; readonly id: unknown };
        connection: ElasticConnection | null;
        attempts: number;
        aborted: boolean;
    };
}

/** What its `Transport` has of its own, and keeps. */
export interface ElasticTransport {
    readonly diagnostic: { emit(event: string, error: unknown, result: ElasticResult | null): boolean };
    request(params: ElasticParams, options?: ElasticRequestOptions): Promise<unknown>;
    sniff(options: Fields): void;
}

type ErrorOf = new (message: string, result: ElasticResult, options?: object) => Error;

/** `require("@elastic/transport")`. */
export interface ElasticLibrary {
    readonly Transport: new (options: never) => ElasticTransport;
    readonly Serializer: new () => ElasticSerializer;
    readonly errors: {
        readonly ConfigurationError: new (message: string) => Error;
        readonly ConnectionError: ErrorOf;
        readonly NoLivingConnectionsError: ErrorOf;
        readonly ProductNotSupportedError: ErrorOf;
        readonly RequestAbortedError: ErrorOf;
        readonly ResponseError: new (result: ElasticResult, options?: object) => Error;
        readonly TimeoutError: ErrorOf;
    };
}

/** A stream of a caller's, which is sent as it is. */
export function isStream(value: unknown): value is Readable {
    return typeof (value as { readonly pipe?: unknown } | null | undefined)?.pipe === "function";
}
