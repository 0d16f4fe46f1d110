// The built-in middleware hold to the conformance kit, and the kit finds what is wrong with others: each of these breaks one rule, and
// exactly the cases that tell of it fail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import * as api from "@opentelemetry/api";
import { auth, breaker, bulkRetry, cache, call, compression, deadline, diagnostics, limits, openTelemetry, product, redaction, retry } from "leat/transport";
import { conformance } from "leat/transport/kit";

const header = middleware({ name: "header", scope: "attempt", onRequest: () => ({ headers: { "x-own": "1" } }) });

const RIGHT = {
    "a header": [() => header],
    "nothing at all": [() => []],
    "an around": [() => middleware({ name: "around", scope: "call", around: (_context, next) => next() })],
    "auth, fixed": [() => auth({ basic: { username: "a", password: "b-password" } })],
    "auth, by a function": [() => auth({ bearer: async () => "token-1" }), { waits: true }],
    "compression of responses": [() => compression()],
    "compression of requests": [() => compression({ request: "gzip" }), { waits: true }],
    deadline: [() => deadline({ callMs: 120_000, tryMs: 90_000 })],
    limits: [() => limits({ decodedBytesMax: 10_000 })],
    product: [() => product({ headers: { "x-origin": "leat" }, check: { header: "x-elastic-product", value: "Elasticsearch" } })],
    retry: [() => retry()],
    redaction: [() => redaction()],
    diagnostics: [() => diagnostics()],
    "openTelemetry, without an SDK": [() => openTelemetry({ api })],
    breaker: [() => breaker()],
    bulkRetry: [() => bulkRetry()],
    "bulkRetry of what the kit sends": [() => bulkRetry({ matches: () => true }), { waits: true }],
    cache: [() => cache()],
    // Without a deadline: zlib takes real time, in which a virtual clock goes far.
    "all of them": [
        () => [redaction(), diagnostics(), openTelemetry({ api }), limits({ decodedBytesMax: 10_000 }), retry(), breaker(), auth({ apiKey: "key-1234" }), bulkRetry(), compression({ request: "gzip" }), cache()].flat(),
        { waits: true },
    ],
};

for (const [what, [make, options]] of Object.entries(RIGHT)) {
    for (const { name, run } of conformance(make, options)) test(`${what}: ${name}`, run);
}

let count = 0;
let kept;
const attempt = (hooks) => middleware({ name: "wrong", scope: "attempt", ...hooks });
const around = (code, more = {}) => middleware({ name: "wrong", scope: "call", around: code, ...more });

/** What breaks a rule, and the cases that fail for it. */
const WRONG = {
    "it writes to the request": [
        () => attempt({ onRequest: ({ request }) => void (request.headers["x-own"] = "1") }),
        ["it holds to the contract as development mode sees it"],
    ],
    "it reads a slot that it does not declare": [
        () => attempt({ onRequest: (context) => void context.get(call) }),
        ["it holds to the contract as development mode sees it"],
    ],
    "it waits for nothing": [() => attempt({ onRequest: async () => undefined }), ["no promise is made before something waits"]],
    "it sends a header with a line end": [() => attempt({ onRequest: () => ({ headers: { "x-own": "a\r\nb: c" } }) }), ["what it sends can be sent"]],
    "it makes an error a response": [
        () => around(async (_context, next) => {
            try {
                return await next();
            } catch {
                return { status: 599, headers: {}, body: Buffer.alloc(0) };
            }
        }),
        ["no promise is made before something waits", "an error of the connection reaches the caller"],
    ],
    "it leaves a timer": [
        () => attempt({ reads: [call], onRequest: (context) => void context.get(call).clock.after(1e9, () => {}) }),
        ["after a call nothing of it waits or listens", "an abort ends a call at once, wherever it is", "the deadline ends a call on time"],
    ],
    "it leaves a listener": [
        () => attempt({ onRequest: (context) => context.signal.addEventListener("abort", () => {}) }),
        ["after a call nothing of it waits or listens"],
    ],
    "it keeps the first response for all": [
        () => attempt({ onResponse: ({ response }) => ({ body: (kept ??= response.body) }) }),
        ["calls that overlap don't mix"],
        () => (kept = undefined),
    ],
    "it counts in a header's name": [() => attempt({ onRequest: () => ({ headers: { [`x-${++count}`]: "1" } }) }), ["every try begins as the first did"]],
    "it reads a stream to its end": [
        () => attempt({ async onResponse({ response }) {
            if (typeof response.body?.toArray === "function") await response.body.toArray();
        } }),
        ["a streamed response is left to its reader", "no promise is made before something waits"],
    ],
    "it sends twice what can be read once": [
        () => around((_context, next) => {
            const first = next();
            return typeof first.then === "function" ? first.then(() => next()) : next();
        }, { repeats: true }),
        ["a body that can be read once is sent whole, and once"],
    ],
    "it puts the request into errors": [() => attempt({ onError: ({ error, request }) => void (error.request = request) }), ["no error tells a secret"]],
    "it answers in the place of the peer": [() => attempt({ onRequest: () => ({ respond: { status: 204, headers: {}, body: Buffer.alloc(0) } }) }), ["a call comes to the peer's response"]],
};

for (const [what, [make, expected, before]] of Object.entries(WRONG)) {
    test(`the kit finds: ${what}`, async () => {
        const failed = [];
        for (const { name, run } of conformance(make)) {
            before?.();
            await run().catch(() => failed.push(name));
        }
        for (const name of expected) assert.ok(failed.includes(name), `not found by "${name}", only by: ${failed.join("; ") || "none"}`);
    });
}
