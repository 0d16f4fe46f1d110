// node:timers.
import { validateFunction } from "../leat/validate";
import { clear, clearImmediate, Immediate, Timeout } from "../leat/timers";
import type { promisify as Promisify } from "node:util";

type Run = (...args: never[]) => unknown;

function setTimeout(callback: Run, delay?: unknown, ...args: unknown[]): Timeout {
    validateFunction(callback, "callback");
    return new Timeout(callback, delay, args.length > 0 ? args : undefined, false);
}

function setInterval(callback: Run, delay?: unknown, ...args: unknown[]): Timeout {
    validateFunction(callback, "callback");
    return new Timeout(callback, delay, args.length > 0 ? args : undefined, true);
}

function setImmediate(callback: Run, ...args: unknown[]): Immediate {
    validateFunction(callback, "callback");
    return new Immediate(callback, args.length > 0 ? args : undefined);
}

const clearTimeout = (timer: unknown): void => clear(timer);
const clearInterval = (timer: unknown): void => clear(timer);

const custom = Symbol.for("nodejs.util.promisify.custom") as typeof Promisify.custom;
const promises = (): Record<string, unknown> => require("node:timers/promises") as Record<string, unknown>;
for (const [of, name] of [
    [setTimeout, "setTimeout"],
    [setImmediate, "setImmediate"],
] as const) {
    Object.defineProperty(of, custom, { enumerable: true, configurable: true, get: () => promises()[name] });
}

module.exports = {
    setTimeout,
    clearTimeout,
    setImmediate,
    clearImmediate,
    setInterval,
    clearInterval,
    get promises() {
        return promises();
    },
};
