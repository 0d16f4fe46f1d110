// Objects that are streams for those who use them so: the stream is made when one of its methods is first called. Hash, Hmac and
// ciphers are such; most programs never pipe into them.
import type { Transform } from "node:stream";

type Method = (this: object, ...given: unknown[]) => unknown;

const METHODS: (string | symbol)[] = [
    "addListener", "compose", "cork", "destroy", "emit", "end", "eventNames", "forEach", "getMaxListeners", "isPaused", "iterator", "listenerCount", "listeners", "map", "off", "on", "once", "pause",
    "pipe", "prependListener", "prependOnceListener", "push", "rawListeners", "read", "removeAllListeners", "removeListener", "resume", "setDefaultEncoding", "setEncoding", "setMaxListeners", "toArray",
    "uncork", "unpipe", "unshift", "wrap", "write", Symbol.asyncIterator,
];
const VALUES = [
    "_events", "_readableState", "_writableState", "allowHalfOpen", "closed", "destroyed", "errored", "readable", "readableAborted", "readableDidRead", "readableEncoding", "readableEnded", "readableFlowing",
    "readableHighWaterMark", "readableLength", "readableObjectMode", "writable", "writableAborted", "writableCorked", "writableEnded", "writableFinished", "writableHighWaterMark", "writableLength",
    "writableNeedDrain", "writableObjectMode",
];

/** Gives `prototype` a Transform's methods and values; `make` makes the stream of one object. */
export function lateStream<T extends object>(prototype: T, make: (object: T) => Transform): void {
    const streams = new WeakMap<object, Transform>();
    const streamOf = (object: T): Record<string | symbol, unknown> => {
        let stream = streams.get(object);
        if (stream === undefined) streams.set(object, (stream = make(object)));
        return stream as unknown as Record<string | symbol, unknown>;
    };
    for (const name of METHODS) {
        Object.defineProperty(prototype, name, {
            configurable: true,
            enumerable: false,
            writable: true,
            value(this: T, ...given: unknown[]) {
                const stream = streamOf(this);
                const value = (stream[name] as Method).apply(stream, given);
                return value === stream ? this : value;
            },
        });
    }
    for (const name of VALUES) {
        Object.defineProperty(prototype, name, {
            configurable: true,
            enumerable: false,
            get(this: T) {
                return streamOf(this)[name];
            },
        });
    }
}
