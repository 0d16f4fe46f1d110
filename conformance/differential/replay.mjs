// Replays the corpus against a Leat listener: every case as a whole, and cut in two at every byte boundary.
import { exchange } from "./exchange.mjs";
import { expected, observed } from "./verdict.mjs";

/** Longer cases are cut at so many places, evenly spread. */
const CUTS_MAX = 64;
/** Cases that end in silence cost the wait for it. */
const CUTS_OF_WAITING_MAX = 4;
const AT_ONCE = 48;
const QUIET_MS = 250;
/** A failure is believed when it shows again on a quiet machine, one case at a time. */
const QUIET_MS_AGAIN = 1_000;
/** Where this many were found, nothing is learnt from the next. */
const FAILURES_MAX = 100;
/** How long a cut case may take; it ends as soon as its replies are there. */
const PATIENCE_MS = 5_000;

/**
 * Resolves to `{ exchanges, failures }`; a failure is `{ name, cut, expected, observed }`. `statuses` has the status of
 * every reason code.
 */
export async function replay(port, cases, profile, statuses) {
    const jobs = cases.flatMap((one) => {
        const outcome = lenient(one[profile]);
        return [undefined, ...cuts(one.bytes.length, outcome)].map((cut) => ({ one, outcome, cut }));
    });
    const suspects = [];
    let next = 0;
    const work = async () => {
        while (next < jobs.length) {
            const job = jobs[next];
            next += 1;
            const difference = await run(port, job, statuses, QUIET_MS);
            if (difference) suspects.push(job);
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const failures = [];
    for (const job of suspects) {
        if (failures.length >= FAILURES_MAX) break;
        const difference = await run(port, job, statuses, QUIET_MS_AGAIN);
        if (difference) failures.push({ name: job.one.name, cut: job.cut, ...difference });
    }
    return { exchanges: jobs.length, failures };
}

/** Places to cut `length` bytes at. */
function cuts(length, outcome) {
    const waits = outcome.length === 0 || "incomplete" in outcome.at(-1);
    const count = Math.min(Math.max(length - 1, 0), waits ? CUTS_OF_WAITING_MAX : CUTS_MAX);
    return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * (length - 1)) / count));
}

async function run(port, { one, outcome, cut }, statuses, quietMs) {
    const parts = cut === undefined ? [one.bytes] : [one.bytes.subarray(0, cut), one.bytes.subarray(cut)];
    const words = expected(outcome);
    const waits = words.length === 0 || words.at(-1) === "wait";
    // Taken as a whole, a case is watched until it is silent: a reply too many would be a request that nobody sent.
    const patience = cut === undefined || waits ? { quietMs } : { quietMs: PATIENCE_MS, enough: words.length };
    const result = await exchange(port, parts, { eof: one.eof, ...patience });
    result.replies.forEach((reply, at) => {
        if (outcome[at]?.accept?.any) reply.status = 200;
    });
    const got = observed(result, outcome);
    const refusal = words.indexOf("refuse");
    if (refusal !== -1 && got[refusal] === "refuse") {
        const status = result.replies[refusal]?.status;
        // A peer that has closed its side may go without a reply; to any other an end without one may be a crash.
        if (status === undefined ? !one.eof : ![outcome[refusal].refuse].flat().some((code) => statuses.get(code) === status)) got[refusal] = `refuse with ${status ?? "no status"}`;
    }
    return got.join() === words.join() ? undefined : { expected: words.join(", "), observed: got.join(", ") };
}

/**
 * What becomes of TRACE, CONNECT, `*`, and of paths with dot segments or an encoded NUL behind the parser is the router's and
 * the handler's affair: any reply will do.
 */
export function lenient(outcome) {
    return outcome.map((entry) => {
        const { method, target, path = "" } = entry.accept ?? {};
        const any = method === "TRACE" || method === "CONNECT" || target === "*" || /(^|\/)(\.|%2e){1,2}(\/|$)|%00/i.test(path);
        return any ? { accept: { any: true } } : entry;
    });
}
