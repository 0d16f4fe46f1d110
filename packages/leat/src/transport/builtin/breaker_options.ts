// When a breaker refuses: options, their defaults and what is made of them.
import { wrongOption } from "../error";
import { countOf, objectOf, statusesOf } from "../given";
import { type BreakerSettings, type State } from "../policy/breaker";
import { usOf } from "../policy/time";
import { waitOf } from "./retry_options";

/** When tries are refused. */
export interface BreakerOptions {
    /** Rates are taken over the tries of the last so long. Default: 10,000 ms. */
    readonly windowMs?: number;
    /** The least tries in that time for a rate to count. Default: 20. */
    readonly callsMin?: number;
    /** The part of failed tries at which it refuses, above 0 to 1; `false` to rate none. Default: 0.5. */
    readonly failureRate?: number | false;
    /** The part of slow tries at which it refuses, above 0 to 1; `false` to rate none. Default: false. */
    readonly slowRate?: number | false;
    /** A try that takes at least so long is slow. Default: 1,000 ms. */
    readonly slowMs?: number;
    /** Failures in a row at which it refuses, however few tries there were; `false` to count none. Default: 10. */
    readonly consecutiveFailures?: number | false;
    /** Tries that are let through to see how the service is; all of them must succeed. Default: 3. */
    readonly probes?: number;
    /** For how long everything is refused at first; twice as long each time that it is ill again soon. Default: 1,000 ms. */
    readonly openMs?: number;
    /** The longest such time. Default: 60,000 ms. */
    readonly openMsMax?: number;
    /** Statuses that are failures, beside connections that fail and tries that run out of time. Default: 500, 502, 503, 504. */
    readonly statuses?: readonly number[];
    /** Told of each step from one state to another. */
    readonly onChange?: (state: State, before: State) => void;
}

const WINDOW_MS = 10_000;
/** Fewer are chance. */
const CALLS_MIN = 20;
const FAILURE_RATE = 0.5;
const SLOW_MS = 1000;
const CONSECUTIVE_FAILURES = 10;
const PROBES = 3;
/** A restart takes about as long. */
const OPEN_MS = 1000;
const OPEN_MS_MAX = 60_000;
const STATUSES = [500, 502, 503, 504];

const KNOWN = ["windowMs", "callsMin", "failureRate", "slowRate", "slowMs", "consecutiveFailures", "probes", "openMs", "openMsMax", "statuses", "onChange"];

/** Options that cannot be wrong any more. */
interface Read {
    readonly settings: BreakerSettings;
    readonly statuses: ReadonlySet<number>;
    readonly onChange: ((state: State, before: State) => void) | undefined;
}

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`
 */
export function breakerSettingsOf(given: unknown = {}): Read {
    const options = objectOf("breaker", given, KNOWN) as BreakerOptions;
    const openMs = waitOf("breaker.openMs", options.openMs, OPEN_MS);
    const openMsMax = waitOf("breaker.openMsMax", options.openMsMax, Math.max(OPEN_MS_MAX, openMs));
    if (openMs > openMsMax) throw wrongOption("breaker.openMs", openMs, `at most breaker.openMsMax, which is ${openMsMax}`);
    const { onChange, consecutiveFailures: inARow } = options;
    if (onChange !== undefined && typeof onChange !== "function") throw wrongOption("breaker.onChange", onChange, "a function: (state, before) => console.log(state)");
    const settings: BreakerSettings = {
        window: { timeUs: usOf(waitOf("breaker.windowMs", options.windowMs, WINDOW_MS)) },
        callsMin: countOf("breaker.callsMin", options.callsMin, CALLS_MIN),
        failureRate: rateOf("breaker.failureRate", options.failureRate, FAILURE_RATE),
        slowRate: rateOf("breaker.slowRate", options.slowRate, undefined),
        slowCallUs: usOf(waitOf("breaker.slowMs", options.slowMs, SLOW_MS)),
        consecutiveFailures: inARow === false ? undefined : countOf("breaker.consecutiveFailures", inARow, CONSECUTIVE_FAILURES),
        probes: countOf("breaker.probes", options.probes, PROBES),
        openUs: usOf(openMs),
        openMaxUs: usOf(openMsMax),
    };
    return { settings, statuses: new Set(statusesOf("breaker.statuses", options.statuses, STATUSES)), onChange };
}

/** Rates are compared in millionths, so one that is none of them would be 0. */
const RATE_MIN = 0.000_001;

function rateOf(name: string, given: unknown, otherwise: number | undefined): number | undefined {
    if (given === undefined) return otherwise;
    if (given === false) return undefined;
    if (typeof given === "number" && given >= RATE_MIN && given <= 1) return given;
    throw wrongOption(name, given, "a number above 0 to 1, or false");
}
