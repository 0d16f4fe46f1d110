// @elastic/transport as a subject: the same words as Leat's, put into its own.
import { Transport, UndiciConnection, WeightedConnectionPool } from "@elastic/transport";

/** What it is asked for with, at most; undefined leaves its own defaults. */
export function reference(t, url, { retriesMax, timeoutMs, backoffMs, decodedBytesMax } = {}) {
    const pool = new WeightedConnectionPool({ Connection: UndiciConnection });
    pool.addConnection(url);
    t.after(() => pool.empty());
    const transport = new Transport({
        connectionPool: pool,
        ...(retriesMax === undefined ? {} : { maxRetries: retriesMax }),
        ...(timeoutMs === undefined ? {} : { requestTimeout: timeoutMs }),
        ...(backoffMs === undefined ? {} : { retryBackoff: () => backoffMs / 1000 }),
        ...(decodedBytesMax === undefined ? {} : { maxResponseSize: decodedBytesMax, maxCompressedResponseSize: decodedBytesMax }),
    });
    return {
        async request({ method, path, querystring, body, headers, signal, timeoutMs: ownTimeoutMs, retryTimeouts }) {
            const { statusCode, body: answer } = await transport.request(
                { method, path, ...(querystring === undefined ? {} : { querystring }), ...(body === undefined ? {} : { body }) },
                {
                    meta: true,
                    ...(headers === undefined ? {} : { headers }),
                    ...(signal === undefined ? {} : { signal }),
                    ...(ownTimeoutMs === undefined ? {} : { requestTimeout: ownTimeoutMs }),
                    ...(retryTimeouts === undefined ? {} : { retryOnTimeout: retryTimeouts }),
                },
            );
            return { status: statusCode, body: answer };
        },
    };
}
