// Tries calls again, where that does no harm and helps.
import { isThenable } from "../../middleware/apply";
import { type Context } from "../../middleware/context";
import { type Awaitable, type Request, type Response } from "../../middleware/message";
import { middleware, type Middleware, type Next } from "../../middleware/middleware";
import { isSendable, type Body } from "../body/body";
import { call, type Call } from "../call";
import { sleep } from "../clock";
import { TransportError } from "../error";
import { type Budget } from "../policy/budget";
import { afterTry, isIdempotentMethod, type Outcome, type RetrySettings, type Stop } from "../policy/retry";
import { retryAfterUs } from "../policy/retry_after";
import { msOf, usOf } from "../policy/time";
import { discard } from "./discard";
import { headerOf } from "./header";
import { callOf } from "./own_call";
import { retrySettingsOf, type RetryOptions } from "./retry_options";

/**
 * Tries a call again when it was surely not processed, or broke, or came to a status that may pass, and doing it twice is the same
 * as doing it once; never against the peer's `Retry-After`, the call's deadline, or a body that is gone. Where it stops, the last
 * response or error is the result. One `retry()` in several transports is one budget for all of them.
 *
 * @throws {TransportError} `options.invalid`
 */
export function retry(options?: RetryOptions): Middleware<"call"> {
    const { rules, budget } = retrySettingsOf(options);
    const retrying = new Retrying(rules, budget);
    return middleware({ name: "retry", scope: "call", repeats: true, reads: [call], around: (context, next) => retrying.around(context, next) });
}

class Retrying {
    private readonly rules: RetrySettings;
    private readonly budget: Budget | undefined;

    constructor(rules: RetrySettings, budget: Budget | undefined) {
        this.rules = rules;
        this.budget = budget;
    }

    around(context: Context<typeof call>, next: Next): Awaitable<Response> {
        const own = callOf(context);
        this.budget?.deposit(usOf(own.clock.nowMs()));
        const run = new Run(this.rules, this.budget, own, context.request);
        let first: Awaitable<Response>;
        try {
            first = next();
        } catch (error) {
            return run.again(next, run.afterError(error));
        }
        if (isThenable(first)) return run.later(next, first);
        const waitMs = run.afterResponse(first);
        return waitMs === undefined ? first : run.again(next, waitMs);
    }
}

/** One call. */
class Run {
    private readonly rules: RetrySettings;
    private readonly budget: Budget | undefined;
    private readonly own: Call;
    /** As it was before the first try. */
    private readonly request: Request;
    /** Of the try that ended last, from 0. */
    private number = -1;

    constructor(rules: RetrySettings, budget: Budget | undefined, own: Call, request: Request) {
        this.rules = ofCall(rules, own);
        this.budget = budget;
        this.own = own;
        this.request = request;
    }

    /** What comes of the first try, and of those after it. Callbacks, since nearly every call ends here, and an async function takes more. */
    later(next: Next, first: PromiseLike<Response>): PromiseLike<Response> {
        return first.then(
            (response) => {
                const waitMs = this.afterResponse(response);
                return waitMs === undefined ? response : this.again(next, waitMs);
            },
            (error: unknown) => this.again(next, this.afterError(error)),
        );
    }

    /** Waits, and tries again, until there is nothing more to try. */
    async again(next: Next, firstWaitMs: number): Promise<Response> {
        for (let waitMs = firstWaitMs; ; ) {
            await sleep(this.own.clock, waitMs, this.own.signal);
            try {
                const response = await next();
                const wait = this.afterResponse(response);
                if (wait === undefined) return response;
                waitMs = wait;
            } catch (error) {
                waitMs = this.afterError(error);
            }
        }
    }

    /** The wait in milliseconds before the next try, or undefined for none. */
    afterResponse(response: Response): number | undefined {
        this.number += 1;
        const { status } = response;
        if (!this.rules.statuses.has(status)) return undefined;
        const asked = headerOf(response.headers, "retry-after");
        const verdict = this.verdict("status", status, asked === undefined ? undefined : retryAfterUs(asked, usOf(this.own.clock.timeMs())));
        if (typeof verdict !== "number") return undefined;
        discard(response);
        return msOf(verdict);
    }

    /** The wait in milliseconds before the next try; throws the error if there is none. */
    afterError(error: unknown): number {
        this.number += 1;
        const verdict = this.verdict(outcomeOf(error), 0, undefined);
        if (typeof verdict !== "number") throw error;
        return msOf(verdict);
    }

    private verdict(outcome: Outcome, status: number, askedUs: number | undefined): number | Stop {
        const { own, request } = this;
        const ended = {
            number: this.number,
            outcome,
            status,
            retryAfterUs: askedUs,
            isIdempotent: own.options.idempotent ?? isIdempotentMethod(request.method),
            isBodyConsumed: !isSendable(request.body as Body | undefined),
        };
        const nowUs = usOf(own.clock.nowMs());
        return afterTry(this.rules, ended, nowUs, nowUs + usOf(own.leftMs()), this.budget, own.random);
    }
}

/** The rules with what the call says itself. */
function ofCall(rules: RetrySettings, { options }: Call): RetrySettings {
    const { retriesMax = rules.retriesMax, retryOnTimeout = rules.timedOut } = options;
    return retriesMax === rules.retriesMax && retryOnTimeout === rules.timedOut ? rules : { ...rules, retriesMax, timedOut: retryOnTimeout };
}

function outcomeOf(error: unknown): Outcome {
    // Mistakes of middleware, and what the caller or the deadline ended, are not mended by another try.
    if (!(error instanceof TransportError) || error.kind === "other") return "cancelled";
    return error.kind;
}
