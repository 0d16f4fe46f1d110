// What policies make of a draw. `draw / 2^32` is a fraction that a double holds exactly, so that Rust makes the same choice of it.
import { type Random } from "../clock";

const DRAWS = 2 ** 32;

/** A whole number below `count`, or 0 if that is 0: `floor(draw × count / 2^32)`. */
export function below(random: Random, count: number): number {
    return Math.floor((random() / DRAWS) * count);
}

/** A part of `whole`, not rounded: less than it, unless it is 0. */
export function part(random: Random, whole: number): number {
    return (random() / DRAWS) * whole;
}
