// What handlers and callbacks give back, when it can be waited for.
import { lazy, libraries } from "../../libraries";

const deprecations = lazy(() => libraries.depd()("router"));

/** The result as a promise; undefined if it is none. `what` gave it. */
export function promiseOf(result: unknown, what: "handlers" | "parameters"): PromiseLike<unknown> | undefined {
    if (!isPromise(result)) return undefined;
    if (!(result instanceof Promise)) deprecations()(`${what} that are Promise-like are deprecated, use a native Promise instead`);
    return result;
}

export function isPromise(result: unknown): result is PromiseLike<unknown> {
    return result !== null && (typeof result === "object" || typeof result === "function") && typeof (result as PromiseLike<unknown>).then === "function";
}
