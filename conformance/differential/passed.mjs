// Replays the request cases through the gateway and looks at what the server behind it gets: the requests that the corpus
// has a server see, each once and with its body, and nothing else. What a client sees cannot show a request too many.
import { exchange } from "./exchange.mjs";
import { lenient } from "./replay.mjs";
import { misread } from "./verdict.mjs";

const QUIET_MS = 40;
/** A failure is believed when it shows again with this much patience. */
const QUIET_MS_AGAIN = 1_000;
/** What was still on its way to the server behind when the client was done. */
const SETTLE_MS = 2;
/** Breaches that are found while a body is passed on: some of the request may have gone ahead, but never all of it. */
const FOUND_IN_A_BODY = /^(chunk\.|trailer\.|body\.cut_off|limit\.(body_bytes|chunk_extension|trailer_bytes))/;

/**
 * Resolves to the failures, `{ name, expected, observed }`. `places` are gateways with an echo of their own each,
 * `{ port, echo }`, where one case at a time is sent; echoes record what they take.
 */
export async function passedOn(places, cases, profile) {
    const failures = [];
    let next = 0;
    const work = async (place) => {
        while (next < cases.length) {
            const one = cases[next];
            next += 1;
            if (!(await look(place, one, profile, QUIET_MS))) continue;
            // On a busy machine a request may only now get there: it is not to be taken for one of the second try.
            await new Promise((settled) => setTimeout(settled, QUIET_MS_AGAIN));
            const failure = await look(place, one, profile, QUIET_MS_AGAIN);
            if (failure) failures.push({ name: one.name, ...failure });
        }
    };
    await Promise.all(places.map(work));
    return failures;
}

async function look({ port, echo }, one, profile, quietMs) {
    echo.recorded();
    await exchange(port, [one.bytes], { eof: one.eof, quietMs });
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
    return judge(echo.recorded(), lenient(one[profile]));
}

/** Compares what was recorded with an outcome; undefined if they agree. */
export function judge({ requests, strayBytes }, outcome) {
    const due = outcome.filter((entry) => "accept" in entry);
    // What is told to be the handler's affair may stop at the gateway.
    const least = due.filter(({ accept }) => !accept.any).length;
    const say = (expected, observed) => ({ expected, observed: `${observed}: ${JSON.stringify(requests)}` });
    if (requests.length < least || requests.length > due.length) return say(`${least} requests behind the gateway`, requests.length);
    if (requests.length === due.length) {
        const wrong = due.findIndex(({ accept }, at) => !accept.any && misread(requests[at], accept));
        if (wrong !== -1) return say(`request ${wrong + 1} as ${JSON.stringify(due[wrong].accept)}`, "another one");
    }
    const last = outcome.at(-1);
    const mayBeBegun = last && ("incomplete" in last || [last.refuse ?? []].flat().some((code) => FOUND_IN_A_BODY.test(code)));
    return strayBytes > 0 && !mayBeBegun ? say("no byte of anything else", `${strayBytes} bytes`) : undefined;
}
