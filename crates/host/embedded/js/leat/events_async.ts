// The parts of node:events that few programs touch: promises and iterators of events, abort signals, the warning of a leak.
import { AbortError, codes } from "./errors";
import { validateAbortSignal, validateFunction, validateInteger, validateObject } from "./validate";

export type Name = string | symbol;
export type Listener = ((...args: unknown[]) => unknown) & { listener?: Listener };
export type Events = Record<Name, Listener | Listener[] | undefined>;

/** An emitter, from within. */
export interface Emitter {
    [key: symbol]: unknown;
    _events: Events | undefined;
    _eventsCount: number;
    _maxListeners: number | undefined;
    emit(name: Name, ...args: unknown[]): boolean;
    on(name: Name, listener: Listener): Emitter;
    addListener(name: Name, listener: Listener): Emitter;
    off(name: Name, listener: Listener): Emitter;
    removeListener(name: Name, listener: Listener): Emitter;
    once(name: Name, listener: Listener): Emitter;
    prependListener(name: Name, listener: Listener): Emitter;
    removeAllListeners(name?: Name): Emitter;
    listeners(name: Name): Listener[];
    listenerCount(name: Name, listener?: Listener): number;
    setMaxListeners(count: number): Emitter;
    getMaxListeners(): number;
}

type EventListener = (event: Event) => unknown;
type Target = EventTarget & Record<symbol, unknown>;
type Source = Emitter | Target;

/** How many listeners an event target may have: nobody warns, but the number is kept. */
const kMaxListeners = Symbol("kMaxListeners");

interface Options {
    signal?: AbortSignal;
    close?: Name[];
    highWaterMark?: number;
    lowWaterMark?: number;
}

/** Told once for a list: so many listeners are mostly a mistake. */
export function warnOfLeak(emitter: Emitter, name: Name, list: Listener[], most: number): void {
    (list as { warned?: boolean }).warned = true;
    const shown = (require("node:util") as typeof import("node:util")).inspect(emitter, { depth: -1 });
    const text = `Possible EventEmitter memory leak detected. ${list.length} ${String(name)} listeners added to ${shown}. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`;
    const warning = new Error(text) as Error & Record<string, unknown>;
    warning.name = "MaxListenersExceededWarning";
    warning["emitter"] = emitter;
    warning["type"] = name;
    warning["count"] = list.length;
    process.emitWarning(warning);
}

function isTarget(source: unknown): source is Target {
    return typeof (source as Target | undefined)?.addEventListener === "function";
}

function listen(source: Source, name: Name, listener: Listener, once = false): void {
    if (typeof (source as Emitter).on === "function") {
        if (once) (source as Emitter).once(name, listener);
        else (source as Emitter).on(name, listener);
    } else if (isTarget(source)) source.addEventListener(name as string, listener as EventListener, { once });
    else throw new codes.ERR_INVALID_ARG_TYPE("emitter", "EventEmitter", source);
}

function unlisten(source: Source, name: Name, listener: Listener): void {
    if (typeof (source as Emitter).removeListener === "function") (source as Emitter).removeListener(name, listener);
    else if (isTarget(source)) source.removeEventListener(name as string, listener as EventListener);
    else throw new codes.ERR_INVALID_ARG_TYPE("emitter", "EventEmitter", source);
}

/** A promise for the arguments of the next event called `name`; an 'error' before it rejects. */
export async function once(source: Source, name: Name, options: Options = {}): Promise<unknown[]> {
    validateObject(options, "options");
    const signal = options?.signal;
    validateAbortSignal(signal, "options.signal");
    if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
    return new Promise((resolve, reject) => {
        const quit = (): void => {
            unlisten(source, name, resolver);
            unlisten(source, "error", failed);
            reject(new AbortError(undefined, { cause: signal?.reason }));
        };
        const failed: Listener = (error) => {
            if (typeof (source as Emitter).removeListener === "function") (source as Emitter).removeListener(name, resolver);
            signal?.removeEventListener("abort", quit);
            reject(error);
        };
        const resolver: Listener = (...args) => {
            if (typeof (source as Emitter).removeListener === "function") (source as Emitter).removeListener("error", failed);
            signal?.removeEventListener("abort", quit);
            resolve(args);
        };
        listen(source, name, resolver, true);
        if (name !== "error" && typeof (source as Emitter).once === "function") (source as Emitter).once("error", failed);
        signal?.addEventListener("abort", quit, { once: true });
    });
}

type Waiting = { resolve(result: IteratorResult<unknown[], undefined>): void; reject(error: unknown): void };

/** An iterator over the arguments of events called `name`. */
export function on(source: Source, name: Name, options: Options = {}): AsyncIterableIterator<unknown[]> {
    validateObject(options, "options");
    const signal = options.signal;
    validateAbortSignal(signal, "options.signal");
    if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
    const high = options.highWaterMark ?? Number.MAX_SAFE_INTEGER;
    const low = options.lowWaterMark ?? 1;
    validateInteger(high, "options.highWaterMark", 1);
    validateInteger(low, "options.lowWaterMark", 1);
    const ready: unknown[][] = [];
    const waiting: Waiting[] = [];
    let taken = 0;
    let error: unknown;
    let failing = false;
    let paused = false;
    let finished = false;
    const arrived: Listener = (...args) => {
        const first = waiting.shift();
        if (first !== undefined) return first.resolve({ value: args, done: false });
        ready.push(args);
        if (!paused && ready.length - taken > high) {
            paused = true;
            (source as unknown as { pause?(): void }).pause?.();
        }
    };
    const failed: Listener = (reason) => {
        const first = waiting.shift();
        if (first !== undefined) first.reject(reason);
        else {
            error = reason;
            failing = true;
        }
        close();
    };
    const aborted = (): void => void failed(new AbortError(undefined, { cause: signal?.reason }));
    function close(): Promise<IteratorResult<unknown[], undefined>> {
        signal?.removeEventListener("abort", aborted);
        unlisten(source, name, arrived);
        if (name !== "error" && typeof (source as Emitter).removeListener === "function") unlisten(source, "error", failed);
        for (const one of options.close ?? []) unlisten(source, one, close);
        finished = true;
        for (const one of waiting.splice(0)) one.resolve({ value: undefined, done: true });
        return Promise.resolve({ value: undefined, done: true });
    }
    const iterator = {
        next(): Promise<IteratorResult<unknown[], undefined>> {
            if (taken < ready.length) {
                const value = ready[taken] as unknown[];
                ready[taken++] = undefined as unknown as unknown[];
                // Taken ones leave in bulk: a shift for each would make a long queue slow.
                if (taken > 1024 && taken * 2 > ready.length) ready.splice(0, taken), (taken = 0);
                if (paused && ready.length - taken < low) {
                    paused = false;
                    (source as unknown as { resume?(): void }).resume?.();
                }
                return Promise.resolve({ value, done: false });
            }
            if (failing) {
                failing = false;
                return Promise.reject(error);
            }
            if (finished) return close();
            return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
        },
        return: close,
        throw(reason: unknown): Promise<IteratorResult<unknown[], undefined>> {
            if (!(reason instanceof Error)) throw new codes.ERR_INVALID_ARG_TYPE("EventEmitter.AsyncIterator", "Error", reason);
            failed(reason);
            return Promise.resolve({ value: undefined, done: true });
        },
        [Symbol.asyncIterator]() {
            return this;
        },
    };
    Object.setPrototypeOf(iterator, Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype) as object);
    listen(source, name, arrived);
    if (name !== "error" && typeof (source as Emitter).on === "function") (source as Emitter).on("error", failed);
    for (const one of options.close ?? []) listen(source, one, close);
    signal?.addEventListener("abort", aborted, { once: true });
    return iterator as unknown as AsyncIterableIterator<unknown[]>;
}

/** The listeners of an emitter or an event target. */
export function getEventListeners(source: Source, name: Name): unknown[] {
    if (typeof (source as Emitter).listeners === "function") return (source as Emitter).listeners(name);
    if (isTarget(source)) {
        return (require("leat:web/events") as { listenersOf(target: object, name: string): unknown[] }).listenersOf(source, String(name));
    }
    throw new codes.ERR_INVALID_ARG_TYPE("emitter", ["EventEmitter", "EventTarget"], source);
}

/** How many listeners an emitter or an event target may have before it warns. */
export function getMaxListeners(source: Source): number {
    if (typeof (source as Emitter).getMaxListeners === "function") return (source as Emitter).getMaxListeners();
    if (isTarget(source)) return (source[kMaxListeners] as number | undefined) ?? 0;
    throw new codes.ERR_INVALID_ARG_TYPE("emitter", ["EventEmitter", "EventTarget"], source);
}

/** Sets that number for each of `sources`. */
export function setMaxListeners(count: number, sources: Source[]): void {
    for (const source of sources) {
        if (typeof (source as Emitter)?.setMaxListeners === "function") (source as Emitter).setMaxListeners(count);
        else if (isTarget(source)) source[kMaxListeners] = count;
        else throw new codes.ERR_INVALID_ARG_TYPE("eventTargets", ["EventEmitter", "EventTarget"], source);
    }
}

/** Calls `listener` when `signal` is aborted, at once if it is; what it gives ends that. */
export function addAbortListener(signal: AbortSignal | undefined, listener: EventListener): Record<symbol, () => void> {
    if (signal === undefined) throw new codes.ERR_INVALID_ARG_TYPE("signal", "AbortSignal", signal);
    validateAbortSignal(signal, "signal");
    validateFunction(listener as unknown, "listener");
    let end: (() => void) | undefined;
    if (signal.aborted) queueMicrotask(() => listener(undefined as unknown as Event));
    else {
        signal.addEventListener("abort", listener, { once: true });
        end = () => signal.removeEventListener("abort", listener);
    }
    const dispose = (Symbol as unknown as { dispose?: symbol }).dispose ?? Symbol.for("Symbol.dispose");
    return { [dispose]: () => end?.() };
}

type Resource = { runInAsyncScope(run: (...args: never[]) => unknown, self: unknown, ...args: unknown[]): unknown; emitDestroy(): void; asyncId(): number; triggerAsyncId(): number };

function makeAsyncResource(): unknown {
    const Base = require("node:events") as new (options?: object) => Emitter;
    const { AsyncResource } = require("node:async_hooks") as { AsyncResource: new (type: string, options?: object) => Resource };
    return class EventEmitterAsyncResource extends Base {
        asyncResource: Resource;
        constructor(options?: string | { name?: string; captureRejections?: boolean }) {
            const given = typeof options === "string" ? { name: options } : (options ?? {});
            super(given);
            this.asyncResource = new AsyncResource(given.name ?? new.target.name, given);
        }
        override emit(name: Name, ...args: unknown[]): boolean {
            return this.asyncResource.runInAsyncScope(super.emit as never, this, name, ...args) as boolean;
        }
        emitDestroy(): void {
            this.asyncResource.emitDestroy();
        }
        get asyncId(): number {
            return this.asyncResource.asyncId();
        }
        get triggerAsyncId(): number {
            return this.asyncResource.triggerAsyncId();
        }
    };
}

let asyncResource: unknown;

/** The class of emitters whose listeners run in the context that they were made in. */
export function emitterAsyncResource(): unknown {
    return (asyncResource ??= makeAsyncResource());
}
