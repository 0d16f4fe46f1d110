// Tries calls again, where that does no harm and helps.
import { type Completed, type Context, type Repeated } from "../../middleware/context";
import { type Response } from "../../middleware/message";
import { middleware, type Middleware } from "../../middleware/middleware";
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
    return middleware({
        name: "retry",
        scope: "call",
        reads: [call],
        onRequest: (context) => retrying.begin(callOf(context)),
        again: (context) => retrying.again(callOf(context), context),
    });
}

class Retrying {
    private readonly rules: RetrySettings;
    private readonly budget: Budget | undefined;

    constructor(rules: RetrySettings, budget: Budget | undefined) {
        this.rules = rules;
        this.budget = budget;
    }

    begin(own: Call): undefined {
        // Read when the call began, a moment ago: a clock is not for nothing.
        this.budget?.deposit(usOf(own.startedMs));
    }

    /** Nearly every call ends here, with the first try. */
    again(own: Call, context: Context<typeof call> & Completed & Repeated): Promise<true> | undefined {
        const { response } = context;
        if (response !== undefined && !this.rules.statuses.has(response.status)) return undefined;
        return response === undefined ? this.afterError(own, context) : this.afterResponse(own, context, response);
    }

    private afterResponse(own: Call, context: Context<typeof call> & Repeated, response: Response): Promise<true> | undefined {
        const asked = headerOf(response.headers, "retry-after");
        const verdict = this.verdict(own, context, "status", response.status, asked === undefined ? undefined : retryAfterUs(asked, usOf(own.clock.timeMs())));
        if (typeof verdict !== "number") return undefined;
        discard(response);
        return after(own, verdict);
    }

    private afterError(own: Call, context: Context<typeof call> & Completed & Repeated): Promise<true> | undefined {
        const verdict = this.verdict(own, context, outcomeOf(context.error), 0, undefined);
        return typeof verdict === "number" ? after(own, verdict) : undefined;
    }

    private verdict(own: Call, { request, tries }: Context<typeof call> & Repeated, outcome: Outcome, status: number, askedUs: number | undefined): number | Stop {
        const ended = {
            number: tries - 1,
            outcome,
            status,
            retryAfterUs: askedUs,
            isIdempotent: own.options.idempotent ?? isIdempotentMethod(request.method),
            isBodyConsumed: !isSendable(request.body as Body | undefined),
        };
        const nowUs = usOf(own.clock.nowMs());
        return afterTry(ofCall(this.rules, own), ended, nowUs, nowUs + usOf(own.leftMs()), this.budget, own.random);
    }
}

async function after(own: Call, waitUs: number): Promise<true> {
    await sleep(own.clock, msOf(waitUs), own.signal);
    return true;
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
