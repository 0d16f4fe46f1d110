// A layer: one middleware at its place in a plan, with what was looked up when the plan was built.
import { type ContextOf } from "./context";
import { type Places } from "./declared";
import { KnownMerge } from "./known_merge";
import { type Awaitable, type Request, type Response } from "./message";
import { type AroundCode, type Code, type HookCode, type Middleware } from "./middleware";
import { type Slot } from "./slot";

/** What is inside of all middleware: sends the request, once a try. It gets the record too, for what else it needs. */
export type Sender = (request: Request, context: ContextOf<"attempt">) => Awaitable<Response>;

/** One shape for all layers of all plans, which V8 then reads by place. */
export class Layer implements Code {
    readonly name: string;
    readonly isAttempt: boolean;
    readonly repeats: boolean;
    readonly owner: unknown;
    readonly around: AroundCode | undefined;
    readonly when: HookCode | undefined;
    readonly onRequest: HookCode | undefined;
    readonly onResponse: HookCode | undefined;
    readonly onError: HookCode | undefined;
    readonly onComplete: HookCode | undefined;
    readonly again: HookCode | undefined;
    /** The merge of a constant patch of headers that it did last. */
    readonly merge = new KnownMerge();
    /** The names of the slots that it may set, and their places. They are few: a map would take longer than to look at each. */
    private readonly writes: readonly string[];
    private readonly places: readonly number[];
    /** The slots that it may read. */
    readonly declares: ReadonlySet<Slot>;
    /** The nearest layer further out that has anything to do on the way outwards; -1 if there is none. */
    readonly outer: number;

    /** `code` is what is called: the middleware's own, or what measures it. `outside`: the layers further out. */
    constructor(middleware: Middleware, code: Code, places: Places, outside: readonly Layer[]) {
        this.name = middleware.name;
        this.isAttempt = middleware.scope === "attempt";
        this.repeats = middleware.repeats;
        this.owner = code.owner;
        this.around = code.around;
        this.when = code.when;
        this.onRequest = code.onRequest;
        this.onResponse = code.onResponse;
        this.onError = code.onError;
        this.onComplete = code.onComplete;
        this.again = code.again;
        this.writes = middleware.writes.map(({ name }) => name);
        this.places = middleware.writes.map((slot) => places.get(slot) ?? -1);
        this.declares = new Set([...middleware.reads, ...middleware.writes]);
        const next = outside.at(-1);
        this.outer = next === undefined || leaves(next) ? outside.length - 1 : next.outer;
    }

    /** The place of a slot that it may set; -1 if it may not. */
    placeOf(name: string): number {
        const { writes } = this;
        for (let at = 0; at < writes.length; at++) if (writes[at] === name) return this.places[at] as number;
        return -1;
    }
}

function leaves({ onResponse, onError, onComplete, again }: Code): boolean {
    return onResponse !== undefined || onError !== undefined || onComplete !== undefined || again !== undefined;
}
