// Leat's transport as a subject: what one would write for the same purpose.
import { Transport } from "leat/transport";
import { compression } from "../../../dist/transport/builtin/compression.js";
import { retry } from "../../../dist/transport/builtin/retry.js";

/** What it is asked for with, at most; undefined leaves its own defaults. */
export function leat(t, url, { retriesMax, timeoutMs, backoffMs, decodedBytesMax } = {}) {
    const transport = new Transport({
        nodes: url,
        middleware: [
            retry({
                ...(retriesMax === undefined ? {} : { retriesMax }),
                ...(backoffMs === undefined ? {} : { baseMs: backoffMs, maxMs: backoffMs }),
            }),
            compression(),
        ],
        throwStatus: true,
        // The reference's is that of a try.
        ...(timeoutMs === undefined ? {} : { tryTimeoutMs: timeoutMs }),
        ...(decodedBytesMax === undefined ? {} : { limits: { decodedBytesMax } }),
    });
    t.after(() => transport.close());
    return {
        request({ retryTimeouts, ...call }) {
            return transport.request(retryTimeouts === undefined ? call : { ...call, retryOnTimeout: retryTimeouts });
        },
    };
}
