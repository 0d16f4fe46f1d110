// The faults that a client of this kind must not have, each as a small play. It is given a subject (`make` opens a client on an
// address) and returns facts, which are compared with what the subject is known to do: `reference` is @elastic/transport 9.4.0 as it
// comes, and `leat` is what is right. Times are short, and stand in the facts as orders of events only.
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { json, origin } from "./origin.mjs";

const TIMEOUT_MS = 100;
const MIB = 1024 * 1024;

/** What a request came to, in a word. */
const outcome = (promise) => promise.then(({ status }) => `answered ${status}`, (error) => `failed: ${error.name}`);
const ended = (promise) => outcome(promise).then((text) => text.replace(/:.*/, ""));

export const FAULTS = [
    {
        name: "the timeout of one request ends no other that shares its AbortSignal",
        async play(t, make) {
            const { signal } = new AbortController();
            let answerSibling;
            const { url, asked } = await origin(t, ({ path, reply }) => {
                if (path === "/sibling") answerSibling = () => json(reply, 200, {});
            });
            const client = make(t, url, { retriesMax: 0 });
            const sibling = outcome(client.request({ method: "GET", path: "/sibling", signal }));
            await asked(1);
            const late = await ended(client.request({ method: "GET", path: "/late", signal, timeoutMs: TIMEOUT_MS }));
            answerSibling();
            return { late, sibling: (await sibling).replace(/:.*/, ""), aborted: signal.aborted };
        },
        reference: { late: "failed", sibling: "failed", aborted: false },
        leat: { late: "failed", sibling: "answered 200", aborted: false },
    },
    {
        name: "a small body that inflates to a large one ends at the limit",
        async play(t, make) {
            const bytes = gzipSync(Buffer.alloc(64 * MIB, "a"));
            const { url } = await origin(t, ({ reply }) => {
                reply.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
                reply.end(bytes);
            });
            const client = make(t, url, { retriesMax: 0, decodedBytesMax: MIB });
            const delivered = await client.request({ method: "GET", path: "/" }).then(({ body }) => body.length, () => 0);
            return { smaller: bytes.length < MIB / 8, delivered };
        },
        reference: { smaller: true, delivered: 64 * MIB },
        leat: { smaller: true, delivered: 0 },
    },
    {
        name: "a body that drips is cut off by the timeout",
        async play(t, make) {
            const { url } = await origin(t, async ({ reply }) => {
                reply.writeHead(200, { "content-type": "text/plain" });
                // Each piece comes well within the timeout, and all together do not.
                for (let piece = 0; piece < 8 && !reply.destroyed; piece++) {
                    reply.write("drip");
                    await pause(TIMEOUT_MS / 2);
                }
                reply.end();
            });
            const client = make(t, url, { retriesMax: 0 });
            return { dripped: await ended(client.request({ method: "GET", path: "/", timeoutMs: TIMEOUT_MS })) };
        },
        reference: { dripped: "answered 200" },
        leat: { dripped: "failed" },
    },
    {
        name: "an abort during a backoff settles at once",
        async play(t, make) {
            const backoffMs = 400;
            const { url, asked, seen } = await origin(t, ({ reply }) => void reply.destroy());
            const client = make(t, url, { retriesMax: 1, backoffMs });
            const controller = new AbortController();
            const settled = ended(client.request({ method: "GET", path: "/", signal: controller.signal }));
            await asked(1);
            await pause(backoffMs / 8);
            const aborted = performance.now();
            controller.abort();
            const result = await settled;
            // Between at once and the rest of the backoff; a busy machine is late, never early.
            return { result, waited: performance.now() - aborted > backoffMs / 2, sent: seen.length };
        },
        reference: { result: "failed", waited: true, sent: 1 },
        leat: { result: "failed", waited: false, sent: 1 },
    },
    {
        name: "a POST answered 503 is not sent again, whatever Retry-After says",
        async play(t, make) {
            const { url, seen } = await origin(t, ({ reply }) => json(reply, 503, {}, { "retry-after": "2" }));
            const began = performance.now();
            await ended(make(t, url).request({ method: "POST", path: "/", body: { a: 1 } }));
            return { sent: seen.length, before: performance.now() - began < 2000 };
        },
        reference: { sent: 4, before: true },
        leat: { sent: 1, before: true },
    },
    {
        name: "a request answered 429 is sent again after Retry-After, and not before",
        async play(t, make) {
            const times = [];
            const { url, seen } = await origin(t, ({ number, reply }) => {
                times.push(performance.now());
                json(reply, number === 0 ? 429 : 200, {}, { "retry-after": "1" });
            });
            const result = await ended(make(t, url).request({ method: "POST", path: "/", body: { a: 1 } }));
            return { result, sent: seen.length, waited: times.length > 1 && times[1] - times[0] >= 990 };
        },
        reference: { result: "failed", sent: 1, waited: false },
        leat: { result: "answered 200", sent: 2, waited: true },
    },
    {
        name: "to try again after a timeout can be asked for by one request",
        async play(t, make) {
            const { url, seen } = await origin(t, ({ number, reply }) => {
                if (number > 0) json(reply, 200, {});
            });
            const client = make(t, url, { retriesMax: 1, backoffMs: 1, timeoutMs: TIMEOUT_MS });
            const result = await ended(client.request({ method: "GET", path: "/", retryTimeouts: true }));
            return { result, sent: seen.length };
        },
        reference: { result: "failed", sent: 1 },
        leat: { result: "answered 200", sent: 2 },
    },
    {
        name: "the caller's querystring object stays as it was",
        async play(t, make) {
            const { url, seen } = await origin(t, ({ reply }) => json(reply, 200, {}));
            const querystring = { a: undefined, list: ["x", "y"], flag: true };
            const before = inspect(querystring);
            await make(t, url).request({ method: "GET", path: "/", querystring });
            return { same: inspect(querystring) === before, path: seen[0].path };
        },
        reference: { same: false, path: "/?list=x%2Cy&flag=true" },
        leat: { same: true, path: "/?list=x&list=y&flag=true" },
    },
    {
        name: "an error tells no cookie, no key and no password of the body",
        async play(t, make) {
            const { url } = await origin(t, ({ reply }) => json(reply, 500, { error: "down" }, { "set-cookie": "session=s3cr3t-answer" }));
            const headers = { cookie: "session=s3cr3t-cookie", "x-api-key": "s3cr3t-key", authorization: "Bearer s3cr3t-bearer" };
            const error = await make(t, url, { retriesMax: 0 }).request({ method: "PUT", path: "/", headers, body: { password: "s3cr3t-password" } }).catch((each) => each);
            const told = `${String(error)}\n${error.stack}\n${JSON.stringify(error)}\n${inspect(error, { depth: 20, showHidden: true })}`;
            return Object.fromEntries(["answer", "cookie", "key", "bearer", "password"].map((what) => [what, told.includes(`s3cr3t-${what}`)]));
        },
        reference: { answer: true, cookie: true, key: true, bearer: false, password: true },
        leat: { answer: false, cookie: false, key: false, bearer: false, password: false },
    },
];
