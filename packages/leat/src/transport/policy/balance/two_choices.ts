// The power of two choices (Mitzenmacher, IEEE TPDS 2001): nearly as even as to ask all, without sending a whole herd to the one that
// looks idle.
import { type Random } from "../../clock";
import { below } from "../random";

/**
 * Of two different positions below `count` that chance names, the one whose load is less, the first of them if they are equal. Two
 * draws, none for a single one; undefined if there is none.
 */
export function betterOfTwo(count: number, loadOf: (position: number) => number, random: Random): number | undefined {
    if (count === 0) return undefined;
    if (count === 1) return 0;
    const first = below(random, count);
    const other = below(random, count - 1);
    const second = other >= first ? other + 1 : other;
    return loadOf(first) <= loadOf(second) ? first : second;
}

/** How heavy one more request is for an endpoint: `(in flight + 1) / weight`. A weight of 0 counts as 1. */
export function requestLoad(inFlight: number, weight: number): number {
    return (inFlight + 1) / Math.max(weight, 1);
}
