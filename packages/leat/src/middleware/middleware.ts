// The contract: what a middleware is, and how one is defined.
import { type Completed, type ContextOf, type Failed, type Repeated, type Responded, type Scope } from "./context";
import { MiddlewareError } from "./error";
import { type Awaitable, type RequestChange, type Response, type ResponseChange } from "./message";
import { type Slot, type SlotPatch } from "./slot";

/** What `onRequest` may return: changes of the request and of slots, or with `respond` the answer, in place of all inside. */
export interface RequestPatch<W extends Slot = never> extends RequestChange {
    readonly set?: SlotPatch<W>;
    readonly respond?: Response;
}

/** What `around` may give to `next`. */
export interface NextPatch<W extends Slot = never> extends RequestChange {
    readonly set?: SlotPatch<W>;
}

/** What `onResponse` may return: changes of the response and of slots. */
export interface ResponsePatch<W extends Slot = never> extends ResponseChange {
    readonly set?: SlotPatch<W>;
}

/** What `onError` may return: with `respond` the error is over, and those further out get a response. */
export interface ErrorPatch<W extends Slot = never> {
    readonly set?: SlotPatch<W>;
    readonly respond?: Response;
}

/**
 * Runs everything inside, with `patch` applied before. It returns or throws at once, unless something inside waits. Not to be
 * called again before it is over, and not after its middleware was left; twice only by one that `repeats`.
 * @throws whatever was thrown inside; {MiddlewareError} `next.twice`, `next.late`, `next.limit`
 */
export type Next<W extends Slot = never> = (patch?: NextPatch<W>) => Awaitable<Response>;

/** Whose body. */
export type BodySide = "request" | "response";

interface Declared<P extends Scope, R extends readonly Slot[], W extends readonly Slot[]> {
    /** By which others name it in `before` and `after`, and messages and tables tell of it. One name, one middleware. */
    readonly name: string;
    readonly scope: P;
    /** Names of middleware that this one is outside of: it sees requests before them, and responses after. */
    readonly before?: string | readonly string[];
    /** Names of middleware that this one is inside of. */
    readonly after?: string | readonly string[];
    /** Slots that it reads; those that it writes it may read too. */
    readonly reads?: R;
    /** Slots that it writes. */
    readonly writes?: W;
    /**
     * Bodies that it reads. The gateway has such a body whole before it calls the hooks that see it, up to a limit; in a transport that
     * is so anyway, but for streams. `body` of `leat/gateway` reads it in both. Default: none, and bodies pass beside it.
     */
    readonly bodies?: BodySide | readonly BodySide[];
}

/**
 * Hooks. Each may return nothing, a patch, or a promise of either. Outermost first for `onRequest`, innermost first for the others.
 */
interface HookForm<P extends Scope, S extends Slot, W extends Slot> {
    /** Before everything inside. */
    readonly onRequest?: (context: ContextOf<P, S>) => Awaitable<RequestPatch<W> | undefined>;
    /** After everything inside, if that came to a response. What it throws goes to those further out. */
    readonly onResponse?: (context: ContextOf<P, S> & Responded) => Awaitable<ResponsePatch<W> | undefined>;
    /** After everything inside, if that came to an error. What it throws takes the error's place, with the error as its cause. */
    readonly onError?: (context: ContextOf<P, S> & Failed) => Awaitable<ErrorPatch<W> | undefined>;
    /** The last of its hooks, once each time that it was entered, whatever happened, also in its own hooks. */
    readonly onComplete?: (context: ContextOf<P, S> & Completed) => Awaitable<undefined>;
    /**
     * In scope `call`, in the place of `onResponse` and `onError`: after everything inside, each time. Nothing leaves the outcome as it is;
     * `true`, or a promise of it, runs all that is inside once more, with the request as it was before the first time. What it throws
     * takes the outcome's place. Not asked once the run is aborted. It costs nothing where it returns nothing, which an `around` that repeats does not.
     */
    readonly again?: P extends "call" ? (context: ContextOf<P, S> & Completed & Repeated) => Awaitable<true | undefined> : never;
    readonly around?: never;
    readonly when?: never;
    readonly repeats?: never;
}

interface AroundForm<P extends Scope, S extends Slot, W extends Slot> {
    /**
     * Calls `next` for all that is inside, and returns a response. Returning nothing leaves the outcome of `next` as it is, an
     * error too. It costs two small objects a run, which hooks do not.
     */
    readonly around: (context: ContextOf<P, S>, next: Next<W>) => Awaitable<Response | undefined>;
    /**
     * Whether a run is for it; false passes it over, at the cost of the question alone. It answers at once, and changes nothing.
     * Default: always.
     */
    readonly when?: (context: ContextOf<P, S>) => boolean;
    /** It may call `next` again, one call after the other: each is a try, with the request as it was before the first. */
    readonly repeats?: boolean;
    readonly onRequest?: never;
    readonly onResponse?: never;
    readonly onError?: never;
    readonly onComplete?: never;
}

/** A middleware as it is written: either hooks or `around`. */
export type Definition<P extends Scope, R extends readonly Slot[], W extends readonly Slot[]> = Declared<P, R, W> &
    (HookForm<P, R[number] | W[number], W[number]> | AroundForm<P, R[number] | W[number], W[number]>);

/** A middleware of one scope, made by `middleware`. */
export interface Middleware<P extends Scope = Scope> {
    readonly name: string;
    readonly scope: P;
    readonly before: readonly string[];
    readonly after: readonly string[];
    readonly reads: readonly Slot[];
    readonly writes: readonly Slot[];
    readonly repeats: boolean;
    /** What it reads the bodies of. */
    readonly bodies: readonly BodySide[];
    /** The hooks, or `around`, with the object that they are methods of. */
    readonly code: Code;
}

/** What is called, without the types that its writer had. */
export interface Code {
    readonly owner: unknown;
    readonly around: AroundCode | undefined;
    readonly when: HookCode | undefined;
    readonly onRequest: HookCode | undefined;
    readonly onResponse: HookCode | undefined;
    readonly onError: HookCode | undefined;
    readonly onComplete: HookCode | undefined;
    readonly again: HookCode | undefined;
}
export type HookCode = (this: unknown, context: unknown) => unknown;
export type AroundCode = (this: unknown, context: unknown, next: Next) => unknown;

export const HOOKS = ["onRequest", "onResponse", "onError", "onComplete", "again"] as const;

/** The least that there is to know about what a program in JavaScript may give. */
type Given = Readonly<Record<string, unknown>>;

const KNOWN = new Set<string>(["name", "scope", "before", "after", "reads", "writes", "around", "when", "repeats", "bodies", ...HOOKS]);

/**
 * Defines a middleware. Hooks may be methods of a class: they are called on the object that is given, as it is now.
 *
 * @throws {MiddlewareError} `plan.definition`, if it is not of that form
 */
export function middleware<P extends Scope, const R extends readonly Slot[] = readonly [], const W extends readonly Slot[] = readonly []>(
    definition: Definition<P, R, W>,
): Middleware<P> {
    const given = definition as unknown as Given | null | undefined;
    if (typeof given !== "object" || given === null) throw wrong("a middleware", "is an object with a name, a scope, and hooks or around");
    const { name } = given;
    if (typeof name !== "string" || name === "") throw wrong("a middleware", 'has a name: { name: "auth", … }');
    const what = `middleware "${name}"`;
    if (given["scope"] !== "call" && given["scope"] !== "attempt") throw wrong(what, 'has a scope: scope: "call" (once), or scope: "attempt" (once a try)');
    const unknown = Object.keys(given).filter((key) => /^(on[A-Z]|priority$|order$)/.test(key) && !KNOWN.has(key));
    if (unknown[0] !== undefined) throw wrong(what, `has no "${unknown[0]}"; hooks are ${HOOKS.join(", ")}, and order is given by before and after`);
    const hooks = HOOKS.filter((hook) => given[hook] !== undefined);
    for (const key of [...hooks, "around", "when"]) if (given[key] !== undefined && typeof given[key] !== "function") throw wrong(what, `has ${key} as a function`);
    if (given["around"] !== undefined && hooks[0] !== undefined) throw wrong(what, `has around and ${hooks[0]}; write one middleware with around, and one with hooks`);
    if (given["around"] === undefined && hooks.length === 0) throw wrong(what, `does nothing; give it around, or one of ${HOOKS.join(", ")}`);
    if (given["repeats"] === true && given["around"] === undefined) throw wrong(what, "repeats, which only around can do: around(context, next)");
    if (given["when"] !== undefined && given["around"] === undefined) throw wrong(what, "has when, which only around has; a hook that has nothing to do returns nothing");
    if (given["again"] !== undefined && given["scope"] !== "call") throw wrong(what, 'has again, which only scope: "call" can; in scope "attempt" write around and repeats: true');
    const other = given["again"] === undefined ? undefined : hooks.find((key) => key === "onResponse" || key === "onError");
    if (other !== undefined) throw wrong(what, `has again and ${other}; write one middleware with again, and one with ${other} after it`);
    const hook = (key: (typeof HOOKS)[number]): HookCode | undefined => given[key] as HookCode | undefined;
    return Object.freeze({
        name,
        scope: definition.scope,
        before: namesOf(what, "before", given["before"]),
        after: namesOf(what, "after", given["after"]),
        reads: slotsOf(what, "reads", given["reads"]),
        writes: slotsOf(what, "writes", given["writes"]),
        repeats: given["repeats"] === true || given["again"] !== undefined,
        bodies: bodiesOf(what, given["bodies"]),
        code: Object.freeze({
            owner: given,
            around: given["around"] as AroundCode | undefined,
            when: given["when"] as HookCode | undefined,
            onRequest: hook("onRequest"),
            onResponse: hook("onResponse"),
            onError: hook("onError"),
            onComplete: hook("onComplete"),
            again: hook("again"),
        }),
    });
}

function namesOf(what: string, key: string, given: unknown): readonly string[] {
    if (given === undefined) return [];
    const names: readonly unknown[] = Array.isArray(given) ? given : [given];
    return names.map((name) => {
        if (typeof name !== "string") throw wrong(what, `has names of middleware in ${key}: ${key}: "retry", or ${key}: ["retry", "auth"]`);
        return name;
    });
}

function slotsOf(what: string, key: string, given: unknown): readonly Slot[] {
    if (given === undefined) return [];
    if (!Array.isArray(given)) throw wrong(what, `has slots in ${key}: ${key}: [slot("name").of()]`);
    return given.map((each: unknown) => {
        if (typeof each !== "object" || each === null || typeof (each as Slot).name !== "string") throw wrong(what, `has slots in ${key}: ${key}: [slot("name").of()]`);
        return each as Slot;
    });
}

function bodiesOf(what: string, given: unknown): readonly BodySide[] {
    if (given === undefined) return [];
    const sides: readonly unknown[] = Array.isArray(given) ? given : [given];
    return sides.map((side) => {
        if (side !== "request" && side !== "response") throw wrong(what, 'says whose bodies it reads: bodies: "request", bodies: "response", or both in a list');
        return side;
    });
}

function wrong(what: string, rule: string): MiddlewareError {
    return new MiddlewareError("plan.definition", `${what} ${rule}`);
}
