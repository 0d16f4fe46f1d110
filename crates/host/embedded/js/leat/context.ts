// Asynchronous contexts: what an AsyncLocalStorage holds follows ticks, timers, promises and bound callbacks. A context is a
// Map from storages to values that is never changed, only replaced; none is `undefined`.
import { contexts } from "./turn";

interface Native {
    /** Carries contexts from now on, on promises under `symbol`. */
    begin(symbol: symbol): void;
    current(): Context;
    enter(context: unknown): void;
    /** As `enter`, for the microtask that comes next. */
    resume(context: unknown): void;
}

/** Values by their storages. */
export type Context = ReadonlyMap<object, unknown> | undefined;

const natives = native("context") as Native;
export const { current, enter } = natives;
const { resume } = natives;

/** Begins to carry contexts; what was scheduled before has none. */
export function begin(): void {
    if (contexts.used !== undefined) return;
    contexts.used = { current, enter };
    natives.begin(Symbol("context"));
    const Native = Promise;
    const { then } = Native.prototype;
    let busy = false;
    const ignore = (): void => {};
    // `await` and `then` both look for the constructor of the promise that they are about to register a reaction on. A
    // reaction of ours, registered just before, runs just before theirs.
    Object.defineProperty(Native.prototype, "constructor", {
        configurable: true,
        enumerable: false,
        get(this: unknown) {
            if (busy) return Native;
            busy = true;
            try {
                const context = current();
                const restore = (): void => resume(context);
                Reflect.apply(then, this, [restore, restore]);
            } catch {
                // Not a promise: somebody looks at the prototype.
                ignore();
            } finally {
                busy = false;
            }
            return Native;
        },
        set(this: object, value: unknown) {
            Object.defineProperty(this, "constructor", { value, configurable: true, enumerable: true, writable: true });
        },
    });
    // It looks as well, and registers none: a reaction of ours would be the only one, and a rejection would count as handled.
    const { resolve } = Native;
    const quiet = {
        resolve(this: unknown, ...given: unknown[]): unknown {
            const before = busy;
            busy = true;
            try {
                return Reflect.apply(resolve, this, given);
            } finally {
                busy = before;
            }
        },
    }.resolve;
    Object.defineProperty(quiet, "length", { value: 1, configurable: true });
    Object.defineProperty(Native, "resolve", { value: quiet, configurable: true, enumerable: false, writable: true });
}

/** Runs `run` in `context`. */
export function runIn<R>(context: Context, run: () => R): R {
    const before = current();
    enter(context);
    try {
        return run();
    } finally {
        enter(before);
    }
}
