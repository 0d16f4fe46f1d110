// A clock that stands still until a test moves it.
import { type Clock, type Timer } from "../clock";

/** More timers at once are a loop that never ends, and no test. */
const TIMERS_MAX = 100_000;
/** Turns of the event loop in which a promise may settle without a timer: files, sockets and zlib take real ones. */
const TURNS_MAX = 20_000;

/** How the clock begins. */
export interface VirtualClockOptions {
    /** Milliseconds since 1970 at the beginning. Default: the first of January 2026. */
    readonly timeMs?: number;
}

interface Waiting {
    readonly atMs: number;
    readonly run: () => void;
}

/** Time as an argument: a transport that is given it waits for hours in a moment, and in the same order each time. */
export class VirtualClock implements Clock {
    readonly #beganMs: number;
    #nowMs = 0;
    /** By their times, and of one time in the order in which they were set. */
    readonly #waiting: Waiting[] = [];
    readonly #watched: { readonly count: number; readonly resolve: () => void }[] = [];

    constructor(options: VirtualClockOptions = {}) {
        this.#beganMs = options.timeMs ?? Date.UTC(2026, 0, 1);
    }

    nowMs(): number {
        return this.#nowMs;
    }

    timeMs(): number {
        return this.#beganMs + this.#nowMs;
    }

    after(waitMs: number, run: () => void): Timer {
        if (this.#waiting.length >= TIMERS_MAX) throw new Error(`${TIMERS_MAX} timers wait on the virtual clock, at most; is there a loop that sets one after the other?`);
        const timer: Waiting = { atMs: this.#nowMs + Math.max(waitMs, 0), run };
        const later = this.#waiting.findIndex(({ atMs }) => atMs > timer.atMs);
        this.#waiting.splice(later === -1 ? this.#waiting.length : later, 0, timer);
        for (const { count, resolve } of this.#watched) if (this.#waiting.length >= count) resolve();
        return {
            cancel: () => {
                const at = this.#waiting.indexOf(timer);
                if (at !== -1) this.#waiting.splice(at, 1);
            },
        };
    }

    /** Timers that wait. None after a call means that it left none behind. */
    get pending(): number {
        return this.#waiting.length;
    }

    /** Until the next timer; undefined if there is none. */
    get nextInMs(): number | undefined {
        const next = this.#waiting[0];
        return next === undefined ? undefined : next.atMs - this.#nowMs;
    }

    /** Resolves as soon as `count` timers wait, at once if they do. */
    waiting(count: number): Promise<void> {
        return new Promise((resolve) => {
            if (this.#waiting.length >= count) resolve();
            else this.#watched.push({ count, resolve });
        });
    }

    /** Moves on by `byMs`. Each timer runs at its own time, and all that follows from it before the next one. */
    async advance(byMs: number): Promise<void> {
        const untilMs = this.#nowMs + byMs;
        await turn();
        for (let next = this.#waiting[0]; next !== undefined && next.atMs <= untilMs; next = this.#waiting[0]) {
            this.#pass(next);
            await turn();
        }
        this.#nowMs = untilMs;
    }

    /**
     * Moves from timer to timer until `promise` is settled, and gives what it came to.
     *
     * @throws what it failed with; an error if it can never settle, since nothing waits any more
     */
    async settle<T>(promise: PromiseLike<T> | T): Promise<T> {
        let isSettled = false;
        const done = (): void => {
            isSettled = true;
        };
        const result = Promise.resolve(promise);
        result.then(done, done);
        let idle = 0;
        while (true) {
            await turn();
            // The compiler does not know that `done` was called meanwhile.
            if (isSettled as boolean) return result;
            const next = this.#waiting[0];
            if (next !== undefined) this.#pass(next);
            else if (++idle > TURNS_MAX) throw new Error("it does not settle, and no timer waits on the virtual clock");
        }
    }

    #pass(next: Waiting): void {
        this.#waiting.shift();
        this.#nowMs = Math.max(this.#nowMs, next.atMs);
        next.run();
    }
}

/** All microtasks, and what the event loop has ready. */
function turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
}
