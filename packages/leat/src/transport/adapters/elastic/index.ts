// @elastic/transport's class, with Leat's transport in it: @elastic/elasticsearch runs on it as it comes from npm.
import { type Middleware } from "../../../middleware/middleware";
import { compression } from "../../builtin/compression";
import { retry } from "../../builtin/retry";
import { type RetryOptions } from "../../builtin/retry_options";
import { type Connection } from "../../connection/connection";
import { undici } from "../../connection/undici";
import { TransportError } from "../../error";
import { secret } from "../../secret";
import { Transport, type TransportResponse } from "../../transport";
import { failed, tellable } from "./failure";
import { type ElasticConnection, type ElasticLibrary, type ElasticOptions, type ElasticParams, type ElasticRequestOptions, type ElasticResult, type ElasticSerializer, type ElasticTransport } from "./library";
import { read, timeOf, warningsOf, written } from "./message";

/** What Leat brings along. */
export interface ElasticAdapterOptions {
    /** Outside of the built-in ones. */
    readonly middleware?: readonly Middleware[];
    /** When calls are tried again; `maxRetries` and `retryOnTimeout` of the client stand in its place. */
    readonly retry?: Omit<RetryOptions, "retriesMax" | "retryOnTimeout">;
    /** What sends. Default: undici, with the client's `tls`. */
    readonly connection?: Connection;
}

const NAME = "elastic-transport-js";
/** What a string can hold, as the library has it. */
const BYTES_MAX = 0x1fff_ffe8;

/**
 * A class for the client's option `Transport`:
 *
 * ```js
 * import * as elastic from "@elastic/transport";
 * const client = new Client({ node, Transport: elasticTransport(elastic) });
 * ```
 *
 * `import` and `require` have a copy of the library each: take it the way the client was taken, so that its errors are the client's.
 *
 * Results, errors, events and options are the library's. Retries, timeouts, limits and the choice of nodes are Leat's: a POST is not
 * sent again unless that is safe, a timeout includes the body, an abort ends a backoff, errors have no headers and no body of the
 * request; a compressed body that is read as a stream comes decoded. Not followed: `nodeFilter`, `nodeSelector`, `sniffInterval`, `sniffOnConnectionFault`, `maxPathLength`, `retryBackoff`,
 * `openTelemetry` (give Leat's as middleware), and the pool's `agent`, `proxy` and `caFingerprint` (give a `connection`).
 */
export function elasticTransport<L extends ElasticLibrary>(library: L, given: ElasticAdapterOptions = {}): L["Transport"] {
    const Base = library.Transport as unknown as new (options: ElasticOptions) => ElasticTransport;
    class LeatTransport extends Base {
        readonly #inside: Inside;

        constructor(options: ElasticOptions) {
            // It would ask before this is whole.
            super({ ...options, sniffOnStart: false });
            this.#inside = new Inside(library, given, options, (event, error, result) => void this.diagnostic.emit(event, error, result));
            if (options.sniffOnStart === true) this.sniff({ reason: "sniff-on-start", requestId: 0, context: options.context ?? null });
        }

        override async request(params: ElasticParams, options: ElasticRequestOptions = {}): Promise<unknown> {
            const result = await this.#inside.request(params, options);
            return options.meta === true ? result : result.body;
        }

        /** Closes Leat's connections. The client's own `close` empties its pool, and knows nothing of them; idle ones keep no process. */
        close(): Promise<void> {
            return this.#inside.close();
        }
    }
    return LeatTransport;
}

type Emit = (event: string, error: unknown, result: ElasticResult) => void;

class Inside {
    readonly #library: ElasticLibrary;
    readonly #given: ElasticAdapterOptions;
    readonly #options: ElasticOptions;
    readonly #emit: Emit;
    readonly #serializer: ElasticSerializer;
    readonly #retry: Middleware;
    #connection: Connection | undefined;
    #plain: Transport | undefined = undefined;
    #compressing: Transport | undefined = undefined;
    /** The nodes that both have. */
    #nodes: readonly ElasticConnection[] = [];
    #ids = 0;

    constructor(library: ElasticLibrary, given: ElasticAdapterOptions, options: ElasticOptions, emit: Emit) {
        this.#library = library;
        this.#given = given;
        this.#options = options;
        this.#emit = emit;
        this.#serializer = options.serializer ?? new library.Serializer();
        this.#retry = retry({ ...given.retry, retriesMax: options.maxRetries ?? 3, retryOnTimeout: options.retryOnTimeout ?? false });
        this.#connection = given.connection;
    }

    async request(params: ElasticParams, options: ElasticRequestOptions): Promise<ElasticResult> {
        const result = this.#result(params, options);
        try {
            this.#emit("serialization", null, result);
            const { headers, ...sent } = written(params, options, this.#options, this.#serializer);
            Object.assign(result.meta.request.params, sent, { headers });
            this.#emit("request", null, result);
            const transport = this.#transport(options.compression ?? this.#options.compression ?? false);
            const response = await transport.request<Buffer>({
                method: params.method,
                path: sent.path.startsWith("/") ? sent.path : `/${sent.path}`,
                ...(sent.querystring === "" ? {} : { querystring: sent.querystring }),
                headers: this.#headers(headers),
                body: sent.body,
                as: options.asStream === true ? "stream" : "bytes",
                signal: options.signal,
                tryTimeoutMs: timeOf(options.requestTimeout) ?? timeOf(this.#options.requestTimeout),
                retriesMax: options.maxRetries,
                retryOnTimeout: options.retryOnTimeout,
            });
            this.#answered(params, options, result, response);
        } catch (error) {
            if (error instanceof TransportError) result.meta.attempts = Math.max(0, error.attempts.length - 1);
            const told = failed(this.#library, error, result);
            this.#emit("response", told, result);
            throw told;
        }
        this.#emit("response", null, result);
        return result;
    }

    async close(): Promise<void> {
        await Promise.all([this.#plain?.close(), this.#compressing?.close()]);
    }

    #answered({ method }: ElasticParams, options: ElasticRequestOptions, result: ElasticResult, { status, headers, body, attempts }: TransportResponse<Buffer>): void {
        const { errors } = this.#library;
        result.statusCode = status;
        result.headers = headers;
        result.meta.attempts = attempts.length - 1;
        const node = attempts.at(-1)?.node;
        result.meta.connection = this.#nodes.find(({ url }) => url.origin === node) ?? null;
        const { productCheck } = this.#options;
        if (typeof productCheck === "string" && status >= 200 && status < 300 && headers["x-elastic-product"] !== productCheck) {
            throw new errors.ProductNotSupportedError(productCheck, tellable(result));
        }
        if (options.asStream === true) {
            result.body = body;
            return;
        }
        this.#emit("deserialization", null, result);
        result.body = read(method, status, headers, body, this.#serializer);
        const isAbsent = method === "HEAD" && status === 404;
        if (status >= 400 && !isAbsent && options.ignore?.includes(status) !== true) throw new errors.ResponseError(tellable(result));
    }

    #result(params: ElasticParams, options: ElasticRequestOptions): ElasticResult {
        const { context, name = NAME, generateRequestId } = this.#options;
        const merged = context === null || context === undefined ? (options.context ?? null) : { ...context, ...options.context };
        const id = options.id ?? generateRequestId?.(params, options) ?? (this.#ids = (this.#ids + 1) & 0x7fff_ffff);
        return {
            body: undefined,
            statusCode: 0,
            headers: {},
            get warnings() {
                return warningsOf(this.headers);
            },
            meta: { context: merged, name, request: { params: { method: params.method, path: params.path }, options, id }, connection: null, attempts: 0, aborted: false },
        };
    }

    /** Credentials are the pool's, by node; it gives all nodes the same. */
    #headers(own: Readonly<Record<string, string>>): Record<string, string | ReturnType<typeof secret>> {
        const headers: Record<string, string | ReturnType<typeof secret>> = {};
        for (const [name, value] of Object.entries({ ...this.#nodes[0]?.headers, ...own })) headers[name.toLowerCase()] = name.toLowerCase() === "authorization" ? secret(value) : value;
        return headers;
    }

    #transport(isCompressing: boolean): Transport {
        const { connections } = this.#options.connectionPool;
        if (connections.length === 0) throw new TransportError("node.none", "the connection pool has no connections");
        if (connections.length !== this.#nodes.length || connections.some((each, at) => each !== this.#nodes[at])) {
            this.#nodes = [...connections];
            const urls = this.#nodes.map(urlOf);
            this.#plain?.setNodes(urls);
            this.#compressing?.setNodes(urls);
        }
        if (isCompressing) return (this.#compressing ??= this.#made([compression({ request: "gzip", requestBytesMin: 1 })]));
        return (this.#plain ??= this.#made([]));
    }

    #made(more: readonly Middleware[]): Transport {
        const tls = this.#nodes[0]?.tls ?? undefined;
        this.#connection ??= undici(tls === undefined ? {} : { tls });
        const { maxResponseSize, maxCompressedResponseSize } = this.#options;
        return new Transport({
            nodes: this.#nodes.map(urlOf),
            connection: this.#connection,
            middleware: [...(this.#given.middleware ?? []), this.#retry, ...more],
            timeoutMs: Infinity,
            limits: { rawBytesMax: maxCompressedResponseSize ?? maxResponseSize ?? BYTES_MAX, decodedBytesMax: maxResponseSize ?? BYTES_MAX },
        });
    }
}

/** Without user and password, which are in the headers already. */
function urlOf({ url }: ElasticConnection): string {
    return url.origin + url.pathname;
}
