// What calls came to over a sliding window.

/** The present tenth of the time and the nine before it. */
const SLOTS = 10;

/** Over what rates are taken: the last so many calls, or those of the last so long. */
export type WindowSize = { readonly calls: number } | { readonly timeUs: number };

/** Calls, and of them those that failed and those that were slow. */
export interface Counts {
    calls: number;
    failures: number;
    slow: number;
}

/** The calls of a sliding window, and their sum. Recording is a few additions; a step over idle slots is at most ten. */
export class Window {
    readonly sum: Counts = { calls: 0, failures: 0, slow: 0 };
    private readonly kept: Counts[];
    /** Of a window of time; 0 for one of calls. */
    private readonly timeUs: number;
    /** Where the oldest call is, or the number of the latest slot. */
    private at = 0;

    constructor(size: WindowSize) {
        this.timeUs = "timeUs" in size ? size.timeUs : 0;
        this.kept = Array.from({ length: "calls" in size ? size.calls : SLOTS }, () => ({ calls: 0, failures: 0, slow: 0 }));
    }

    /** Forgets all calls. */
    clear(): void {
        for (const slot of this.kept) this.forget(slot);
    }

    /** Counts a call that ended at `nowUs`. A clock that stepped back counts for the latest slot. */
    record(nowUs: number, failed: boolean, slow: boolean): void {
        const slot = this.timeUs === 0 ? this.nextCall() : this.slotOf(nowUs);
        for (const counts of [slot, this.sum]) {
            counts.calls += 1;
            counts.failures += failed ? 1 : 0;
            counts.slow += slow ? 1 : 0;
        }
    }

    private nextCall(): Counts {
        const slot = this.kept[this.at] as Counts;
        this.at = (this.at + 1) % this.kept.length;
        this.forget(slot);
        return slot;
    }

    private slotOf(nowUs: number): Counts {
        const present = Math.max(Math.floor((nowUs * SLOTS) / this.timeUs), this.at);
        for (let passed = Math.max(this.at + 1, present - SLOTS + 1); passed <= present; passed++) this.forget(this.kept[passed % SLOTS] as Counts);
        this.at = present;
        return this.kept[present % SLOTS] as Counts;
    }

    private forget(slot: Counts): void {
        this.sum.calls -= slot.calls;
        this.sum.failures -= slot.failures;
        this.sum.slow -= slot.slow;
        slot.calls = slot.failures = slot.slow = 0;
    }
}
