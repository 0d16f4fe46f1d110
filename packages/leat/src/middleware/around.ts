// `around`: one call of it, and of the `next` that it is given.
import { applyToNext, isThenable, responseOf } from "./apply";
import { MiddlewareError, replacing } from "./error";
import { type Layer } from "./layer";
import { type Awaitable, type Request, type Response } from "./message";
import { type AroundCode, type NextPatch } from "./middleware";
import { type Record } from "./record";
import { type Slot } from "./slot";
import { inwards } from "./walk";

/** One `around` of one run. */
export class Pass {
    /** The place of its layer. */
    readonly at: number;
    private readonly record: Record;
    private calls = 0;
    private isLeft = false;
    private isLeftWithInner = false;
    /** What goes on inside, while it does. */
    private inner: PromiseLike<Response> | undefined = undefined;
    /** The `around` that is told what this one is told, since all that was between them is over. */
    private outside: Pass | undefined = undefined;
    private isInside = false;
    private isFailed = false;
    /** What the last `next` came to. */
    private outcome: unknown = undefined;
    /** The request of the first try, which every other begins with. */
    private readonly request: Request;

    constructor(record: Record, at: number) {
        this.record = record;
        this.at = at;
        this.request = record.request;
    }

    private get layer(): Layer {
        return this.record.frame.layers[this.at] as Layer;
    }

    /** Calls the `around`; what it returns or throws, or a promise of either. */
    enter(): unknown {
        const { record, layer } = this;
        // A function of this run alone: one that was kept must not find its way into another run.
        const next = (patch?: NextPatch): Awaitable<Response> => this.next(patch);
        let result: unknown;
        try {
            result = enter(record, layer, layer.around as AroundCode, next);
        } catch (thrown) {
            throw this.threw(thrown);
        }
        if (!isThenable(result)) return this.returned(result);
        // The very promise of its `next`: there is nothing more to wait for than that.
        this.isLeftWithInner = result === this.inner;
        return result;
    }

    private next(patch: NextPatch<Slot> | undefined): Awaitable<Response> {
        const { record, layer, at } = this;
        this.check();
        if (this.calls > 0) {
            record.request = this.request;
            // Those of a call count where the first of their attempt middleware is entered.
            if (layer.isAttempt) record.attempt++;
        }
        this.calls++;
        if (patch !== undefined) applyToNext(record, layer, patch);
        this.isInside = true;
        const { running } = record;
        // What is inside is not this middleware's reading, the sender's least of all.
        record.running = undefined;
        let result: Awaitable<Response>;
        try {
            result = inwards(record, this, at + 1);
        } finally {
            record.running = running;
        }
        if (isThenable(result)) this.inner = result;
        return result;
    }

    /** Refusals are thrown to whoever called `next`, also when that is nobody that the run knows of any more. */
    private check(): void {
        const { name, repeats } = this.layer;
        const { triesMax } = this.record.frame;
        if (this.isLeft) throw new MiddlewareError("next.late", `middleware "${name}" called next() after it had returned; call it before, and return what it returns`);
        if (this.isInside) throw new MiddlewareError("next.twice", `middleware "${name}" called next() while its next() was under way; await the first one`);
        if (this.calls === 0) return;
        if (!repeats) throw new MiddlewareError("next.twice", `middleware "${name}" called next() twice; write repeats: true, if it is to try again`);
        if (this.calls >= triesMax) throw new MiddlewareError("next.limit", `middleware "${name}" called next() ${this.calls} times; give up before, or compile with a larger triesMax`);
    }

    /** What is inside is over. The walk says so on its way out: a callback at its promise would be one promise more for each layer. */
    settle(isFailed: boolean, outcome: unknown): void {
        this.isInside = false;
        if (this.isLeftWithInner) this.isLeft = true;
        this.inner = undefined;
        this.isFailed = isFailed;
        this.outcome = outcome;
        this.outside?.settle(isFailed, outcome);
    }

    /** Whether it left what is inside to whoever waits outside, `pass`, which is told of its end from now on. */
    isLeftTo(pass: Pass): boolean {
        if (!this.isLeftWithInner) return false;
        this.outside = pass;
        return true;
    }

    /** Whether what it returned needs no further look. */
    get isDecided(): boolean {
        return this.isLeft || this.isLeftWithInner;
    }

    /** What it returned. */
    returned(result: unknown): Awaitable<Response> {
        this.isLeft = true;
        if (this.isInside) return this.returnedEarly();
        if (result !== undefined) return responseOf(this.record, this.layer, result);
        if (this.calls === 0) throw new MiddlewareError("next.never", `middleware "${this.layer.name}" returned nothing and never called next(); return next(), or a response`);
        if (this.isFailed) throw this.outcome;
        return this.outcome as Response;
    }

    /** Waits for what is inside, so that none of its hooks runs after the run is over, and none of its errors is lost. */
    private async returnedEarly(): Promise<Response> {
        const message = `middleware "${this.layer.name}" returned while its next() was under way; await it, or return it`;
        let cause: unknown;
        try {
            await this.inner;
        } catch (error) {
            cause = error;
        }
        throw new MiddlewareError("next.pending", message, cause === undefined ? undefined : { cause });
    }

    /** What is thrown in place of `thrown`. */
    threw(thrown: unknown): unknown {
        this.isLeft = true;
        if (this.isInside) {
            // It gave up, as a deadline does, and those outside of it are not to wait for what is inside.
            this.record.abandonedAt = Math.min(this.record.abandonedAt, this.at);
            return thrown;
        }
        return this.isFailed ? replacing(thrown, this.outcome) : thrown;
    }
}

function enter(record: Record, layer: Layer, code: AroundCode, next: (patch?: NextPatch) => Awaitable<Response>): unknown {
    if (!record.frame.development) return code.call(layer.owner, record.view, next);
    const before = record.running;
    record.running = layer;
    try {
        return code.call(layer.owner, record.view, next);
    } finally {
        record.running = before;
    }
}
