// A layer: one middleware at its place in a plan, with what was looked up when the plan was built.
import { type ContextOf } from "./context";
import { type Places } from "./declared";
import { type Awaitable, type Request, type Response } from "./message";
import { type Code, type Middleware } from "./middleware";
import { type Slot } from "./slot";

/** What is inside of all middleware: sends the request, once a try. It gets the record too, for what else it needs. */
export type Sender = (request: Request, context: ContextOf<"attempt">) => Awaitable<Response>;

export interface Layer extends Code {
    readonly name: string;
    readonly isAttempt: boolean;
    readonly repeats: boolean;
    /** The places of the slots that it may set, by their names. */
    readonly writes: ReadonlyMap<string, number>;
    /** The slots that it may read. */
    readonly declares: ReadonlySet<Slot>;
}

/** `code` is what is called: the middleware's own, or what measures it. */
export function layer(middleware: Middleware, code: Code, places: Places): Layer {
    return {
        ...code,
        name: middleware.name,
        isAttempt: middleware.scope === "attempt",
        repeats: middleware.repeats,
        writes: new Map(middleware.writes.map((slot) => [slot.name, places.get(slot) ?? -1])),
        declares: new Set([...middleware.reads, ...middleware.writes]),
    };
}
