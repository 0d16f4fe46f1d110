// Time and chance, which everything here takes from one place: so a test drives hours in a moment, and twice the same.
import { type Signal } from "../middleware/context";
import { Queues } from "./timers";

/** Where the time comes from. */
export interface Clock {
    /** Milliseconds on a clock that never steps; only differences mean anything. */
    nowMs(): number;
    /** Milliseconds since 1970, for dates that a peer sends. */
    timeMs(): number;
    /** Calls `run` once, `waitMs` from now or a little later, unless it is cancelled before. */
    after(waitMs: number, run: () => void): Timer;
}

/** A call that is to come. */
export interface Timer {
    /** Afterwards it does not come; if it has come already, nothing happens. */
    cancel(): void;
}

/** A whole number below 2^32, any as likely as any other. Policies take their chances as such draws. */
export type Random = () => number;

const queues = new Queues(() => performance.now());

/** The clock of this process. Its timers keep the process alive: somebody waits for them. */
export const systemClock: Clock = {
    nowMs: () => performance.now(),
    timeMs: () => Date.now(),
    after: (waitMs, run) => queues.after(waitMs, run),
};

const DRAWS = 0x1_0000_0000;

/** Chance that is good enough to spread load; nothing secret may depend on it. */
export const systemRandom: Random = () => Math.floor(Math.random() * DRAWS);

/**
 * Waits, and stops waiting at once when the signal aborts. The listener is gone when it is over.
 *
 * @throws the signal's reason
 */
export function sleep(clock: Clock, waitMs: number, signal: Signal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the signal's own reason, as AbortSignal.throwIfAborted does
            reject(signal.reason);
            return;
        }
        const timer = clock.after(waitMs, () => {
            signal?.removeEventListener("abort", aborted);
            resolve();
        });
        const aborted = (): void => {
            timer.cancel();
            signal?.removeEventListener("abort", aborted);
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- likewise
            reject(signal?.reason);
        };
        signal?.addEventListener("abort", aborted);
    });
}
