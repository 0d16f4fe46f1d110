// node:perf_hooks: the clock, marks and measures. Histograms and the observers of the runtime's own events are not there.
import { coded, codes } from "../leat/errors";
import { validateFunction, validateObject, validateString } from "../leat/validate";

interface ProcessNative {
    monotonic(): [seconds: number, nanoseconds: number];
}

const { monotonic } = native("process") as ProcessNative;
const [seconds, nanoseconds] = monotonic();
const timeOrigin = Date.now();

function now(): number {
    const [s, ns] = monotonic();
    return (s - seconds) * 1000 + (ns - nanoseconds) / 1e6;
}

/** Entries that the timeline keeps; older ones go, so that a program that marks for ever does not grow for ever. */
const ENTRIES_MAX = 1_000_000;

class PerformanceEntry {
    constructor(
        readonly name: string,
        readonly entryType: string,
        readonly startTime: number,
        readonly duration: number,
        readonly detail: unknown = null,
    ) {}

    toJSON(): object {
        const { name, entryType, startTime, duration, detail } = this;
        return { name, entryType, startTime, duration, detail };
    }
}
class PerformanceMark extends PerformanceEntry {
    constructor(name: string, options?: { startTime?: number; detail?: unknown }) {
        super(`${name}`, "mark", options?.startTime ?? now(), 0, options?.detail ?? null);
    }
}
class PerformanceMeasure extends PerformanceEntry {}

let entries: PerformanceEntry[] = [];
const observers = new Set<PerformanceObserver>();

function add(entry: PerformanceEntry): void {
    if (entries.length >= ENTRIES_MAX) entries.shift();
    entries.push(entry);
    for (const observer of observers) PerformanceObserver.offer(observer, entry);
}

class EntryList {
    readonly #entries: readonly PerformanceEntry[];
    constructor(list: readonly PerformanceEntry[]) {
        this.#entries = list;
    }
    getEntries(): PerformanceEntry[] {
        return [...this.#entries];
    }
    getEntriesByType(type: string): PerformanceEntry[] {
        return this.#entries.filter((entry) => entry.entryType === type);
    }
    getEntriesByName(name: string, type?: string): PerformanceEntry[] {
        return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
    }
}

class PerformanceObserver {
    static readonly supportedEntryTypes = Object.freeze(["mark", "measure"]);
    readonly #callback: (list: EntryList, observer: PerformanceObserver) => void;
    #types = new Set<string>();
    #waiting: PerformanceEntry[] = [];

    constructor(callback: (list: EntryList, observer: PerformanceObserver) => void) {
        validateFunction(callback, "callback");
        this.#callback = callback;
    }

    observe(options: { entryTypes?: string[]; type?: string; buffered?: boolean }): void {
        validateObject(options, "options");
        const { entryTypes, type, buffered } = options;
        if (entryTypes === undefined && type === undefined) throw new codes.ERR_MISSING_ARGS("options.entryTypes", "options.type");
        this.#types = new Set(entryTypes ?? [...this.#types, type as string]);
        observers.add(this);
        if (buffered) for (const entry of entries) PerformanceObserver.offer(this, entry);
    }

    disconnect(): void {
        observers.delete(this);
        this.#waiting = [];
    }

    takeRecords(): PerformanceEntry[] {
        const waiting = this.#waiting;
        this.#waiting = [];
        return waiting;
    }

    static offer(observer: PerformanceObserver, entry: PerformanceEntry): void {
        if (!observer.#types.has(entry.entryType)) return;
        if (observer.#waiting.push(entry) > 1) return;
        setImmediate(() => {
            const list = observer.takeRecords();
            if (list.length > 0) observer.#callback.call(observer, new EntryList(list), observer);
        });
    }
}

/** When a mark was, or the number itself. */
function timeOf(mark: unknown): number {
    if (typeof mark === "number") return mark;
    const found = entries.findLast((entry) => entry.entryType === "mark" && entry.name === `${mark as string}`);
    if (found === undefined) {
        const error = new Error(`The "${mark as string}" performance mark has not been set`);
        error.name = "SyntaxError";
        throw Object.assign(error, { code: 12 });
    }
    return found.startTime;
}

interface MeasureOptions {
    readonly start?: unknown;
    readonly end?: unknown;
    readonly duration?: number;
    readonly detail?: unknown;
}

function measure(name: string, from?: unknown, until?: unknown): PerformanceMeasure {
    validateString(name, "name");
    const options: MeasureOptions = typeof from === "object" && from !== null ? from : { start: from, end: until };
    let end = options.end === undefined ? undefined : timeOf(options.end);
    let start = options.start === undefined ? undefined : timeOf(options.start);
    if (options.duration !== undefined) {
        if (end === undefined) end = (start ?? 0) + options.duration;
        else start ??= end - options.duration;
    }
    start ??= 0;
    const made = new PerformanceMeasure(name, "measure", start, (end ?? now()) - start, options.detail ?? null);
    add(made);
    return made;
}

function clear(type: string, name?: string): void {
    entries = entries.filter((entry) => entry.entryType !== type || (name !== undefined && entry.name !== name));
}

type Run = (...args: unknown[]) => unknown;

class Performance {
    now(): number {
        return now();
    }
    get timeOrigin(): number {
        return timeOrigin;
    }
    mark(name: string, options?: { startTime?: number; detail?: unknown }): PerformanceMark {
        const made = new PerformanceMark(name, options);
        add(made);
        return made;
    }
    measure(name: string, from?: unknown, until?: unknown): PerformanceMeasure {
        return measure(name, from, until);
    }
    clearMarks(name?: string): void {
        clear("mark", name);
    }
    clearMeasures(name?: string): void {
        clear("measure", name);
    }
    getEntries(): PerformanceEntry[] {
        return new EntryList(entries).getEntries();
    }
    getEntriesByName(name: string, type?: string): PerformanceEntry[] {
        return new EntryList(entries).getEntriesByName(name, type);
    }
    getEntriesByType(type: string): PerformanceEntry[] {
        return new EntryList(entries).getEntriesByType(type);
    }
    timerify(run: Run): Run {
        validateFunction(run, "fn");
        return function timerified(this: unknown, ...args: unknown[]) {
            const begun = now();
            const result = Reflect.apply(run, this, args);
            add(new PerformanceEntry(run.name, "function", begun, now() - begun, args));
            return result;
        };
    }
    eventLoopUtilization(): object {
        return { idle: 0, active: 0, utilization: 0 };
    }
    get nodeTiming(): object {
        return { name: "node", entryType: "node", startTime: 0, duration: now() };
    }
    toJSON(): object {
        return { timeOrigin, nodeTiming: this.nodeTiming, eventLoopUtilization: this.eventLoopUtilization() };
    }
}

function missing(name: string): never {
    throw coded(new Error(`leat run has no perf_hooks.${name}`), "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM");
}

module.exports = {
    performance: new Performance(),
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver,
    PerformanceObserverEntryList: EntryList,
    monitorEventLoopDelay: () => missing("monitorEventLoopDelay"),
    createHistogram: () => missing("createHistogram"),
    constants: {},
};
