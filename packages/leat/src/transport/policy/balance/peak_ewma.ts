// Balancing by latency: of two endpoints, the one whose next answer is expected sooner (see `betterOfTwo`).

/** What latencies are measured with; both more than 0. */
export interface PeakEwmaSettings {
    /** The time in which old latency loses half its weight. */
    readonly halfLifeUs: number;
    /** What is expected of an endpoint that was never measured. */
    readonly firstUs: number;
}

/**
 * The cost of an endpoint: it jumps up to a latency above it at once, and goes down by a moving average: fast to flee, slow to
 * return. It also halves with every half-life in which nothing came, so that an endpoint that was slow is tried again.
 * Twitter's Finagle has it as "Peak EWMA"; there the average has a time constant, which is the half-life divided by ln 2.
 */
export class Latency {
    private readonly halfLifeUs: number;
    private costUs: number;
    private atUs: number;

    /** An endpoint that is new at `nowUs`. */
    constructor({ halfLifeUs, firstUs }: PeakEwmaSettings, nowUs: number) {
        this.halfLifeUs = halfLifeUs;
        this.costUs = firstUs;
        this.atUs = nowUs;
    }

    /** Takes the latency of a request that was answered at `nowUs`. A clock that stepped back lets nothing decay. */
    record(nowUs: number, latencyUs: number): void {
        const kept = this.kept(nowUs);
        this.costUs = Math.max(latencyUs, this.costUs * kept + latencyUs * (1 - kept));
        this.atUs = Math.max(this.atUs, nowUs);
    }

    /** What one more request would cost: the decayed cost times the requests that there would then be, in microseconds. */
    loadUs(nowUs: number, inFlight: number): number {
        return this.costUs * this.kept(nowUs) * (inFlight + 1);
    }

    private kept(nowUs: number): number {
        return 2 ** (-Math.max(0, nowUs - this.atUs) / this.halfLifeUs);
    }
}
