// Leat's errors as those of the library, so that `instanceof` and `name` stay what programs compare with.
import { TransportError } from "../../error";
import { type ElasticLibrary, type ElasticResult } from "./library";

/** Fields that stand in for whoever sends them. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["set-cookie", "authorization", "x-api-key", "www-authenticate"]);

/** The library's error for what failed. */
export function failed({ errors }: ElasticLibrary, error: unknown, result: ElasticResult): unknown {
    if (!(error instanceof TransportError)) return error;
    const options = { cause: error };
    const told = tellable(result);
    told.meta.aborted = error.code === "call.aborted";
    switch (error.code) {
        case "call.aborted":
            return new errors.RequestAbortedError("Request aborted", told, options);
        case "response.limit":
            return new errors.RequestAbortedError(error.message, told, options);
        case "call.deadline":
        case "connection.timeout":
            return new errors.TimeoutError("Request timed out", told, options);
        case "node.none":
            return new errors.NoLivingConnectionsError(error.message, told, options);
        case "product.mismatch":
            return new errors.ProductNotSupportedError("Elasticsearch", told, options);
        case "options.invalid":
        case "request.invalid":
            return new errors.ConfigurationError(error.message);
        default:
            return new errors.ConnectionError(error.message, told, options);
    }
}

/** A result for an error to carry: without what was sent but its address, and without fields that are credentials. */
export function tellable(result: ElasticResult): ElasticResult {
    const { method, path, querystring } = result.meta.request.params;
    const { request, ...meta } = result.meta;
    const headers = Object.fromEntries(Object.entries(result.headers).filter(([name]) => !SECRET_FIELDS.has(name)));
    const { signal } = request.options;
    return {
        body: result.body,
        statusCode: result.statusCode,
        headers,
        warnings: result.warnings,
        meta: { ...meta, connection: null, request: { params: { method, path, querystring }, options: signal === undefined ? {} : { signal }, id: request.id } },
    };
}
