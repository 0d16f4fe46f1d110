// A plan: a list of middleware, compiled once.
import { type Signal } from "./context";
import { declared } from "./declared";
import { MiddlewareError } from "./error";
import { explain } from "./explain";
import { Layer, type Sender } from "./layer";
import { type Awaitable, type Request, type Response } from "./message";
import { type Gauges, type Measured, Meters } from "./meter";
import { type Middleware } from "./middleware";
import { order } from "./order";
import { type Frame, frozen, Record } from "./record";
import { type Slot, type SlotPatch } from "./slot";
import { inwards } from "./walk";

/** How a plan is compiled. */
export interface PlanOptions<S extends Slot = never> {
    /**
     * Watches middleware: what they reach is frozen, and writes to the record, slots that are not declared, patches with unknown
     * members and records that were kept are refused. It costs copies and a proxy a run. Default: false.
     */
    readonly development?: boolean;
    /** Slots that `run` is given, and that middleware may read without another one that writes them. */
    readonly provides?: readonly S[];
    /** Measures each hook: see `measured`. Default: nothing is measured, and nothing spent on it. */
    readonly measure?: Gauges;
    /** Records that are kept for the next runs, the most at a time. 0 makes a new one for each run. Default: 64. */
    readonly recordsKeptMax?: number;
    /** Makes the signal of a run that was given none when a middleware first asks for it, which most never do; for hosts. */
    readonly signals?: (request: Request) => Signal | undefined;
    /** How often one middleware that repeats may call `next`. Default: 100. */
    readonly triesMax?: number;
}

/** What a run may be given besides. */
export interface RunOptions<S extends Slot = never> {
    readonly signal?: Signal | undefined;
    /** What `provides` names. */
    readonly set?: SlotPatch<S>;
}

/** Middleware that are compiled together. */
export interface Plan<S extends Slot = never> {
    /**
     * Sends `request` by `send` through all middleware.
     *
     * It returns the response, or throws, before anything waited; only if a middleware or the sender returned a promise, it returns
     * one. `await` and `try` do for both. Runs may overlap, and be started by middleware of other runs.
     *
     * Cost: no allocation, if no middleware changes anything or has an `around`, and nothing waits.
     * @throws what a middleware or the sender threw and no `onError` answered; {MiddlewareError} for their mistakes
     */
    run(request: Request, send: Sender, options?: RunOptions<S>): Awaitable<Response>;
    /** The names in their order, outermost first. */
    readonly names: readonly string[];
    /** The plan as a table: order, scope, hooks, slots, and what put each into its place. */
    explain(): string;
    /** What each hook took until now; nothing without `measure`. */
    measured(): readonly Measured[];
}

/** More would be a mistake of a program that adds to its list with every request. */
const MIDDLEWARE_MAX = 256;
const RECORDS_KEPT_MAX = 64;
const TRIES_MAX = 100;

/**
 * Compiles middleware into a plan, in the order that their constraints ask for, else as they are listed; the first is outermost,
 * and `attempt` middleware are inside of all `call` middleware.
 *
 * Cost: once, for a client or a route; some 100 µs for ten middleware.
 * @throws {MiddlewareError} whose code begins with `plan.`, with what is wrong, where, and what to write instead
 */
export function compile<S extends Slot = never>(middleware: readonly Middleware[], options: PlanOptions<S> = {}): Plan<S> {
    return new Compiled(checked(middleware), options);
}

class Compiled<S extends Slot> implements Plan<S>, Frame {
    readonly names: readonly string[];
    readonly layers: readonly Layer[];
    readonly slots: readonly Slot[];
    readonly attemptAt: number;
    readonly triesMax: number;
    readonly development: boolean;
    readonly signals: ((request: Request) => Signal | undefined) | undefined;
    private readonly sorted: readonly Middleware[];
    private readonly meters: Meters | undefined;
    private readonly provided: Layer;
    private readonly recordsKeptMax: number;
    private readonly kept: Record[] = [];

    constructor(list: readonly Middleware[], options: PlanOptions<S>) {
        this.development = options.development === true;
        this.signals = options.signals;
        this.recordsKeptMax = this.development ? 0 : natural("recordsKeptMax", options.recordsKeptMax ?? RECORDS_KEPT_MAX, 0);
        this.triesMax = natural("triesMax", options.triesMax ?? TRIES_MAX, 1);
        const ordered = order(list);
        const provides = options.provides ?? [];
        this.sorted = ordered.sorted;
        this.names = this.sorted.map(({ name }) => name);
        const places = declared(ordered, provides);
        this.slots = [...places.keys()];
        const meters = options.measure === undefined ? undefined : new Meters(options.measure);
        this.meters = meters;
        const layers: Layer[] = [];
        for (const each of this.sorted) layers.push(new Layer(each, meters?.measured(each) ?? each.code, places, layers));
        this.layers = layers;
        const attempt = this.layers.findIndex(({ isAttempt }) => isAttempt);
        this.attemptAt = attempt === -1 ? this.layers.length : attempt;
        this.provided = new Layer({ ...NOTHING, writes: provides }, NOTHING.code, places, []);
    }

    run(request: Request, send: Sender, options?: RunOptions<S>): Awaitable<Response> {
        const record = this.take(this.development ? frozen(request, false) : request, send);
        if (options !== undefined) {
            record.stop = options.signal;
            if (options.set !== undefined) record.set(this.provided, options.set);
        }
        return inwards(record, undefined, 0);
    }

    explain(): string {
        return explain(this.sorted);
    }

    measured(): readonly Measured[] {
        return this.meters?.rows() ?? [];
    }

    private take(request: Request, send: Sender): Record {
        const record = this.kept.pop();
        if (record === undefined) return new Record(this, request, send);
        record.request = request;
        record.send = send;
        return record;
    }

    over(record: Record): void {
        // Something inside still has it, and will until it is done.
        if (record.abandonedAt < this.layers.length) return;
        record.isOver = true;
        if (this.kept.length >= this.recordsKeptMax) return;
        record.clear(NO_REQUEST, noSender);
        this.kept.push(record);
    }
}

const NO_REQUEST: Request = Object.freeze({ method: "", path: "", headers: Object.freeze({}) });

function noSender(): never {
    throw new Error("a record without a run");
}

/** Stands for the caller of `run`, who writes slots too. */
const NOTHING: Middleware = {
    name: "(run)",
    scope: "call",
    before: [],
    after: [],
    reads: [],
    writes: [],
    repeats: false,
    bodies: [],
    code: { owner: undefined, around: undefined, when: undefined, onRequest: undefined, onResponse: undefined, onError: undefined, onComplete: undefined, again: undefined },
};

/** Only what `middleware` made has been looked at. */
function checked(list: readonly Middleware[]): readonly Middleware[] {
    const given: unknown = list;
    if (!Array.isArray(given)) throw new MiddlewareError("plan.definition", "compile takes an array of middleware: compile([auth, retry])");
    if (given.length > MIDDLEWARE_MAX) throw new MiddlewareError("plan.definition", `${given.length} middleware, at most ${MIDDLEWARE_MAX}; compile once, not with every request`);
    given.forEach((each: Partial<Middleware> | null | undefined, at) => {
        if (typeof each?.code !== "object") throw new MiddlewareError("plan.definition", `middleware[${at}] was not made by middleware({ … }); wrap it: compile([middleware({ name, scope, … })])`);
    });
    return list;
}

function natural(name: string, value: number, least: number): number {
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new MiddlewareError("plan.definition", `${name} is ${String(value)}; it takes a whole number from ${least}`);
}
