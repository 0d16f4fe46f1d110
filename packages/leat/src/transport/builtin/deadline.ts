// Ends of calls and of tries.
import { middleware, type Middleware } from "../../middleware/middleware";
import { call } from "../call";
import { durationOf, objectOf } from "../given";
import { callOf } from "./own_call";

/** When a call ends. */
export interface DeadlineOptions {
    /** A call from its beginning, with the waiting for a connection, all tries and waits, its body and decoding it. Default: the transport's. */
    readonly callMs?: number;
    /** One try with its body. Default: the transport's. */
    readonly tryMs?: number;
}

/**
 * Moves the ends of calls nearer than the transport's or the call's own `timeoutMs`; a shorter one stands. What takes longer ends as
 * `call.deadline`, or a try as `connection.timeout`, wherever it is by then.
 *
 * @throws {TransportError} `options.invalid`
 */
export function deadline(options: DeadlineOptions): Middleware<"call"> {
    const given = objectOf("deadline", options, ["callMs", "tryMs"]);
    const callMs = durationOf("deadline.callMs", given["callMs"], Infinity);
    const tryMs = durationOf("deadline.tryMs", given["tryMs"], Infinity);
    return middleware({
        name: "deadline",
        scope: "call",
        reads: [call],
        onRequest(context) {
            const own = callOf(context);
            if (callMs !== Infinity) own.endWithin(callMs);
            if (tryMs !== Infinity) own.tryWithin(tryMs);
            return undefined;
        },
    });
}
