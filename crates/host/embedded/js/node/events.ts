// node:events. `emit` is a native function: a call through it costs no array of arguments.
import type { Emitter, Events, Listener, Name } from "../leat/events_async";

type Later = typeof import("../leat/events_async");
type Errors = typeof import("../leat/errors");

interface EventsNative {
    /** The `emit` of emitters; `rare` does what has no quick way, with the arguments in an array. */
    emit(rare: (this: Emitter, name: Name, args: unknown[]) => boolean, capture: symbol): (this: Emitter, name: Name, ...args: unknown[]) => boolean;
}

const kCapture = Symbol("kCapture");
const kErrorMonitor = Symbol("events.errorMonitor");
const kRejection = Symbol.for("nodejs.rejection");

const errors = (): Errors => require("../leat/errors") as Errors;
let loaded: Later | undefined;
const later = (): Later => (loaded ??= require("../leat/events_async") as Later);

let defaultMaxListeners = 10;

function EventEmitter(this: Emitter, options?: { captureRejections?: boolean }): void {
    init.call(this, options);
}

function init(this: Emitter, options?: { captureRejections?: boolean }): void {
    const events = this._events;
    if (events === undefined || events === (Object.getPrototypeOf(this) as Emitter)._events) {
        this._events = { __proto__: null } as unknown as Events;
        this._eventsCount = 0;
    }
    this._maxListeners = this._maxListeners || undefined;
    if (options?.captureRejections) {
        if (typeof options.captureRejections !== "boolean") throw new (errors().codes.ERR_INVALID_ARG_TYPE)("options.captureRejections", "boolean", options.captureRejections);
        this[kCapture] = true;
    }
}

function checkListener(listener: unknown): void {
    if (typeof listener !== "function") throw new (errors().codes.ERR_INVALID_ARG_TYPE)("listener", "Function", listener);
}

function checkCount(count: unknown, name: string): void {
    if (typeof count !== "number") throw new (errors().codes.ERR_INVALID_ARG_TYPE)(name, "number", count);
    if (count < 0 || count !== count) throw new (errors().codes.ERR_OUT_OF_RANGE)(name, ">= 0", count);
}

/** Listeners that fail asynchronously, where `captureRejections` is on. */
function capture(emitter: Emitter, result: unknown, name: Name, args: unknown[]): void {
    try {
        const then = (result as { then?: unknown }).then;
        if (typeof then !== "function") return;
        (then as (this: unknown, done: undefined, failed: (error: unknown) => void) => void).call(result, undefined, (error) => {
            process.nextTick(rejected, emitter, error, name, args);
        });
    } catch (error) {
        emitter.emit("error", error);
    }
}

function rejected(emitter: Emitter, error: unknown, name: Name, args: unknown[]): void {
    const handle = emitter[kRejection];
    if (typeof handle === "function") {
        (handle as Listener).call(emitter, error, name, ...args);
        return;
    }
    const before = emitter[kCapture];
    try {
        emitter[kCapture] = false;
        emitter.emit("error", error);
    } finally {
        emitter[kCapture] = before;
    }
}

/** Throws the error that nobody listens for. */
function unhandled(error: unknown): never {
    if (error instanceof Error) throw error;
    let shown: unknown;
    try {
        shown = (require("node:util") as typeof import("node:util")).inspect(error);
    } catch {
        shown = error;
    }
    const thrown = new (errors().codes.ERR_UNHANDLED_ERROR)(shown);
    (thrown as Error & { context?: unknown }).context = error;
    throw thrown;
}

/** `emit` of errors that nobody or a monitor listens for, and where rejections are captured. */
function emitRare(this: Emitter, name: Name, args: unknown[]): boolean {
    const events = this._events;
    if (name === "error") {
        if (events !== undefined && events[kErrorMonitor] !== undefined) this.emit(kErrorMonitor, ...args);
        if (events?.["error"] === undefined) unhandled(args[0]);
    }
    const found = events?.[name];
    if (found === undefined) return false;
    const captures = this[kCapture] === true;
    for (const listener of typeof found === "function" ? [found] : found.slice()) {
        const result: unknown = listener.apply(this, args);
        if (captures && result !== undefined && result !== null) capture(this, result, name, args);
    }
    return true;
}

function add(emitter: Emitter, name: Name, listener: Listener, first: boolean): Emitter {
    checkListener(listener);
    let events = emitter._events;
    let found: Listener | Listener[] | undefined;
    if (events === undefined) {
        events = emitter._events = { __proto__: null } as unknown as Events;
        emitter._eventsCount = 0;
    } else {
        if (events["newListener"] !== undefined) {
            emitter.emit("newListener", name, listener.listener ?? listener);
            // Its listeners may have begun anew.
            events = emitter._events as Events;
        }
        found = events[name];
    }
    if (found === undefined) {
        events[name] = listener;
        ++emitter._eventsCount;
        return emitter;
    }
    if (typeof found === "function") found = events[name] = first ? [listener, found] : [found, listener];
    else if (first) found.unshift(listener);
    else found.push(listener);
    const most = maxListenersOf(emitter);
    if (most > 0 && found.length > most && !(found as { warned?: boolean }).warned) later().warnOfLeak(emitter, name, found, most);
    return emitter;
}

function maxListenersOf(emitter: Emitter): number {
    return emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners;
}

function onceWrapper(emitter: Emitter, name: Name, listener: Listener): Listener {
    let fired = false;
    const wrapped: Listener = function (...args: unknown[]) {
        if (fired) return undefined;
        fired = true;
        emitter.removeListener(name, wrapped);
        return listener.apply(emitter, args);
    };
    wrapped.listener = listener;
    return wrapped;
}

function removeListener(this: Emitter, name: Name, listener: Listener): Emitter {
    checkListener(listener);
    const events = this._events;
    const found = events?.[name];
    if (events === undefined || found === undefined) return this;
    if (found === listener || (found as Listener).listener === listener) {
        if (--this._eventsCount === 0) this._events = { __proto__: null } as unknown as Events;
        else {
            delete events[name];
            if (events["removeListener"]) this.emit("removeListener", name, (found as Listener).listener ?? listener);
        }
        return this;
    }
    if (typeof found === "function") return this;
    let at = found.length - 1;
    while (at >= 0 && found[at] !== listener && (found[at] as Listener).listener !== listener) at--;
    if (at < 0) return this;
    if (at === 0) found.shift();
    else found.splice(at, 1);
    if (found.length === 1) events[name] = found[0] as Listener;
    if (events["removeListener"] !== undefined) this.emit("removeListener", name, listener);
    return this;
}

function removeAllListeners(this: Emitter, name?: Name): Emitter {
    const events = this._events;
    if (events === undefined) return this;
    if (events["removeListener"] === undefined) {
        if (arguments.length === 0) {
            this._events = { __proto__: null } as unknown as Events;
            this._eventsCount = 0;
        } else if (events[name as Name] !== undefined) {
            if (--this._eventsCount === 0) this._events = { __proto__: null } as unknown as Events;
            else delete events[name as Name];
        }
        return this;
    }
    if (arguments.length === 0) {
        for (const key of Reflect.ownKeys(events)) if (key !== "removeListener") this.removeAllListeners(key);
        this.removeAllListeners("removeListener");
        this._events = { __proto__: null } as unknown as Events;
        this._eventsCount = 0;
        return this;
    }
    const found = events[name as Name];
    if (typeof found === "function") this.removeListener(name as Name, found);
    else if (found !== undefined) for (const listener of found.slice().reverse()) this.removeListener(name as Name, listener);
    return this;
}

function listenersOf(emitter: Emitter, name: Name, unwrap: boolean): Listener[] {
    const found = emitter._events?.[name];
    if (found === undefined) return [];
    const all = typeof found === "function" ? [found] : found.slice();
    return unwrap ? all.map((listener) => listener.listener ?? listener) : all;
}

function listenerCount(this: Emitter, name: Name, listener?: Listener): number {
    const found = this._events?.[name];
    if (found === undefined) return 0;
    if (typeof found === "function") return listener != null && listener !== found && listener !== found.listener ? 0 : 1;
    return listener == null ? found.length : found.filter((one) => one === listener || one.listener === listener).length;
}

const methods = {
    setMaxListeners(this: Emitter, count: number): Emitter {
        checkCount(count, "setMaxListeners");
        this._maxListeners = count;
        return this;
    },
    getMaxListeners(this: Emitter): number {
        return maxListenersOf(this);
    },
    emit: (native("events") as EventsNative).emit(emitRare, kCapture),
    addListener(this: Emitter, name: Name, listener: Listener): Emitter {
        return add(this, name, listener, false);
    },
    prependListener(this: Emitter, name: Name, listener: Listener): Emitter {
        return add(this, name, listener, true);
    },
    once(this: Emitter, name: Name, listener: Listener): Emitter {
        checkListener(listener);
        this.on(name, onceWrapper(this, name, listener));
        return this;
    },
    prependOnceListener(this: Emitter, name: Name, listener: Listener): Emitter {
        checkListener(listener);
        this.prependListener(name, onceWrapper(this, name, listener));
        return this;
    },
    removeListener,
    removeAllListeners,
    listeners(this: Emitter, name: Name): Listener[] {
        return listenersOf(this, name, true);
    },
    rawListeners(this: Emitter, name: Name): Listener[] {
        return listenersOf(this, name, false);
    },
    listenerCount,
    eventNames(this: Emitter): Name[] {
        return this._eventsCount > 0 ? Reflect.ownKeys(this._events as Events) : [];
    },
};

const prototype = EventEmitter.prototype as Emitter;
Object.assign(prototype, { _events: undefined, _eventsCount: 0, _maxListeners: undefined }, methods);
prototype.on = prototype.addListener;
prototype.off = prototype.removeListener;
Object.defineProperty(prototype, kCapture, { value: false, writable: true, enumerable: false });

Object.assign(EventEmitter, {
    once: (...args: Parameters<Later["once"]>) => later().once(...args),
    on: (...args: Parameters<Later["on"]>) => later().on(...args),
    getEventListeners: (...args: Parameters<Later["getEventListeners"]>) => later().getEventListeners(...args),
    getMaxListeners: (...args: Parameters<Later["getMaxListeners"]>) => later().getMaxListeners(...args),
    EventEmitter,
    usingDomains: false,
    captureRejectionSymbol: kRejection,
    errorMonitor: kErrorMonitor,
    addAbortListener: (...args: Parameters<Later["addAbortListener"]>) => later().addAbortListener(...args),
    init,
    setMaxListeners(count = defaultMaxListeners, ...targets: Emitter[]): void {
        checkCount(count, "setMaxListeners");
        if (targets.length === 0) defaultMaxListeners = count;
        else later().setMaxListeners(count, targets);
    },
    listenerCount: (emitter: Emitter, name: Name): number => (typeof emitter.listenerCount === "function" ? emitter.listenerCount(name) : listenerCount.call(emitter, name)),
});
Object.defineProperties(EventEmitter, {
    captureRejections: {
        configurable: true,
        enumerable: true,
        get: () => prototype[kCapture] as boolean,
        set(value: unknown) {
            if (typeof value !== "boolean") throw new (errors().codes.ERR_INVALID_ARG_TYPE)("EventEmitter.captureRejections", "boolean", value);
            prototype[kCapture] = value;
        },
    },
    defaultMaxListeners: {
        configurable: true,
        enumerable: true,
        get: () => defaultMaxListeners,
        set(value: number) {
            checkCount(value, "defaultMaxListeners");
            defaultMaxListeners = value;
        },
    },
    EventEmitterAsyncResource: { configurable: true, enumerable: true, get: () => later().emitterAsyncResource() },
});

module.exports = EventEmitter;
