// node:timers/promises.
import { AbortError } from "../../leat/errors";
import { validateAbortSignal, validateBoolean, validateObject } from "../../leat/validate";
import { clear, clearImmediate, Immediate, Timeout } from "../../leat/timers";

interface Options {
    readonly signal?: AbortSignal;
    readonly ref?: boolean;
}

function checked(options: unknown = {}): Options {
    validateObject(options, "options");
    const { signal, ref } = options as { signal?: unknown; ref?: unknown };
    validateAbortSignal(signal, "options.signal");
    if (ref !== undefined) validateBoolean(ref, "options.ref");
    return options as Options;
}

function aborted(signal: AbortSignal): Error {
    return new AbortError(undefined, { cause: signal.reason as unknown });
}

/** One wait: `begin` starts it, `end` takes it back. */
function wait<T, V>(value: V, given: unknown, begin: (done: () => void) => T & { unref(): unknown }, end: (timer: T) => void): Promise<V> {
    return new Promise<V>((resolve, reject) => {
        const { signal, ref } = checked(given);
        if (signal?.aborted) {
            reject(aborted(signal));
            return;
        }
        const abort = (): void => {
            end(timer);
            reject(aborted(signal as AbortSignal));
        };
        const timer = begin(() => {
            signal?.removeEventListener("abort", abort);
            resolve(value);
        });
        if (ref === false) timer.unref();
        signal?.addEventListener("abort", abort, { once: true });
    });
}

export function setTimeout<V>(delay?: number, value?: V, options?: unknown): Promise<V | undefined> {
    return wait(value, options, (done) => new Timeout(done, delay, undefined, false), clear);
}

export function setImmediate<V>(value?: V, options?: unknown): Promise<V | undefined> {
    return wait(value, options, (done) => new Immediate(done, undefined), clearImmediate);
}

export async function* setInterval<V>(delay?: number, value?: V, options?: unknown): AsyncGenerator<V | undefined, void, void> {
    const { signal, ref } = checked(options);
    if (signal?.aborted) throw aborted(signal);
    let due = 0;
    let wake: (() => void) | undefined;
    const ring = (): void => {
        wake?.();
        wake = undefined;
    };
    const timer = new Timeout(
        () => {
            due++;
            ring();
        },
        delay,
        undefined,
        true,
    );
    if (ref === false) timer.unref();
    signal?.addEventListener("abort", ring, { once: true });
    try {
        for (;;) {
            if (signal?.aborted) throw aborted(signal);
            if (due === 0) await new Promise<void>((resolve) => void (wake = resolve));
            for (; due > 0; due--) yield value;
        }
    } finally {
        clear(timer);
        signal?.removeEventListener("abort", ring);
    }
}

export const scheduler = {
    wait: (delay: number, options?: unknown): Promise<void> => setTimeout(delay, undefined, options),
    yield: (): Promise<void> => setImmediate(),
};
