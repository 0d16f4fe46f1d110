// What runs when JavaScript returns to the host: `process.nextTick`, and what is left of the turn.
interface Native {
    /** Asks the host to call the hook `ticks` once JavaScript returns. */
    tick(): void;
}

const { tick } = native("process") as Native;
/** Three places for each: the function, its arguments if any, and the asynchronous context that it was made in (`leat:context`). */
let queue: unknown[] = [];
/** The next one. Kept here, since the host may stop a tick that never ends, and then goes on behind it. */
let at = 0;
let asked = false;

interface Contexts {
    current(): unknown;
    enter(context: unknown): void;
}

/** Set once the program uses asynchronous contexts (`leat:context`), and by nothing else. */
export const contexts: { used: Contexts | undefined } = { used: undefined };

/** The program ends: what is scheduled from now on never runs, as on Node. */
export const ending: { now: boolean } = { now: false };

/** Where errors go that nobody caught; set by `leat:failures`. */
export const failures: { uncaught(error: unknown): void } = { uncaught() {} };

function refuse(run: unknown): void {
    const { validateFunction }: { validateFunction(value: unknown, name: string): void } = require("./validate") as typeof import("./validate");
    validateFunction(run, "callback");
}

/** `process.nextTick`. */
export function nextTick(run: (...args: never[]) => unknown, ...args: unknown[]): void {
    if (typeof run !== "function") refuse(run);
    if (ending.now) return;
    queue.push(run, args.length > 0 ? args : undefined, contexts.used === undefined ? undefined : contexts.used.current());
    if (!asked) {
        asked = true;
        tick();
    }
}

/** Places of ticks that are kept behind the next one, so that a chain of ticks needs no more memory than that. */
const COMPACTED = 3 * 1024;

/** Runs ticks until none is left. */
export function runTicks(): void {
    while (at < queue.length) {
        const run = queue[at] as (...args: unknown[]) => unknown;
        const args = queue[at + 1] as unknown[] | undefined;
        const context = queue[at + 2];
        at += 3;
        if (at >= COMPACTED) {
            queue = queue.slice(at);
            at = 0;
        }
        if (contexts.used !== undefined) contexts.used.enter(context);
        try {
            if (args === undefined) run();
            else run(...args);
        } catch (error) {
            failures.uncaught(error);
        }
    }
    if (contexts.used !== undefined) contexts.used.enter(undefined);
    dropTicks();
}

/** Forgets what is left. */
export function dropTicks(): void {
    queue = [];
    at = 0;
    asked = false;
}
