// The call that a built-in middleware works for.
import { type Context } from "../../middleware/context";
import { call, type Call } from "../call";
import { TransportError } from "../error";

/**
 * The call of this run.
 * @throws {TransportError} `options.invalid`, in a plan that no transport runs
 */
export function callOf(context: Context<typeof call>): Call {
    const found = context.get(call);
    if (found === undefined) throw new TransportError("options.invalid", "the built-in middleware run in a transport: new Transport({ nodes, middleware: [retry()] })");
    return found;
}
