// Policies count time in whole microseconds from a moment that the caller chose, as their vectors do. `Infinity` is a time that never comes.

const US_A_MS = 1000;

/** Milliseconds, as options and clocks have them, in whole microseconds. */
export function usOf(ms: number): number {
    return Math.floor(ms * US_A_MS);
}

/** Microseconds in milliseconds, as timers take them. */
export function msOf(us: number): number {
    return us / US_A_MS;
}
