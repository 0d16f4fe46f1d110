// Stops sending to a service that is ill, and tries it again a little later.
import { type Completed } from "../../middleware/context";
import { middleware, type Middleware } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call } from "../call";
import { TransportError } from "../error";
import { Breaker } from "../policy/breaker";
import { msOf, usOf } from "../policy/time";
import { breakerSettingsOf, type BreakerOptions } from "./breaker_options";
import { callOf } from "./own_call";

/** The right to one try. */
class Permit {
    readonly number: number;
    readonly startedMs: number;
    /** A slot stays from try to try, and one that is refused has none of its own. */
    isBack = false;

    constructor(number: number, startedMs: number) {
        this.number = number;
        this.startedMs = startedMs;
    }
}

const permit = slot("breaker_permit").of<Permit>();

/**
 * Refuses tries (`breaker.open`, without sending anything) while too many of them fail, are slow, or failed in a row, and lets a few
 * through after a while to see whether the service is well again. One `breaker()` is one state, for all nodes of all transports that
 * have it; a node that fails alone is left alone by the transport itself. `retry` does not wait for a breaker.
 *
 * What the caller gave up, and errors of middleware further in, say nothing of the service.
 *
 * @throws {TransportError} `options.invalid`
 */
export function breaker(options?: BreakerOptions): Middleware<"attempt"> {
    const { settings, statuses, onChange } = breakerSettingsOf(options);
    const circuit = new Breaker(settings);
    const watched = <T>(step: () => T): T => {
        const before = circuit.state;
        const result = step();
        if (circuit.state !== before) onChange?.(circuit.state, before);
        return result;
    };
    return middleware({
        name: "breaker",
        scope: "attempt",
        reads: [call],
        writes: [permit],
        onRequest(context) {
            const nowMs = callOf(context).clock.nowMs();
            const answer = watched(() => circuit.ask(usOf(nowMs)));
            if (answer.answer === "refuse") throw refusal(answer.retryAfterUs);
            return { set: { breaker_permit: new Permit(answer.permit, nowMs) } };
        },
        onComplete(context) {
            const held = context.get(permit);
            if (held === undefined || held.isBack) return undefined;
            held.isBack = true;
            const nowMs = callOf(context).clock.nowMs();
            const failed = isFailed(context, statuses);
            watched(() => {
                if (failed === undefined) circuit.release(held.number);
                else circuit.record(held.number, usOf(nowMs), failed, usOf(nowMs - held.startedMs));
            });
            return undefined;
        },
    });
}

/** Whether the service failed; undefined if what happened says nothing of it. */
function isFailed({ response, error }: Completed, statuses: ReadonlySet<number>): boolean | undefined {
    if (response !== undefined) return statuses.has(response.status);
    if (!(error instanceof TransportError)) return undefined;
    // A call that ran out of time while it waited for the service got no answer from it.
    return error.kind !== "other" || error.code === "call.deadline" ? true : undefined;
}

function refusal(retryAfterUs: number | undefined): TransportError {
    const until = retryAfterUs === undefined ? "until its probes are answered" : `for ${Math.ceil(msOf(retryAfterUs))} ms more`;
    return new TransportError("breaker.open", `the service failed too often, and nothing is sent to it ${until}`);
}
