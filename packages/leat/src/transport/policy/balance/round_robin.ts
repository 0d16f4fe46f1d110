// One after the other.

/** Begins with the first. */
export class RoundRobin {
    private next = 0;

    /**
     * The next of `count` endpoints, or the first behind it that is usable; undefined if none is. The endpoint behind an unusable one
     * gets the share of both: where that matters, balance over a list of usable ones.
     */
    pick(count: number, isUsable: (index: number) => boolean): number | undefined {
        if (count === 0) return undefined;
        const first = this.next % count;
        this.next = (this.next + 1) % Number.MAX_SAFE_INTEGER;
        for (let step = 0; step < count; step++) {
            const index = (first + step) % count;
            if (isUsable(index)) return index;
        }
        return undefined;
    }
}
