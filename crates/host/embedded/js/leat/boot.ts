// What a world begins with: the hooks that the host calls, and the globals. What a program may never touch is loaded when it
// is first touched.
import { hooks } from "../node/process";
import { runImmediates, runTimers } from "../node/timers";

interface ProcessNative {
    hooks(hooks: Record<string, (...args: never[]) => unknown>): void;
}

const global = globalThis as unknown as Record<string, unknown>;

/** A global that is loaded when it is first read, and may be replaced. */
function late(name: string, load: () => unknown): void {
    const put = (value: unknown): void => {
        Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
    };
    Object.defineProperty(globalThis, name, {
        configurable: true,
        enumerable: false,
        get() {
            const value = load();
            put(value);
            return value;
        },
        set: put,
    });
}

global["global"] = globalThis;
(native("process") as ProcessNative).hooks({ ...hooks, timers: runTimers, immediates: runImmediates });

late("process", () => (require("node:process") as { default: unknown }).default ?? require("node:process"));
late("console", () => require("node:console"));
for (const name of ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"]) {
    late(name, () => (require("node:timers") as Record<string, unknown>)[name]);
}

/** Globals of the web, by their modules. */
const WEB: Record<string, string[]> = {
    url: ["URL", "URLSearchParams"],
    encoding: ["TextEncoder", "TextDecoder"],
    events: ["Event", "CustomEvent", "EventTarget", "AbortController", "AbortSignal"],
    clone: ["structuredClone"],
    blob: ["Blob", "File", "FormData"],
    streams: [
        "ByteLengthQueuingStrategy", "CompressionStream", "CountQueuingStrategy", "DecompressionStream", "ReadableByteStreamController",
        "ReadableStream", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableStreamDefaultController",
        "ReadableStreamDefaultReader", "TextDecoderStream", "TextEncoderStream", "TransformStream", "TransformStreamDefaultController",
        "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter",
    ],
    fetch: ["fetch", "Headers", "Request", "Response"],
};
for (const [module, names] of Object.entries(WEB)) {
    for (const name of names) late(name, () => (require(`leat:web/${module}`) as Record<string, unknown>)[name]);
}
