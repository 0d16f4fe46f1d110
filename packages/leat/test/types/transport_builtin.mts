// What the types of the built-in middleware allow and refuse. It is compiled by `npm run lint`, and never run.
import * as api from "@opentelemetry/api";
import { auth, breaker, bulkRetry, compression, deadline, diagnostics, limits, openTelemetry, product, redaction, retry, secret, Transport } from "leat/transport";

export const transport = new Transport({
    nodes: "http://127.0.0.1:1",
    middleware: [
        redaction({ values: [secret("a")], body: ["ssn"] }),
        diagnostics(),
        openTelemetry({ api, db: { system: "elasticsearch", describe: ({ path }, { route }) => ({ operation: route ?? path }) } }),
        product({ headers: { "user-agent": "me", cookie: null }, check: { header: "x-product", value: "Mine" } }),
        deadline({ callMs: 1000 }),
        limits({ decodedBytesMax: 1000 }),
        retry({ statuses: [429], budget: { ratio: 0.1 } }),
        breaker({ slowRate: false, onChange: (state) => void (state === "refuse") }),
        auth({ bearer: async ({ signal }) => ({ token: (await fetch("http://127.0.0.1:1", { signal })).statusText, expiresInMs: 1 }) }),
        bulkRetry({ retriesMax: 1 }),
        compression({ accept: ["zstd", "gzip"], request: "gzip" }),
    ],
});

// @ts-expect-error a jitter is one of two
retry({ jitter: "none" });
// @ts-expect-error a budget is settings, or none
retry({ budget: true });
// @ts-expect-error codings are named
compression({ accept: ["deflate"] });
// @ts-expect-error a number of milliseconds
deadline({ callMs: "1s" });
// @ts-expect-error headers in lower case
product({ headers: { "User-Agent": "me" } });
// @ts-expect-error the API is the application's
openTelemetry({});
// @ts-expect-error waiting is bounded by the call
bulkRetry({ budget: false });
// @ts-expect-error a secret is no option of its own
auth({ token: secret("a") });
