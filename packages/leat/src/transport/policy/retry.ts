// Whether to try again, and when.
import { type BackoffSettings, backoffUs } from "./backoff";
import { type Budget } from "./budget";
import { leavesTimeAfter } from "./deadline";
import { type Random } from "../clock";
import { part } from "./random";

/** How a try ended, as far as another one is concerned. */
export type Outcome =
    /** No byte of the request was sent: no name, no connection, no TLS. */
    | "not_sent"
    /** The peer says that it did not process the request (RFC 9113 section 8.7). */
    | "not_processed"
    /** The connection broke before the head of a response was complete; nobody knows what was done. */
    | "broken"
    /** No response came within the time of the try; nobody knows what was done. */
    | "timed_out"
    /** The head of a response came, and nothing of it was passed on yet. */
    | "status"
    /** It broke behind the head; part of the response was passed on. */
    | "passed_on"
    /** The caller does not want it any more. */
    | "cancelled";

/** Why there is no other try; the first reason in this order is told. */
export type Stop =
    /** The outcome is not worth another try: it is a success, or nothing that a try could mend. */
    | "final"
    /** It would be, if the request were idempotent. */
    | "not_idempotent"
    /** Part of the request's body is gone. */
    | "body_consumed"
    /** There were as many tries as may be. */
    | "exhausted"
    /** The upstream asks for a longer wait than we are ready for; to come sooner would be to ignore it. */
    | "retry_after_too_long"
    /** The wait would end at or behind the deadline. */
    | "deadline"
    /** The upstream got as many retries as it may. */
    | "budget";

/** When to try again, and when to stop. */
export interface RetrySettings {
    /** Tries after the first one. */
    readonly retriesMax: number;
    readonly backoff: BackoffSettings;
    /** The longest wait that an upstream may ask for. */
    readonly retryAfterMaxUs: number;
    /** Statuses that idempotent requests are tried again for. */
    readonly statuses: ReadonlySet<number>;
    /** Statuses that say that nothing was done, so that any request is tried again. */
    readonly statusesAnyMethod: ReadonlySet<number>;
    /** Whether what did not reach the upstream, or was not processed by it, is tried again. */
    readonly notSent: boolean;
    readonly broken: boolean;
    readonly timedOut: boolean;
}

/** A try that has ended. */
export interface Try {
    /** Its number, from 0. */
    readonly number: number;
    readonly outcome: Outcome;
    /** Of the outcome `status`. */
    readonly status: number;
    /** What the response's `Retry-After` asks for. */
    readonly retryAfterUs: number | undefined;
    /** Whether doing it twice is the same as doing it once. */
    readonly isIdempotent: boolean;
    /** Whether some of its body was read and is gone. */
    readonly isBodyConsumed: boolean;
}

/** What the method says (RFC 9110 section 9.2.2). Methods are case-sensitive, and unknown ones are not idempotent. */
export function isIdempotentMethod(method: string): boolean {
    return method === "GET" || method === "HEAD" || method === "OPTIONS" || method === "TRACE" || method === "PUT" || method === "DELETE";
}

/**
 * The wait in microseconds until the next try, or the first reason for none. One draw, and none if it stops before the wait is
 * known. The budget is asked last, so that no other reason costs a token.
 *
 * The wait is that of the back-off; if the upstream asked for a time, that time and a part of the back-off's base on top, so that
 * those who were told the same time don't come in the same moment.
 */
export function afterTry(settings: RetrySettings, ended: Try, nowUs: number, deadlineUs: number, budget: Budget | undefined, random: Random): number | Stop {
    const stop = forbids(settings, ended);
    if (stop !== undefined) return stop;
    if (ended.isBodyConsumed) return "body_consumed";
    if (ended.number >= settings.retriesMax) return "exhausted";
    const asked = ended.retryAfterUs;
    if (asked !== undefined && asked > settings.retryAfterMaxUs) return "retry_after_too_long";
    const waitUs = asked === undefined ? backoffUs(settings.backoff, ended.number, random) : asked + Math.floor(part(random, settings.backoff.baseUs));
    if (!leavesTimeAfter(deadlineUs, nowUs, waitUs)) return "deadline";
    return budget === undefined || budget.withdraw(nowUs) ? waitUs : "budget";
}

/** Whether the outcome forbids another try: `final` if with any method, `not_idempotent` if only the method stands in the way. */
function forbids(settings: RetrySettings, { outcome, status, isIdempotent }: Try): "final" | "not_idempotent" | undefined {
    let ifIdempotent = false;
    let always = false;
    if (outcome === "not_sent" || outcome === "not_processed") always = settings.notSent;
    else if (outcome === "broken") ifIdempotent = settings.broken;
    else if (outcome === "timed_out") ifIdempotent = settings.timedOut;
    else if (outcome === "status") {
        always = settings.statusesAnyMethod.has(status);
        ifIdempotent = settings.statuses.has(status);
    }
    if (always) return undefined;
    if (!ifIdempotent) return "final";
    return isIdempotent ? undefined : "not_idempotent";
}
