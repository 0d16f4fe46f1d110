// EventTarget, Event, CustomEvent, AbortController and AbortSignal (WHATWG DOM), as far as there is no tree of nodes.
import { described } from "./_argument";

type Callback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };
interface Listener {
    callback: Callback;
    capture: boolean;
    once: boolean;
    passive: boolean;
}
interface EventInit {
    bubbles?: boolean;
    cancelable?: boolean;
    composed?: boolean;
}

const { DOMException: Exception } = globalThis as unknown as { DOMException: new (message?: string, name?: string) => Error };
export { Exception as DOMException };

const customInspect = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: unknown) => string;

function typeError(code: string, message: string): TypeError {
    return Object.assign(new TypeError(message), { code });
}

let begin: (event: Event, target: EventTarget) => void;
let end: (event: Event) => void;
let isStopped: (event: Event) => boolean;
let beQuiet: (event: Event, passive: boolean) => void;

export class Event {
    static readonly NONE = 0;
    static readonly CAPTURING_PHASE = 1;
    static readonly AT_TARGET = 2;
    static readonly BUBBLING_PHASE = 3;
    #type: string;
    #bubbles: boolean;
    #cancelable: boolean;
    #composed: boolean;
    #canceled = false;
    #isDispatched = false;
    #isStopped = false;
    #isPropagationStopped = false;
    #isPassive = false;
    #target: EventTarget | null = null;
    #phase = 0;
    #time = Date.now();

    static {
        begin = (event, target) => {
            if (event.#isDispatched) throw new Exception("The event is already being dispatched", "InvalidStateError");
            event.#isDispatched = true;
            event.#target = target;
            event.#phase = 2;
        };
        end = (event) => {
            event.#isDispatched = false;
            event.#isStopped = false;
            event.#phase = 0;
        };
        isStopped = (event) => event.#isStopped;
        beQuiet = (event, passive) => void (event.#isPassive = passive);
    }

    constructor(type: unknown, init: EventInit | null = null) {
        if (arguments.length === 0) throw typeError("ERR_MISSING_ARGS", 'The "type" argument must be specified');
        this.#type = String(type);
        this.#bubbles = Boolean(init?.bubbles);
        this.#cancelable = Boolean(init?.cancelable);
        this.#composed = Boolean(init?.composed);
    }
    get type(): string {
        return this.#type;
    }
    get target(): EventTarget | null {
        return this.#target;
    }
    get srcElement(): EventTarget | null {
        return this.#target;
    }
    get currentTarget(): EventTarget | null {
        return this.#isDispatched ? this.#target : null;
    }
    get eventPhase(): number {
        return this.#phase;
    }
    get bubbles(): boolean {
        return this.#bubbles;
    }
    get cancelable(): boolean {
        return this.#cancelable;
    }
    get composed(): boolean {
        return this.#composed;
    }
    get defaultPrevented(): boolean {
        return this.#canceled;
    }
    get returnValue(): boolean {
        return !this.#canceled;
    }
    get timeStamp(): number {
        return this.#time;
    }
    get isTrusted(): boolean {
        return false;
    }
    get cancelBubble(): boolean {
        return this.#isPropagationStopped;
    }
    set cancelBubble(value: boolean) {
        if (value) this.#isPropagationStopped = true;
    }
    composedPath(): EventTarget[] {
        return this.#isDispatched && this.#target !== null ? [this.#target] : [];
    }
    preventDefault(): void {
        if (this.#cancelable && !this.#isPassive) this.#canceled = true;
    }
    stopPropagation(): void {
        this.#isPropagationStopped = true;
    }
    stopImmediatePropagation(): void {
        this.#isPropagationStopped = true;
        this.#isStopped = true;
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        const { type, defaultPrevented, cancelable, timeStamp } = this;
        return depth < 0 ? this.constructor.name : `${this.constructor.name} ${inspect({ type, defaultPrevented, cancelable, timeStamp }, options)}`;
    }
}

export class CustomEvent extends Event {
    #detail: unknown;
    constructor(type: unknown, init: (EventInit & { detail?: unknown }) | null = null) {
        super(type, init);
        this.#detail = init?.detail ?? null;
    }
    get detail(): unknown {
        return this.#detail;
    }
}

/** Listeners of a target by type. Targets without listeners, such as most signals, have no map. */
const heard = new WeakMap<object, Map<string, Listener[]>>();
/** The function that stands in `on…`, and the listener that calls it. */
const slots = new WeakMap<object, Map<string, { value: unknown; callback: Callback }>>();

/** What listens on `target`, for `events.getEventListeners`. */
export function listenersOf(target: object, name: string): Callback[] {
    return (heard.get(target as EventTarget)?.get(name) ?? []).map((listener) => listener.callback);
}

export class EventTarget {
    addEventListener(type: unknown, callback: Callback | null | undefined, options?: boolean | (Partial<Listener> & { signal?: AbortSignal }) | null): void {
        if (arguments.length < 2) throw typeError("ERR_MISSING_ARGS", 'The "type" and "listener" arguments must be specified');
        if (callback === null || callback === undefined) return;
        if (typeof callback !== "function" && typeof callback !== "object") {
            throw typeError("ERR_INVALID_ARG_TYPE", 'The "listener" argument must be an instance of EventListener');
        }
        const given = typeof options === "object" && options !== null ? options : { capture: Boolean(options) };
        const { signal } = given as { signal?: AbortSignal };
        if (signal?.aborted === true) return;
        const name = String(type);
        let types = heard.get(this);
        if (types === undefined) heard.set(this, (types = new Map()));
        const list = types.get(name) ?? [];
        const capture = Boolean(given.capture);
        if (list.some((known) => known.callback === callback && known.capture === capture)) return;
        // A list that is walked is never changed.
        types.set(name, [...list, { callback, capture, once: Boolean(given.once), passive: Boolean(given.passive) }]);
        signal?.addEventListener("abort", () => this.removeEventListener(name, callback, { capture }), { once: true });
    }
    removeEventListener(type: unknown, callback: Callback | null | undefined, options?: boolean | { capture?: boolean } | null): void {
        const capture = typeof options === "object" && options !== null ? Boolean(options.capture) : Boolean(options);
        const types = heard.get(this);
        const list = types?.get(String(type));
        if (types === undefined || list === undefined) return;
        const left = list.filter((known) => known.callback !== callback || known.capture !== capture);
        if (left.length === 0) types.delete(String(type));
        else types.set(String(type), left);
    }
    dispatchEvent(event: Event): boolean {
        if (!(event instanceof Event)) throw typeError("ERR_INVALID_ARG_TYPE", `The "event" argument must be an instance of Event. Received ${described(event)}`);
        begin(event, this);
        const list = heard.get(this)?.get(event.type) ?? [];
        for (const listener of list) {
            if (isStopped(event)) break;
            // It may have been removed meanwhile.
            if (heard.get(this)?.get(event.type)?.includes(listener) !== true) continue;
            if (listener.once) this.removeEventListener(event.type, listener.callback, listener.capture);
            beQuiet(event, listener.passive);
            try {
                const { callback } = listener;
                if (typeof callback === "function") callback.call(this, event);
                else callback.handleEvent(event);
            } catch (error) {
                // As in Node: it is uncaught, and the other listeners are called.
                (globalThis as unknown as { process: { nextTick(call: () => void): void } }).process.nextTick(() => {
                    throw error;
                });
            } finally {
                beQuiet(event, false);
            }
        }
        end(event);
        return !event.defaultPrevented;
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        return depth < 0 ? this.constructor.name : `${this.constructor.name} ${inspect({}, options)}`;
    }
}

/** Gives a class the attribute `on…` of an event. */
export function handler(prototype: object, type: string): void {
    Object.defineProperty(prototype, `on${type}`, {
        configurable: true,
        enumerable: true,
        get(this: EventTarget) {
            return slots.get(this)?.get(type)?.value ?? null;
        },
        set(this: EventTarget, value: unknown) {
            let all = slots.get(this);
            if (all === undefined) slots.set(this, (all = new Map()));
            const slot = all.get(type);
            if (typeof value !== "function") {
                if (slot !== undefined) this.removeEventListener(type, slot.callback);
                all.delete(type);
            } else if (slot !== undefined) {
                slot.value = value;
            } else {
                const made = { value: value as unknown, callback: (event: Event): unknown => (made.value as (event: Event) => unknown).call(this, event) };
                all.set(type, made);
                this.addEventListener(type, made.callback);
            }
        },
    });
}

const MAKE = Symbol("make");
let abort: (signal: AbortSignal, reason: unknown) => void;
let follow: (signal: AbortSignal, sources: AbortSignal[]) => void;

export class AbortSignal extends EventTarget {
    #aborted = false;
    #reason: unknown;
    /** Those that abort with this one; not kept alive by it. */
    #followers: WeakRef<AbortSignal>[] | undefined;
    /** Kept alive while somebody may be told. */
    #sources: AbortSignal[] | undefined;

    static {
        abort = (signal, reason) => {
            if (signal.#aborted) return;
            signal.#aborted = true;
            signal.#reason = reason === undefined ? new Exception("This operation was aborted", "AbortError") : reason;
            const followers = signal.#followers;
            signal.#followers = undefined;
            for (const source of signal.#sources ?? []) source.#followers = source.#followers?.filter((known) => known.deref() !== signal);
            signal.#sources = undefined;
            signal.dispatchEvent(new Event("abort"));
            for (const follower of followers ?? []) {
                const one = follower.deref();
                if (one !== undefined) abort(one, signal.#reason);
            }
        };
        follow = (signal, sources) => {
            signal.#sources = sources;
            for (const source of sources) {
                source.#followers = (source.#followers ?? []).filter((known) => known.deref() !== undefined);
                source.#followers.push(new WeakRef(signal));
            }
        };
    }

    constructor(key?: unknown) {
        if (key !== MAKE) throw typeError("ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
        super();
    }
    static abort(reason?: unknown): AbortSignal {
        const signal = new AbortSignal(MAKE);
        abort(signal, reason);
        return signal;
    }
    static timeout(ms: number): AbortSignal {
        if (typeof ms !== "number") throw typeError("ERR_INVALID_ARG_TYPE", `The "delay" argument must be of type number. Received ${described(ms)}`);
        if (!Number.isInteger(ms) || ms < 0 || ms > Number.MAX_SAFE_INTEGER) {
            throw Object.assign(new RangeError(`The value of "delay" is out of range. It must be >= 0 && <= 9007199254740991. Received ${ms}`), { code: "ERR_OUT_OF_RANGE" });
        }
        const signal = new AbortSignal(MAKE);
        const { setTimeout } = require("node:timers") as { setTimeout(call: () => void, ms: number): { unref?(): void } };
        setTimeout(() => abort(signal, new Exception("The operation was aborted due to timeout", "TimeoutError")), Math.min(ms, 0x7fffffff)).unref?.();
        return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
        const all = [...signals];
        const signal = new AbortSignal(MAKE);
        for (const each of all) {
            if (!(each instanceof AbortSignal)) throw typeError("ERR_INVALID_ARG_TYPE", 'The "signals" argument must hold instances of AbortSignal');
        }
        const gone = all.find((each) => each.aborted);
        if (gone !== undefined) abort(signal, gone.reason);
        else follow(signal, all);
        return signal;
    }
    get aborted(): boolean {
        return this.#aborted;
    }
    get reason(): unknown {
        return this.#reason;
    }
    throwIfAborted(): void {
        if (this.#aborted) throw this.#reason;
    }
    override [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        return depth < 0 ? "AbortSignal" : `AbortSignal ${inspect({ aborted: this.aborted }, options)}`;
    }
}
handler(AbortSignal.prototype, "abort");

export class AbortController {
    #signal: AbortSignal | undefined;
    get signal(): AbortSignal {
        return (this.#signal ??= new AbortSignal(MAKE));
    }
    abort(reason?: unknown): void {
        abort(this.signal, reason);
    }
    [customInspect](depth: number, options: unknown, inspect: Inspect): string {
        return depth < 0 ? "AbortController" : `AbortController ${inspect({ signal: this.signal }, options)}`;
    }
}

for (const Kind of [Event, CustomEvent, EventTarget, AbortSignal, AbortController]) {
    Object.defineProperty(Kind.prototype, Symbol.toStringTag, { configurable: true, value: Kind.name });
    for (const name of Object.getOwnPropertyNames(Kind.prototype)) {
        if (name !== "constructor") Object.defineProperty(Kind.prototype, name, { enumerable: true });
    }
}
for (const [name, value] of [["NONE", 0], ["CAPTURING_PHASE", 1], ["AT_TARGET", 2], ["BUBBLING_PHASE", 3]] as const) {
    Object.defineProperty(Event.prototype, name, { enumerable: true, value });
}
