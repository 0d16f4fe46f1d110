// The queue behind timers: one list for each duration, in order of making, and a heap of the lists by when the first of
// each is due. To set and to clear is O(1) unless a list begins or ends; then O(log lists).
import { contexts, failures } from "./turn";

interface Native {
    /** Whole milliseconds since the world began, the same all through a turn. */
    now(): number;
    /** The clock is looked at again in this turn. */
    refresh(): void;
    /** Calls the hook `timers` in so many milliseconds, in place of what was asked for before. */
    alarm(ms: number): void;
    hold(hold: boolean): void;
    immediate(): void;
    holdImmediate(hold: boolean): void;
}

type Run = (...args: never[]) => unknown;
type Called = Record<"_onTimeout" | "_onImmediate", (...args: unknown[]) => unknown>;

/** The longest that a timer can wait, in milliseconds; what is longer is 1, as in Node. */
export const DELAY_MS_MAX = 2 ** 31 - 1;

/** Lists that may be kept while they are empty. */
const EMPTY_LISTS_MAX = 32;

const kRefed = Symbol("refed");
const kId = Symbol("asyncId");
const kContext = Symbol("context");

const clock = native("timers") as Native;

/** Timers of one duration; the list is a ring through `_idleNext`, and its ends meet here. */
class List {
    _idleNext: Link = this;
    _idlePrev: Link = this;
    expiry: number;
    /** Its place in the heap. */
    at = 0;
    constructor(
        readonly ms: number,
        readonly begun: number,
        expiry: number,
    ) {
        this.expiry = expiry;
    }
}

interface Link {
    _idleNext: Link | null;
    _idlePrev: Link | null;
}

const lists = new Map<number, List>();
const heap: List[] = [];
let made = 0;
let held = 0;
/** When the alarm rings; Infinity: not set. */
let armed = Infinity;
let lastId = 0;
/** Timers that were turned into numbers. */
const numbered = new Map<number, Timeout>();

const before = (one: List, other: List): boolean => one.expiry < other.expiry || (one.expiry === other.expiry && one.begun < other.begun);

function place(list: List, at: number): void {
    heap[at] = list;
    list.at = at;
}

function rise(list: List): void {
    let { at } = list;
    while (at > 0) {
        const above = heap[(at - 1) >> 1] as List;
        if (!before(list, above)) break;
        place(above, at);
        at = (at - 1) >> 1;
    }
    place(list, at);
}

function sink(list: List): void {
    let { at } = list;
    for (;;) {
        const left = heap[2 * at + 1];
        if (left === undefined) break;
        const right = heap[2 * at + 2];
        const least = right !== undefined && before(right, left) ? right : left;
        if (!before(least, list)) break;
        const to = least.at;
        place(least, at);
        at = to;
    }
    place(list, at);
}

function drop(list: List): void {
    lists.delete(list.ms);
    const last = heap.pop() as List;
    if (last === list) return;
    place(last, list.at);
    rise(last);
    sink(last);
}

function arm(at: number): void {
    if (at >= armed) return;
    armed = at;
    clock.alarm(Math.max(at - clock.now(), 0));
}

function count(change: number): void {
    const was = held;
    held += change;
    if (was === 0 && held > 0) clock.hold(true);
    else if (was > 0 && held === 0) clock.hold(false);
}

function insert(timer: Timeout, start: number): void {
    timer._idleStart = start;
    const ms = timer._idleTimeout;
    let list = lists.get(ms);
    if (list === undefined) {
        list = new List(ms, made++, start + ms);
        lists.set(ms, list);
        list.at = heap.length;
        heap.push(list);
        rise(list);
        arm(list.expiry);
    }
    const last = list._idlePrev;
    timer._idlePrev = last;
    timer._idleNext = list;
    last._idleNext = timer;
    list._idlePrev = timer;
}

function unlink(timer: Timeout): void {
    const { _idlePrev: previous, _idleNext: next } = timer;
    if (previous === null || next === null) return;
    previous._idleNext = next;
    next._idlePrev = previous;
    timer._idleNext = null;
    timer._idlePrev = null;
    // A list that others of its duration are soon put into stays until it is due; many do not.
    if (next === previous && lists.size > EMPTY_LISTS_MAX) drop(next as List);
}

/** What setTimeout and setInterval give. What it has is set in the constructor: fields of a class cost QuickJS twice as much. */
export class Timeout implements Link {
    declare _idleTimeout: number;
    declare _idlePrev: Link | null;
    declare _idleNext: Link | null;
    declare _idleStart: number;
    declare _onTimeout: Run | null;
    declare _timerArgs: unknown[] | undefined;
    declare _repeat: number | null;
    declare _destroyed: boolean;
    declare [kRefed]: boolean;
    /** Only once it was turned into a number. */
    declare [kId]?: number;
    /** Only once the program uses asynchronous contexts. */
    declare [kContext]?: unknown;

    constructor(run: Run, delay: unknown, args: unknown[] | undefined, repeat: boolean) {
        let ms = Number(delay);
        if (!(ms >= 1 && ms <= DELAY_MS_MAX)) {
            if (ms > DELAY_MS_MAX) tooLong(ms);
            ms = 1;
        }
        ms = Math.trunc(ms);
        this._idleTimeout = ms;
        this._idlePrev = null;
        this._idleNext = null;
        this._idleStart = 0;
        this._onTimeout = run;
        this._timerArgs = args;
        this._repeat = repeat ? ms : null;
        this._destroyed = false;
        this[kRefed] = true;
        if (contexts.used !== undefined) this[kContext] = contexts.used.current();
        insert(this, clock.now());
        count(1);
    }

    ref(): this {
        if (!this[kRefed]) {
            this[kRefed] = true;
            if (!this._destroyed) count(1);
        }
        return this;
    }

    unref(): this {
        if (this[kRefed]) {
            this[kRefed] = false;
            if (!this._destroyed) count(-1);
        }
        return this;
    }

    hasRef(): boolean {
        return this[kRefed];
    }

    refresh(): this {
        if (this._onTimeout === null) return this;
        unlink(this);
        if (this._destroyed) {
            this._destroyed = false;
            if (this[kRefed]) count(1);
        }
        insert(this, clock.now());
        return this;
    }

    close(): this {
        clear(this);
        return this;
    }

    [Symbol.toPrimitive](): number {
        if (this[kId] === undefined) {
            this[kId] = ++lastId;
            if (!this._destroyed) numbered.set(this[kId], this);
        }
        return this[kId];
    }

    [Symbol.dispose](): void {
        clear(this);
    }

    /** Ends it, whether it ran or not. */
    static end(timer: Timeout): void {
        unlink(timer);
        if (timer._destroyed) return;
        timer._destroyed = true;
        if (timer[kId] !== undefined) numbered.delete(timer[kId]);
        if (timer[kRefed]) count(-1);
    }

    static run(timer: Timeout, now: number): void {
        const run = timer._onTimeout;
        const repeats = timer._repeat;
        unlink(timer);
        if (repeats === null || run === null) {
            // `refresh` in the callback makes it live again.
            Timeout.end(timer);
            if (run === null) return;
        }
        if (contexts.used !== undefined) contexts.used.enter(timer[kContext]);
        try {
            const args = timer._timerArgs;
            // As a method, which costs no frame.
            if (args === undefined) (timer as unknown as Called)._onTimeout();
            else (timer as unknown as Called)._onTimeout(...args);
        } catch (error) {
            failures.uncaught(error);
        }
        if (timer._repeat !== null && timer._idleNext === null && !timer._destroyed && timer._onTimeout !== null) {
            timer._idleTimeout = timer._repeat;
            clock.refresh();
            insert(timer, Math.max(clock.now(), now));
        }
    }
}

function tooLong(ms: number): void {
    const process = require("node:process") as { emitWarning(text: string, type: string): void };
    process.emitWarning(`${ms} does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.`, "TimeoutOverflowWarning");
}

/** clearTimeout and clearInterval: takes what they gave, its number, or that as text. */
export function clear(timer: unknown): void {
    if (timer instanceof Timeout) {
        timer._onTimeout = null;
        Timeout.end(timer);
    } else if (typeof timer === "number" || typeof timer === "string") {
        const found = numbered.get(Number(timer));
        if (found !== undefined) clear(found);
    } else if (timer instanceof Immediate) {
        clearImmediate(timer);
    }
}

let now = 0;

/** Runs the next timer that is due; whether there may be more. `first`: the alarm has just rung. */
export function runTimers(first: boolean): boolean {
    if (first) {
        armed = Infinity;
        clock.refresh();
        now = clock.now();
    }
    for (;;) {
        const list = heap[0];
        if (list === undefined) return false;
        if (list.expiry > now) {
            clock.refresh();
            now = clock.now();
            if (list.expiry > now) {
                arm(list.expiry);
                return false;
            }
        }
        if (list._idleNext === list) {
            drop(list);
            continue;
        }
        const timer = list._idleNext as Timeout;
        const due = timer._idleStart + list.ms;
        if (due > now) {
            list.expiry = Math.max(due, now + 1);
            sink(list);
            continue;
        }
        Timeout.run(timer, now);
        return true;
    }
}

let immediates: Immediate[] = [];
let running: Immediate[] = [];
let at = 0;
let immediatesHeld = 0;

function countImmediates(change: number): void {
    const was = immediatesHeld;
    immediatesHeld += change;
    if (was === 0 && immediatesHeld > 0) clock.holdImmediate(true);
    else if (was > 0 && immediatesHeld === 0) clock.holdImmediate(false);
}

/** What setImmediate gives. */
export class Immediate {
    _onImmediate: Run | null;
    _argv: unknown[] | undefined;
    _destroyed = false;
    #refed = true;
    #context: unknown;

    constructor(run: Run, args: unknown[] | undefined) {
        this._onImmediate = run;
        this._argv = args;
        this.#context = contexts.used?.current();
        if (immediates.push(this) === 1) clock.immediate();
        countImmediates(1);
    }

    ref(): this {
        if (!this.#refed) {
            this.#refed = true;
            if (!this._destroyed) countImmediates(1);
        }
        return this;
    }

    unref(): this {
        if (this.#refed) {
            this.#refed = false;
            if (!this._destroyed) countImmediates(-1);
        }
        return this;
    }

    hasRef(): boolean {
        return this.#refed;
    }

    [Symbol.dispose](): void {
        clearImmediate(this);
    }

    static end(immediate: Immediate): void {
        if (immediate._destroyed) return;
        immediate._destroyed = true;
        if (immediate.#refed) countImmediates(-1);
    }

    static run(immediate: Immediate): void {
        const run = immediate._onImmediate;
        Immediate.end(immediate);
        if (run === null) return;
        contexts.used?.enter(immediate.#context);
        try {
            const args = immediate._argv;
            immediate._onImmediate = run;
            if (args === undefined) (immediate as unknown as Called)._onImmediate();
            else (immediate as unknown as Called)._onImmediate(...args);
        } catch (error) {
            failures.uncaught(error);
        }
    }
}

export function clearImmediate(immediate: unknown): void {
    if (!(immediate instanceof Immediate) || immediate._destroyed) return;
    immediate._onImmediate = null;
    Immediate.end(immediate);
}

/** Runs the next immediate of those that were there when `first` was true; whether there are more. */
export function runImmediates(first: boolean): boolean {
    if (first) {
        running = immediates;
        immediates = [];
        at = 0;
    }
    while (at < running.length) {
        const immediate = running[at++] as Immediate;
        if (immediate._destroyed) continue;
        Immediate.run(immediate);
        break;
    }
    if (at < running.length) return true;
    running = [];
    return false;
}
