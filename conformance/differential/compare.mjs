// Sends every case to a subject and collects where it differs from the corpus.
import { exchange } from "./exchange.mjs";
import { expected, observed } from "./verdict.mjs";

const AT_ONCE = 48;
const QUIET_MS = 250;
/** A difference is believed when it shows again on a quiet machine, one case at a time. */
const QUIET_MS_AGAIN = 1_000;
const AGAIN_AT_ONCE = 16;

/** Resolves to `[{ name, expected, observed }]` for the cases whose words differ, in the order of the corpus. */
export async function differences(subject, cases) {
    const suspects = await sift(subject, cases, AT_ONCE, QUIET_MS);
    const found = await sift(subject, suspects.map(({ one }) => one), AGAIN_AT_ONCE, QUIET_MS_AGAIN);
    return found.map(({ one, words }) => ({ name: one.name, expected: expected(one.compatible).join(", "), observed: words.join(", ") }));
}

async function sift(subject, cases, atOnce, quietMs) {
    const found = [];
    let next = 0;
    const work = async () => {
        while (next < cases.length) {
            const at = next;
            next += 1;
            const one = cases[at];
            const words = observed(await exchange(subject.port, [one.bytes], { eof: one.eof, quietMs }), one.compatible);
            if (words.join() !== expected(one.compatible).join()) found.push({ at, one, words });
        }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return found.sort((a, b) => a.at - b.at);
}
