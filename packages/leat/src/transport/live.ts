// The transport's side of a call: what `Call` shows of it, its timers, its listener at the caller's signal, and its end.
import { type Signal } from "../middleware/context";
import { type BodyLimits, type Call, type CallOptions } from "./call";
import { type Clock, type Random, type Timer } from "./clock";
import { type AttemptReport, TransportError } from "./error";
import { type Node } from "./nodes/node";
import { type Redactor } from "./secret";
import { Abort } from "./signal";

/** What all calls of a transport share. */
export interface Host {
    readonly clock: Clock;
    readonly random: Random;
    readonly redactor: Redactor;
    readonly limits: BodyLimits;
    /** It is over. */
    ended(call: LiveCall): void;
}

const NONE: readonly AttemptReport[] = [];

export class LiveCall extends Abort implements Call {
    readonly options: CallOptions;
    readonly asStream: boolean;
    readonly startedMs: number;
    limits: BodyLimits;
    tryTimeoutMs: number;
    node: string | undefined = undefined;
    /** The node of the last try, which the next one avoids. */
    lastNode: Node | undefined = undefined;
    attempts: readonly AttemptReport[] = NONE;
    readonly #host: Host;
    readonly #caller: Signal | undefined;
    #endsMs = Infinity;
    #timer: Timer | undefined = undefined;
    #onAbort: (() => void) | undefined = undefined;
    #onEnd: (() => void)[] | undefined = undefined;
    #isOver = false;
    /** Its neighbours among the calls of the transport that are under way. */
    previous: LiveCall | undefined = undefined;
    next: LiveCall | undefined = undefined;

    constructor(host: Host, options: CallOptions, asStream: boolean, timeoutMs: number, tryTimeoutMs: number, caller: Signal | undefined) {
        super();
        this.#host = host;
        this.options = options;
        this.asStream = asStream;
        this.startedMs = host.clock.nowMs();
        this.limits = host.limits;
        this.tryTimeoutMs = tryTimeoutMs;
        this.#caller = caller;
        if (timeoutMs !== Infinity) {
            this.#endsMs = this.startedMs + timeoutMs;
            this.#timer = host.clock.after(timeoutMs, () => this.#late());
        }
        if (caller === undefined) return;
        this.#onAbort = () => this.abort(new TransportError("call.aborted", "the call was aborted by its signal", { cause: caller.reason }));
        if (caller.aborted) this.#onAbort();
        else caller.addEventListener("abort", this.#onAbort);
    }

    get clock(): Clock {
        return this.#host.clock;
    }

    get random(): Random {
        return this.#host.random;
    }

    get redactor(): Redactor {
        return this.#host.redactor;
    }

    /** The call is its own signal. */
    get signal(): Signal {
        return this;
    }

    leftMs(): number {
        return this.#endsMs === Infinity ? Infinity : Math.max(0, this.#endsMs - this.clock.nowMs());
    }

    endWithin(timeoutMs: number): void {
        const endsMs = this.startedMs + timeoutMs;
        if (this.#isOver || endsMs >= this.#endsMs) return;
        this.#endsMs = endsMs;
        this.#timer?.cancel();
        this.#timer = this.clock.after(Math.max(0, endsMs - this.clock.nowMs()), () => this.#late());
    }

    tryWithin(timeoutMs: number): void {
        if (timeoutMs < this.tryTimeoutMs) this.tryTimeoutMs = timeoutMs;
    }

    limitTo(limits: Partial<BodyLimits>): void {
        const { rawBytesMax, decodedBytesMax, ratioMax } = this.limits;
        this.limits = {
            rawBytesMax: Math.min(rawBytesMax, limits.rawBytesMax ?? Infinity),
            decodedBytesMax: Math.min(decodedBytesMax, limits.decodedBytesMax ?? Infinity),
            ratioMax: Math.min(ratioMax, limits.ratioMax ?? Infinity),
        };
    }

    onEnd(run: () => void): void {
        if (this.#isOver) run();
        else if (this.#onEnd === undefined) this.#onEnd = [run];
        else this.#onEnd.push(run);
    }

    /** A try is over. */
    report(attempt: AttemptReport): void {
        if (this.attempts === NONE) this.attempts = [attempt];
        else (this.attempts as AttemptReport[]).push(attempt);
    }

    /** The call is over, and nothing of it listens or waits any longer. Once; later calls do nothing. */
    end(): void {
        if (this.#isOver) return;
        this.#isOver = true;
        this.#timer?.cancel();
        if (this.#onAbort !== undefined) this.#caller?.removeEventListener("abort", this.#onAbort);
        this.#host.ended(this);
        const listeners = this.#onEnd;
        if (listeners !== undefined) for (const listener of listeners) listener();
    }

    #late(): void {
        const timeoutMs = Math.round(this.#endsMs - this.startedMs);
        this.abort(new TransportError("call.deadline", `the call took longer than its ${timeoutMs} ms`));
    }
}
