// How calls are tried again: options, their defaults and what is made of them.
import { wrongOption } from "../error";
import { countOf, durationOf, flagOf, objectOf, statusesOf } from "../given";
import { type Jitter } from "../policy/backoff";
import { Budget, BURST_MAX } from "../policy/budget";
import { type RetrySettings } from "../policy/retry";
import { usOf } from "../policy/time";

/** How many retries there may be beside calls, over all nodes: at most `burst + ratio × calls + perSecond × seconds`. */
export interface RetryBudgetOptions {
    /** Retries that each call pays for, 0 to 1. Default: 0.2. */
    readonly ratio?: number;
    /** Retries a second that need no calls. Default: 10. */
    readonly perSecond?: number;
    /** Retries that are saved up at most, and there at first: 1 to 16,777. Default: 100. */
    readonly burst?: number;
}

/** When calls are tried again. */
export interface RetryOptions {
    /** Tries after the first one, 0 to 100. A call may say otherwise (`retriesMax`). Default: 3. */
    readonly retriesMax?: number;
    /** The first wait is at most so long, each further one at most twice as long. Default: 100 ms. */
    readonly baseMs?: number;
    /** No wait is longer, unless the peer asked for it. Default: 10,000 ms. */
    readonly maxMs?: number;
    /** `equal` waits for half of it surely, `full` for any part of it. Default: `equal`. */
    readonly jitter?: Jitter;
    /** The longest wait that a peer may ask for by `Retry-After`; for a longer one its response is the result. Default: 30,000 ms. */
    readonly retryAfterMsMax?: number;
    /** Statuses that idempotent calls are tried again for. Default: 429, 502, 503, 504. */
    readonly statuses?: readonly number[];
    /** Statuses that say that nothing was done, so that any call is tried again. Default: 429. */
    readonly statusesAnyMethod?: readonly number[];
    /** Whether an idempotent call is tried again when a try took too long. A call may say otherwise. Default: false, since a slow peer would get the load twice. */
    readonly retryOnTimeout?: boolean;
    /** How many retries there may be beside calls; `false` for no such limit. Default: see `RetryBudgetOptions`. */
    readonly budget?: RetryBudgetOptions | false;
}

const RETRIES = 3;
const RETRIES_MAX = 100;
const BASE_MS = 100;
const MAX_MS = 10_000;
/** As long as a call may take by default; a longer wait could not end well. */
const RETRY_AFTER_MS_MAX = 30_000;
const STATUSES = [429, 502, 503, 504];
/** 503 does not say that nothing was done, whatever stands beside it (RFC 9110 section 9.2.2). */
const STATUSES_ANY_METHOD = [429];
/** A fifth more load than there would be is bearable; ten a second keep a quiet client able to retry at all. */
const BUDGET = { ratio: 0.2, perSecond: 10, burst: 100 };
const DAY_MS = 86_400_000;

const KNOWN = ["retriesMax", "baseMs", "maxMs", "jitter", "retryAfterMsMax", "statuses", "statusesAnyMethod", "retryOnTimeout", "budget"];

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`
 */
export function retrySettingsOf(given: unknown = {}): { readonly rules: RetrySettings; readonly budget: Budget | undefined } {
    const options = objectOf("retry", given, KNOWN) as RetryOptions;
    const baseMs = waitOf("retry.baseMs", options.baseMs, BASE_MS);
    const maxMs = waitOf("retry.maxMs", options.maxMs, Math.max(MAX_MS, baseMs));
    if (baseMs > maxMs) throw wrongOption("retry.baseMs", baseMs, `at most retry.maxMs, which is ${maxMs}`);
    const { jitter = "equal" } = options;
    if ((jitter as string) !== "equal" && (jitter as string) !== "full") throw wrongOption("retry.jitter", jitter, '"equal" or "full"');
    const statusesAnyMethod = statusesOf("retry.statusesAnyMethod", options.statusesAnyMethod, STATUSES_ANY_METHOD);
    const rules: RetrySettings = {
        retriesMax: retriesOf("retry.retriesMax", options.retriesMax, RETRIES),
        backoff: { baseUs: usOf(baseMs), maxUs: usOf(maxMs), jitter },
        retryAfterMaxUs: usOf(durationOf("retry.retryAfterMsMax", options.retryAfterMsMax, RETRY_AFTER_MS_MAX)),
        statuses: new Set([...statusesOf("retry.statuses", options.statuses, STATUSES), ...statusesAnyMethod]),
        statusesAnyMethod: new Set(statusesAnyMethod),
        notSent: true,
        broken: true,
        timedOut: flagOf("retry.retryOnTimeout", options.retryOnTimeout, false),
    };
    return { rules, budget: budgetOf(options.budget) };
}

/** A number of retries: a whole one from 0 to 100. */
export function retriesOf(name: string, given: unknown, otherwise: number): number {
    const count = countOf(name, given, otherwise, 0);
    if (count > RETRIES_MAX) throw wrongOption(name, count, `a whole number from 0 to ${RETRIES_MAX}`);
    return count;
}

/** Waits are whole microseconds, so none is shorter than one. */
export function waitOf(name: string, given: unknown, otherwise: number): number {
    const accepted = "milliseconds from 0.001 to a day";
    const wait = durationOf(name, given, otherwise, accepted);
    if (usOf(wait) < 1 || wait > DAY_MS) throw wrongOption(name, wait, accepted);
    return wait;
}

function budgetOf(given: unknown = {}): Budget | undefined {
    if (given === false) return undefined;
    const options = objectOf("retry.budget", given, ["ratio", "perSecond", "burst"]) as RetryBudgetOptions;
    const { ratio = BUDGET.ratio } = options;
    if (typeof ratio !== "number" || !(ratio >= 0 && ratio <= 1)) throw wrongOption("retry.budget.ratio", ratio, "a number from 0 to 1");
    const burst = countOf("retry.budget.burst", options.burst, BUDGET.burst);
    if (burst > BURST_MAX) throw wrongOption("retry.budget.burst", burst, `a whole number from 1 to ${BURST_MAX}`);
    return new Budget({ ratio, perSecond: countOf("retry.budget.perSecond", options.perSecond, BUDGET.perSecond, 0), burst });
}
