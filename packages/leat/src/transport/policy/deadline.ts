// Until when a call may take, over queue, tries, waits and bodies. A deadline is a time in microseconds, `Infinity` for none.

/** No deadline: a call may take for ever. */
export const NO_DEADLINE = Infinity;

/** Whether it has passed; at the very time, it has. */
export function hasPassed(deadlineUs: number, nowUs: number): boolean {
    return nowUs >= deadlineUs;
}

/** What is left: zero once it has passed, `Infinity` without a deadline. */
export function leftUs(deadlineUs: number, nowUs: number): number {
    return Math.max(0, deadlineUs - nowUs);
}

/** Whether anything is left once a wait is over. A wait that takes all the rest is useless: nothing could follow it. */
export function leavesTimeAfter(deadlineUs: number, nowUs: number, waitUs: number): boolean {
    return waitUs < leftUs(deadlineUs, nowUs);
}

/** When a try that begins now and may take `perTryUs` must end: never behind the whole call. */
export function ofTry(deadlineUs: number, nowUs: number, perTryUs: number): number {
    return Math.min(deadlineUs, nowUs + perTryUs);
}
