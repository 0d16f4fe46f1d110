// Waits that double from retry to retry, up to a cap.
import { type Random } from "../clock";
import { part } from "./random";

/**
 * How a wait is spread, so that clients that failed together don't come back together: `full` from nothing up to the ceiling,
 * `equal` from half of it. Names as in Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export type Jitter = "full" | "equal";

/** What waits are made with. */
export interface BackoffSettings {
    /** The first wait is at most so long; more than 0. */
    readonly baseUs: number;
    /** No wait is longer. Not below the base. */
    readonly maxUs: number;
    readonly jitter: Jitter;
}

/** What the wait before retry `number` (from 0) may not reach: `min(max, base × 2^number)`. */
export function ceilingUs({ baseUs, maxUs }: BackoffSettings, number: number): number {
    return Math.min(maxUs, baseUs * 2 ** number);
}

/** The wait before retry `number` (from 0), in whole microseconds. One draw. */
export function backoffUs(settings: BackoffSettings, number: number, random: Random): number {
    const ceiling = ceilingUs(settings, number);
    const sure = settings.jitter === "equal" ? ceiling / 2 : 0;
    return Math.floor(sure + part(random, ceiling - sure));
}
