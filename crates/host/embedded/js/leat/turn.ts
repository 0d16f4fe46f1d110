// What runs when JavaScript returns to the host: `process.nextTick`, and what is left of the turn.
interface Native {
    /** Asks the host to call the hook `ticks` once JavaScript returns. */
    tick(): void;
}

interface Tick {
    readonly run: (...args: unknown[]) => unknown;
    readonly args: unknown[] | undefined;
    /** The asynchronous context that it was made in; see `leat:context`. */
    readonly context: unknown;
}

const { tick } = native("process") as Native;
let queue: Tick[] = [];
/** The next one. Kept here, since the host may stop a tick that never ends, and then goes on behind it. */
let at = 0;
let asked = false;

interface Contexts {
    current(): unknown;
    enter(context: unknown): void;
}

/** Set once the program uses asynchronous contexts (`leat:context`), and by nothing else. */
export const contexts: { used: Contexts | undefined } = { used: undefined };

/** Where errors go that nobody caught; set by `leat:failures`. */
export const failures: { uncaught(error: unknown): void } = { uncaught() {} };

/** `process.nextTick` without its checks. */
export function nextTick(run: (...args: never[]) => unknown, ...args: unknown[]): void {
    const { used } = contexts;
    queue.push({ run: run as Tick["run"], args: args.length > 0 ? args : undefined, context: used === undefined ? undefined : used.current() });
    if (!asked) {
        asked = true;
        tick();
    }
}

/** Ticks that are kept behind the next one, so that a chain of ticks needs no more memory than that. */
const COMPACTED = 1024;

/** Runs ticks until none is left. */
export function runTicks(): void {
    for (let tick = queue[at]; tick !== undefined; tick = queue[at]) {
        at += 1;
        if (at === COMPACTED) {
            queue = queue.slice(at);
            at = 0;
        }
        const { run, args, context } = tick;
        contexts.used?.enter(context);
        try {
            if (args === undefined) run();
            else run(...args);
        } catch (error) {
            failures.uncaught(error);
        }
    }
    contexts.used?.enter(undefined);
    dropTicks();
}

/** Forgets what is left. */
export function dropTicks(): void {
    queue = [];
    at = 0;
    asked = false;
}
