// Replays the corpus against a Leat listener: every case as a whole, and cut in two at every byte boundary.
import { exchange } from "./exchange.mjs";
import { expected, observed } from "./verdict.mjs";

/** Longer cases are cut at so many places, evenly spread. */
const CUTS_MAX = 64;
/** Cases that end in silence cost the wait for it. */
const CUTS_OF_WAITING_MAX = 4;
const AT_ONCE = 48;
const QUIET_MS = 250;
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
    const failures = [];
    let next = 0;
    const work = async () => {
        while (next < jobs.length) {
            const job = jobs[next];
            next += 1;
            const difference = (await run(port, job, statuses)) && (await run(port, job, statuses));
            if (difference) failures.push({ name: job.one.name, cut: job.cut, ...difference });
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { exchanges: jobs.length, failures };
}

/** Places to cut `length` bytes at. */
function cuts(length, outcome) {
    const waits = outcome.length === 0 || "incomplete" in outcome.at(-1);
    const count = Math.min(Math.max(length - 1, 0), waits ? CUTS_OF_WAITING_MAX : CUTS_MAX);
    return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * (length - 1)) / count));
}

async function run(port, { one, outcome, cut }, statuses) {
    const parts = cut === undefined ? [one.bytes] : [one.bytes.subarray(0, cut), one.bytes.subarray(cut)];
    const words = expected(outcome);
    const waits = words.length === 0 || words.at(-1) === "wait";
    // Taken as a whole, a case is watched until it is silent: a reply too many would be a request that nobody sent.
    const patience = cut === undefined || waits ? { quietMs: QUIET_MS } : { quietMs: PATIENCE_MS, enough: words.length };
    const result = await exchange(port, parts, { eof: one.eof, ...patience });
    result.replies.forEach((reply, at) => {
        if (outcome[at]?.accept?.any) reply.status = 200;
    });
    const got = observed(result, outcome);
    const wrong = result.replies.find(({ status }, at) => status >= 400 && outcome[at]?.refuse && ![outcome[at].refuse].flat().some((code) => statuses.get(code) === status));
    if (wrong) got[got.indexOf("refuse")] = `refuse with ${wrong.status}`;
    return got.join() === words.join() ? undefined : { expected: words.join(", "), observed: got.join(", ") };
}

/** What becomes of TRACE, CONNECT and `*` behind the parser is the handler's affair: any reply will do. */
function lenient(outcome) {
    return outcome.map((entry) => {
        const { method, target } = entry.accept ?? {};
        return method === "TRACE" || method === "CONNECT" || target === "*" ? { accept: { any: true } } : entry;
    });
}
