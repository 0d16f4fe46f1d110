// What each middleware takes, measured only in a plan that is built for it.
import { isThenable } from "./apply";
import { type Awaitable, type Response } from "./message";
import { type AroundCode, type Code, HOOKS, type HookCode, type Middleware, type NextPatch } from "./middleware";

/** What is read before and after each hook. */
export interface Gauges {
    /** Units of the caller's choice, such as `performance.now`, or nanoseconds. Monotonic. */
    readonly clock: () => number;
    /** Bytes of the heap that were ever taken, or are in use between collections. Left out: none are counted. */
    readonly bytes?: () => number;
}

/** What the calls of one hook of one middleware took, all together; without what `next` took inside of `around`. */
export interface Measured {
    readonly name: string;
    readonly hook: string;
    readonly calls: number;
    /** From a call to its return, in the clock's unit. */
    readonly time: number;
    /** From a return to when the promise was settled, `next` included: time that passed, and nobody's work. */
    readonly waited: number;
    /** The most that a call took until its return. */
    readonly timeMax: number;
    readonly bytes: number;
}

/** The sums of one hook; those inside of a `next` are taken off by a counter that all share. */
class Meter {
    calls = 0;
    time = 0;
    waited = 0;
    timeMax = 0;
    bytes = 0;
    readonly name: string;
    readonly hook: string;
    private readonly clock: () => number;
    private readonly gauge: () => number;

    constructor(name: string, hook: string, { clock, bytes }: Gauges) {
        this.name = name;
        this.hook = hook;
        this.clock = clock;
        this.gauge = bytes ?? (() => 0);
    }

    hooked(code: HookCode): HookCode {
        // Handed on with the owner that the plan calls it on.
        const measure = (owner: unknown, context: unknown): unknown => this.measure(() => code.call(owner, context));
        return function measured(this: unknown, context) {
            return measure(this, context);
        };
    }

    wrapped(code: AroundCode): AroundCode {
        const measure = (owner: unknown, context: unknown, next: (patch?: NextPatch) => Awaitable<Response>): unknown => {
            const inside = { time: 0, bytes: 0 };
            const timed = (patch?: NextPatch): Awaitable<Response> => {
                const [time, bytes] = [this.clock(), this.gauge()];
                try {
                    return next(patch);
                } finally {
                    inside.time += this.clock() - time;
                    inside.bytes += this.gauge() - bytes;
                }
            };
            return this.measure(() => code.call(owner, context, timed), inside);
        };
        return function measured(this: unknown, context, next) {
            return measure(this, context, next);
        };
    }

    private measure(run: () => unknown, inside?: { readonly time: number; readonly bytes: number }): unknown {
        this.calls++;
        const [time, bytes] = [this.clock(), this.gauge()];
        let result: unknown;
        try {
            result = run();
        } finally {
            const took = this.clock() - time - (inside?.time ?? 0);
            this.time += took;
            this.timeMax = Math.max(this.timeMax, took);
            this.bytes += this.gauge() - bytes - (inside?.bytes ?? 0);
        }
        return isThenable(result) ? this.wait(result) : result;
    }

    private async wait(pending: PromiseLike<unknown>): Promise<unknown> {
        const begin = this.clock();
        try {
            return await pending;
        } finally {
            this.waited += this.clock() - begin;
        }
    }
}

/** Measures what it is told to, in the order of the plan. */
export class Meters {
    private readonly all: Meter[] = [];
    private readonly gauges: Gauges;

    constructor(gauges: Gauges) {
        this.gauges = gauges;
    }

    measured({ name, code }: Middleware): Code {
        const meter = (hook: string): Meter => {
            const made = new Meter(name, hook, this.gauges);
            this.all.push(made);
            return made;
        };
        const hooks = Object.fromEntries(HOOKS.map((hook) => [hook, code[hook] === undefined ? undefined : meter(hook).hooked(code[hook])])) as Pick<Code, (typeof HOOKS)[number]>;
        return { owner: code.owner, around: code.around === undefined ? undefined : meter("around").wrapped(code.around), when: code.when, ...hooks };
    }

    rows(): readonly Measured[] {
        return this.all.map(({ name, hook, calls, time, waited, timeMax, bytes }) => ({ name, hook, calls, time, waited, timeMax, bytes }));
    }
}
