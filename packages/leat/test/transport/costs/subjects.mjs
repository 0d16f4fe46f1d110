// Calls whose costs are counted: a transport on a connection that has its answer at once, so that all is the transport's own.
import * as api from "@opentelemetry/api";
import { auth, breaker, bulkRetry, cache, compression, deadline, diagnostics, limits, openTelemetry, product, redaction, retry, Transport } from "leat/transport";

const RESPONSE = { status: 200, headers: { "content-type": "application/octet-stream" }, body: Buffer.from("ok") };
const REQUEST = Object.freeze({ method: "GET", path: "/", as: "bytes" });

const calling = (middleware, more = {}) => {
    const connection = { name: "at once", send: () => RESPONSE, close: async () => {} };
    const transport = new Transport({ nodes: "http://a.test", connection, middleware, timeoutMs: Infinity, ...more });
    return () => transport.request(REQUEST);
};

const stack = () => [...openTelemetry({ api }), auth({ bearer: "token-1" }), product({ headers: { "x-origin": "a" } }), compression(), retry()];

/** With the most that a call may take: bytes of the heap and promises, the one of `await` among them. */
export const CALLS = {
    "no middleware": { make: () => calling([]), bytesMax: 3350, promisesMax: 10 },
    "no middleware, with a timeout": { make: () => calling([], { timeoutMs: 30_000 }), bytesMax: 3500, promisesMax: 10 },
    retry: { make: () => calling([retry()]), bytesMax: 4400, promisesMax: 13 },
    "auth, fixed": { make: () => calling([auth({ bearer: "token-1" })]), bytesMax: 3500, promisesMax: 10 },
    product: { make: () => calling([product({ headers: { "x-origin": "a" } })]), bytesMax: 3450, promisesMax: 10 },
    compression: { make: () => calling([compression()]), bytesMax: 3450, promisesMax: 10 },
    "deadline and limits": { make: () => calling([deadline({ callMs: 10_000 }), limits({ decodedBytesMax: 10_000 })]), bytesMax: 4200, promisesMax: 10 },
    "openTelemetry, without an SDK": { make: () => calling([...openTelemetry({ api })]), bytesMax: 3350, promisesMax: 10 },
    "diagnostics, without a subscriber": { make: () => calling([...diagnostics()]), bytesMax: 3400, promisesMax: 10 },
    redaction: { make: () => calling([redaction()]), bytesMax: 3500, promisesMax: 10 },
    breaker: { make: () => calling([breaker()]), bytesMax: 3800, promisesMax: 10 },
    "bulkRetry, of what is no bulk": { make: () => calling([bulkRetry()]), bytesMax: 4100, promisesMax: 12 },
    "cache, of what is not to be kept": { make: () => calling([cache()]), bytesMax: 3800, promisesMax: 10 },
    "five: openTelemetry, auth, product, compression, retry": { make: () => calling(stack()), bytesMax: 4950, promisesMax: 13 },
};
