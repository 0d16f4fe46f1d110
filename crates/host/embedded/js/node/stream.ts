// node:stream: readable-stream, which is Node's own code, in parts that are loaded when they are first touched.
import type Streams from "node:stream";

type Part = () => unknown;
type Operator = (this: unknown, ...args: unknown[]) => unknown;
type Readable = { from(iterable: unknown): unknown; prototype: object };
type Utils = Record<"isDestroyed" | "isDisturbed" | "isErrored" | "isReadable" | "isWritable", unknown>;

const { Stream } = require("readable-stream/lib/internal/streams/legacy") as { Stream: typeof Streams & Record<string, unknown> };
const state = require("readable-stream/lib/internal/streams/state") as { setDefaultHighWaterMark(objects: boolean, bytes: number): void; getDefaultHighWaterMark(objects: boolean): number };

/** As of Node 22; 16 KiB before it. */
const HIGH_WATER_MARK = 64 * 1024;
state.setDefaultHighWaterMark(false, HIGH_WATER_MARK);

function define(target: object, name: PropertyKey, value: unknown, enumerable = true): void {
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable });
}

/** A property that is loaded when it is first read. */
function late(target: object, name: PropertyKey, load: Part): void {
    Object.defineProperty(target, name, {
        configurable: true,
        enumerable: true,
        get() {
            const value = load();
            define(target, name, value);
            return value;
        },
        set(value: unknown) {
            define(target, name, value);
        },
    });
}

const operators: Record<string, Record<string, Operator>> = {};
function operator(kind: "streamReturningOperators" | "promiseReturningOperators", name: string): Operator {
    const all = require("readable-stream/lib/internal/streams/operators") as Record<string, Record<string, Operator>>;
    return ((operators[kind] ??= all[kind] as Record<string, Operator>)[name] as Operator);
}

/** How many arguments they name. */
const returningStreams: Record<string, number> = { asIndexedPairs: 0, drop: 1, filter: 2, flatMap: 2, map: 2, take: 1, compose: 2 };
const returningPromises: Record<string, number> = { every: 1, forEach: 2, reduce: 3, toArray: 1, some: 1, find: 2 };

function readable(): unknown {
    const made = require("readable-stream/lib/internal/streams/readable") as Readable;
    const add = (name: string, length: number, run: Operator): void => {
        const method = { [name](this: unknown, ...args: unknown[]): unknown {
            return run.apply(this, args);
        } }[name] as Operator;
        Object.defineProperty(method, "length", { value: length, configurable: true });
        define(made.prototype, name, method, false);
    };
    for (const [name, length] of Object.entries(returningStreams)) {
        add(name, length, function (...args) {
            return made.from(operator("streamReturningOperators", name).apply(this, args));
        });
    }
    for (const [name, length] of Object.entries(returningPromises)) {
        add(name, length, function (...args) {
            return operator("promiseReturningOperators", name).apply(this, args);
        });
    }
    return made;
}

const promises = (): Record<string, unknown> => require("node:stream/promises") as Record<string, unknown>;
const custom = Symbol.for("nodejs.util.promisify.custom");

/** A function whose promised form is of node:stream/promises. */
function withPromise(run: object, name: string): unknown {
    Object.defineProperty(run, custom, { configurable: true, enumerable: true, get: () => promises()[name] });
    return run;
}

const adapters = (): Record<string, (...given: unknown[]) => unknown> => require("../web/adapters") as Record<string, (...given: unknown[]) => unknown>;

late(Stream, "Readable", () =>
    Object.assign(readable() as object, {
        toWeb: (...given: unknown[]) => adapters()["readableToWeb"]?.(...given),
        fromWeb: (...given: unknown[]) => adapters()["readableFromWeb"]?.(...given),
    }),
);
late(Stream, "Writable", () => {
    const made = require("readable-stream/lib/internal/streams/writable") as object;
    return Object.assign(made, {
        toWeb: (...given: unknown[]) => adapters()["writableToWeb"]?.(...given),
        fromWeb: (...given: unknown[]) => adapters()["writableFromWeb"]?.(...given),
    });
});
late(Stream, "Duplex", () => require("readable-stream/lib/internal/streams/duplex"));
late(Stream, "Transform", () => require("readable-stream/lib/internal/streams/transform"));
late(Stream, "PassThrough", () => require("readable-stream/lib/internal/streams/passthrough"));
late(Stream, "pipeline", () => withPromise((require("readable-stream/lib/internal/streams/pipeline") as { pipeline: object }).pipeline, "pipeline"));
late(Stream, "finished", () => withPromise(require("readable-stream/lib/internal/streams/end-of-stream") as object, "finished"));
late(Stream, "duplexPair", () => (require("../leat/duplex_pair") as { duplexPair: unknown }).duplexPair);
late(Stream, "compose", () => require("readable-stream/lib/internal/streams/compose"));
late(Stream, "addAbortSignal", () => (require("readable-stream/lib/internal/streams/add-abort-signal") as { addAbortSignal: unknown }).addAbortSignal);
late(Stream, "destroy", () => (require("readable-stream/lib/internal/streams/destroy") as { destroyer: unknown }).destroyer);
late(Stream, "promises", promises);
for (const name of ["isDestroyed", "isDisturbed", "isErrored", "isReadable", "isWritable"] as const) {
    late(Stream, name, () => (require("readable-stream/lib/internal/streams/utils") as Utils)[name]);
}
Object.assign(Stream, {
    setDefaultHighWaterMark: state.setDefaultHighWaterMark,
    getDefaultHighWaterMark: state.getDefaultHighWaterMark,
    Stream,
    _isArrayBufferView: ArrayBuffer.isView,
    // The streams ask by this name what they may take; all views it is, as on Node.
    _isUint8Array: ArrayBuffer.isView,
    _uint8ArrayToBuffer: (chunk: ArrayBufferView): Buffer => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength),
});

module.exports = Stream;
