// Calls whose costs are counted: a transport on a connection that has its answer at once, so that all is the transport's own.
import * as api from "@opentelemetry/api";
import { auth, breaker, bulkRetry, cache, compression, deadline, diagnostics, limits, openTelemetry, product, redaction, retry, Transport } from "leat/transport";

const RESPONSE = { status: 200, headers: { "content-type": "application/octet-stream" }, body: Buffer.from("ok") };
const REQUEST = Object.freeze({ method: "GET", path: "/", as: "bytes" });

/** `send` answers at once, or as connections with a network do; the promise that it answers by is one of those counted. */
const calling = (middleware, more = {}, send = () => RESPONSE) => {
    const connection = { name: "at once", send, close: async () => {} };
    const transport = new Transport({ nodes: "http://a.test", connection, middleware, timeoutMs: Infinity, ...more });
    return () => transport.request(REQUEST);
};

const later = (middleware) => calling(middleware, {}, () => Promise.resolve(RESPONSE));

const stack = () => [...openTelemetry({ api }), auth({ bearer: "token-1" }), product({ headers: { "x-origin": "a" } }), compression(), retry()];

/** With the most that a call may take: bytes of the heap and promises, the one of `await` among them. */
export const CALLS = {
    "no middleware": { make: () => calling([]), bytesMax: 1600, promisesMax: 2 },
    "no middleware, with a timeout": { make: () => calling([], { timeoutMs: 30_000 }), bytesMax: 1700, promisesMax: 2 },
    retry: { make: () => calling([retry()]), bytesMax: 1600, promisesMax: 2 },
    "auth, fixed": { make: () => calling([auth({ bearer: "token-1" })]), bytesMax: 1600, promisesMax: 2 },
    product: { make: () => calling([product({ headers: { "x-origin": "a" } })]), bytesMax: 1600, promisesMax: 2 },
    compression: { make: () => calling([compression()]), bytesMax: 1600, promisesMax: 2 },
    "deadline and limits": { make: () => calling([deadline({ callMs: 10_000 }), limits({ decodedBytesMax: 10_000 })]), bytesMax: 2400, promisesMax: 2 },
    "openTelemetry, without an SDK": { make: () => calling([...openTelemetry({ api })]), bytesMax: 1600, promisesMax: 2 },
    "diagnostics, without a subscriber": { make: () => calling([...diagnostics()]), bytesMax: 1600, promisesMax: 2 },
    redaction: { make: () => calling([redaction()]), bytesMax: 1600, promisesMax: 2 },
    breaker: { make: () => calling([breaker()]), bytesMax: 2000, promisesMax: 2 },
    "bulkRetry, of what is no bulk": { make: () => calling([bulkRetry()]), bytesMax: 1800, promisesMax: 2 },
    "cache, of what is not to be kept": { make: () => calling([cache()]), bytesMax: 2000, promisesMax: 2 },
    "five: openTelemetry, auth, product, compression, retry": { make: () => calling(stack()), bytesMax: 1850, promisesMax: 2 },
    "no middleware, an answer later": { make: () => later([]), bytesMax: 3700, promisesMax: 10 },
    "retry, an answer later": { make: () => later([retry()]), bytesMax: 3700, promisesMax: 10 },
    "five, an answer later": { make: () => later(stack()), bytesMax: 3950, promisesMax: 10 },
};
