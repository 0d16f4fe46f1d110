// What the parts of readable-stream need beside errors: few of Node's utilities.

type Callback = (...args: unknown[]) => unknown;

/** What options are where a program gives none. */
export const kEmptyObject: object = Object.freeze({});

/** `run` that runs once. */
export function once(run: Callback): Callback {
    let called = false;
    return function (this: unknown, ...args: unknown[]) {
        if (called) return;
        called = true;
        run.apply(this, args);
    };
}

export function createDeferredPromise(): { promise: Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void } {
    let resolve!: (value: unknown) => void;
    let reject!: (error: unknown) => void;
    const promise = new Promise<unknown>((yes, no) => {
        resolve = yes;
        reject = no;
    });
    return { promise, resolve, reject };
}

export function debuglog(): () => void {
    return () => undefined;
}

export function deprecate<T>(run: T): T {
    return run;
}

export function inspect(value: unknown, options?: object): string {
    return (require("node:util") as typeof import("node:util")).inspect(value, options);
}

export function addAbortListener(signal: unknown, listener: Callback): unknown {
    return (require("node:events") as { addAbortListener(signal: unknown, listener: Callback): unknown }).addAbortListener(signal, listener);
}

export function AbortSignalAny(signals: unknown[]): unknown {
    return (globalThis as unknown as { AbortSignal: { any(signals: unknown[]): unknown } }).AbortSignal.any(signals);
}
