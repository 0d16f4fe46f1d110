// What a world begins with: the hooks that the host calls, and the globals. What a program may never touch is loaded when it
// is first touched.
import { rejected, runBeforeExit, runExit, runRejections, uncaught } from "./lifecycle";
import { install } from "./stack";
import { contexts, dropTicks, failures, runTicks } from "./turn";

interface ProcessNative {
    hooks(hooks: Record<string, (...args: never[]) => unknown>): void;
}

const global = globalThis as unknown as Record<string, unknown>;

type Exports = Record<string, unknown>;
const timers = (): { runTimers(first: boolean): boolean; runImmediates(first: boolean): boolean } => require("leat:timers");

install();

(native("process") as ProcessNative).hooks({
    ticks: runTicks,
    dropTicks,
    rejected,
    rejections: runRejections,
    uncaught: (error: unknown) => uncaught(error),
    beforeExit: runBeforeExit,
    exit: runExit,
    timers: (first: boolean) => timers().runTimers(first),
    immediates: (first: boolean) => timers().runImmediates(first),
    signal: (number: number) => (require("node:process") as { _signal(number: number): void })._signal(number),
});

function put(name: string, value: unknown, enumerable: boolean): void {
    Object.defineProperty(globalThis, name, { configurable: true, enumerable, writable: true, value });
}

/** A global that is loaded when it is first read, and may be replaced. */
function late(name: string, load: () => unknown, enumerable = false): void {
    Object.defineProperty(globalThis, name, {
        configurable: true,
        enumerable,
        get() {
            const value = load();
            put(name, value, enumerable);
            return value;
        },
        set(value: unknown) {
            put(name, value, enumerable);
        },
    });
}

const members = native("members") as { late(target: object, load: (module: string) => unknown, module: string, names: readonly string[], enumerable: boolean): void };

/** Globals that are exports of `module`, under the same names. */
function lateAll(module: string, names: readonly string[], enumerable = false): void {
    members.late(globalThis, require, module, names, enumerable);
}

put("global", globalThis, true);
late("process", () => require("node:process"));
late("console", () => require("node:console"));
lateAll("node:timers", ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"], true);
lateAll("node:buffer", ["Buffer"]);
lateAll("node:buffer", ["atob", "btoa"], true);
lateAll("leat:web/url", ["URL", "URLSearchParams"]);
lateAll("leat:web/encoding", ["TextEncoder", "TextDecoder"]);
lateAll("leat:web/events", ["Event", "CustomEvent", "EventTarget", "AbortController", "AbortSignal"]);
lateAll("leat:web/clone", ["structuredClone"], true);
lateAll("leat:web/blob", ["Blob", "File", "FormData"]);
lateAll("leat:web/streams", [
    "ByteLengthQueuingStrategy", "CompressionStream", "CountQueuingStrategy", "DecompressionStream", "ReadableByteStreamController",
    "ReadableStream", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableStreamDefaultController",
    "ReadableStreamDefaultReader", "TextDecoderStream", "TextEncoderStream", "TransformStream", "TransformStreamDefaultController",
    "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter",
]);
lateAll("leat:web/fetch", ["fetch"], true);
lateAll("leat:web/fetch", ["Headers", "Request", "Response"]);
late("crypto", () => (require("node:crypto") as Exports)["webcrypto"], true);
late("performance", () => (require("node:perf_hooks") as Exports)["performance"], true);
for (const name of ["dispose", "asyncDispose"] as const) {
    if (Symbol[name] === undefined) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}

const enqueue = global["queueMicrotask"] as (run: () => void) => void;
put(
    "queueMicrotask",
    function queueMicrotask(callback: () => unknown): void {
        if (typeof callback !== "function") (require("leat:validate") as { validateFunction(value: unknown, name: string): void }).validateFunction(callback, "callback");
        const context = contexts.used?.current();
        enqueue(() => {
            contexts.used?.enter(context);
            try {
                callback();
            } catch (error) {
                failures.uncaught(error);
            }
        });
    },
    true,
);
