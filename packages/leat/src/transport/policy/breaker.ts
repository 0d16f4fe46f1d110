// The breaker of one upstream or endpoint.
import { Window, type WindowSize } from "./window";

/** What a breaker does with calls: all may pass, none may, or a few, to see whether the upstream is well again. */
export type State = "admit" | "refuse" | "probe";

/** What a breaker is made with. Rates are above 0, up to 1; what is undefined is not looked at. */
export interface BreakerSettings {
    readonly window: WindowSize;
    /** The least calls in the window for a rate to count. */
    readonly callsMin: number;
    readonly failureRate: number | undefined;
    readonly slowRate: number | undefined;
    /** A call that takes at least so long is slow. */
    readonly slowCallUs: number;
    /** Failures in a row at which it trips, however few calls there were. */
    readonly consecutiveFailures: number | undefined;
    /** The calls that are let through to try the upstream, all of which must succeed. */
    readonly probes: number;
    /** For how long nothing is let through after the first trip; doubles with each trip that follows on another. */
    readonly openUs: number;
    readonly openMaxUs: number;
}

/**
 * The answer to a call that wants to pass. A permit must come back by `record` or `release`. `retryAfterUs` is undefined while it
 * depends on the calls that are trying the upstream.
 */
export type Answer =
    | { readonly answer: "admit" | "probe"; readonly permit: number }
    | { readonly answer: "refuse"; readonly retryAfterUs: number | undefined };

const MILLION = 1_000_000;

/**
 * `admit` to `refuse` when a rate or a number of failures in a row is reached; `refuse` to `probe` with the first call after the time
 * closed; `probe` to `admit` when every probe has succeeded, to `refuse` with the first that fails (or is slow, where slowness
 * counts). The time closed doubles with each trip that follows a failed probe, or a time in `admit` that was shorter than the
 * last time closed. Results of calls that began in an earlier state are ignored.
 */
export class Breaker {
    state: State = "admit";
    private readonly settings: BreakerSettings;
    private readonly window: Window;
    private consecutiveFailures = 0;
    /** Which stay in a state it is, and the permits of it: what comes back later says nothing of another one. */
    private era = 0;
    /** Trips before the next one in the present series. */
    private trips = 0;
    /** Of `admit`: since when; of `refuse`: until when; of `probe`: when the last was let through. */
    private atUs = 0;
    private granted = 0;
    private succeeded = 0;

    constructor(settings: BreakerSettings) {
        this.settings = settings;
        this.window = new Window(settings.window);
    }

    /**
     * Asks for a call to pass; may step from `refuse` to `probe`. Probes that never come back would keep it closed for ever: once
     * the last was given as long ago as the time closed was, they count as lost, and as many others are let through.
     */
    ask(nowUs: number): Answer {
        if (this.state === "admit") return { answer: "admit", permit: this.era };
        if (this.state === "refuse") return nowUs < this.atUs ? { answer: "refuse", retryAfterUs: this.atUs - nowUs } : this.probe(nowUs);
        if (this.granted < this.settings.probes) {
            this.granted += 1;
            this.atUs = nowUs;
            return { answer: "probe", permit: this.era };
        }
        if (nowUs >= this.atUs + this.lastOpenUs()) return this.probe(nowUs);
        return { answer: "refuse", retryAfterUs: undefined };
    }

    /** Takes the result of a call; what counts as failed is the caller's. */
    record(permit: number, nowUs: number, failed: boolean, tookUs: number): void {
        if (permit !== this.era) return;
        const slow = this.settings.slowRate !== undefined && tookUs >= this.settings.slowCallUs;
        if (this.state === "probe") { this.recordProbe(nowUs, failed || slow); return; }
        this.consecutiveFailures = failed ? this.consecutiveFailures + 1 : 0;
        this.window.record(nowUs, failed, slow);
        if (!this.isReached()) return;
        if (nowUs - this.atUs >= this.lastOpenUs()) this.trips = 0;
        this.trip(nowUs);
    }

    /** Gives a permit back for a call that says nothing of the upstream, as one that was cancelled or never made. */
    release(permit: number): void {
        if (permit === this.era && this.state === "probe") this.granted = Math.max(0, this.granted - 1);
    }

    private recordProbe(nowUs: number, failed: boolean): void {
        if (failed) { this.trip(nowUs); return; }
        this.succeeded += 1;
        if (this.succeeded < this.settings.probes) return;
        this.window.clear();
        this.consecutiveFailures = 0;
        this.enter("admit", nowUs);
    }

    private isReached(): boolean {
        const { callsMin, failureRate, slowRate, consecutiveFailures } = this.settings;
        if (consecutiveFailures !== undefined && this.consecutiveFailures >= consecutiveFailures) return true;
        const { calls, failures, slow } = this.window.sum;
        return calls >= callsMin && (isRate(failureRate, failures, calls) || isRate(slowRate, slow, calls));
    }

    private trip(nowUs: number): void {
        const untilUs = nowUs + this.openUs(this.trips);
        this.trips += 1;
        this.enter("refuse", untilUs);
    }

    private probe(nowUs: number): Answer {
        this.enter("probe", nowUs);
        this.granted = 1;
        this.succeeded = 0;
        return { answer: "probe", permit: this.era };
    }

    private enter(state: State, atUs: number): void {
        this.era += 1;
        this.state = state;
        this.atUs = atUs;
    }

    /** The time closed after the latest trip; that of the first one if there was none. */
    private lastOpenUs(): number {
        return this.openUs(Math.max(0, this.trips - 1));
    }

    private openUs(trip: number): number {
        return Math.min(this.settings.openMaxUs, this.settings.openUs * 2 ** trip);
    }
}

/** In whole millionths, so that the comparison is exact. */
function isRate(rate: number | undefined, some: number, all: number): boolean {
    return rate !== undefined && some * MILLION >= Math.round(rate * MILLION) * all;
}
