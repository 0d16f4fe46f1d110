// What the plan itself refuses, and what becomes of an error that another one takes the place of.

/** Whose mistake it is, and which. They are stable: programs may compare them. */
export type MiddlewareErrorCode =
    /** The list of middleware, or one of it, is not what `compile` or `middleware` take. */
    | "plan.definition"
    /** Two middleware, or two slots, of one name. */
    | "plan.duplicate"
    /** `before` or `after` names a middleware that is not in the list. */
    | "plan.unknown_name"
    /** The constraints of order contradict each other, or the scopes. */
    | "plan.order"
    /** A slot is read that nobody writes, or written by two that no constraint orders. */
    | "plan.slot"
    /** `next` was called again, by a middleware that does not repeat, or before its first call was over. */
    | "next.twice"
    /** `next` was called after its middleware was left. */
    | "next.late"
    /** A middleware returned nothing, and never called `next`. */
    | "next.never"
    /** A middleware returned while its `next` was under way. */
    | "next.pending"
    /** A repeating middleware called `next` more often than `triesMax`. */
    | "next.limit"
    /** A hook returned what is no patch, or `around` or the sender what is no response. */
    | "result.kind"
    /** The name of a header is not written in lower case, or names no header. */
    | "header.name"
    /** A middleware wrote to a slot, or read one, that it does not declare. */
    | "slot.undeclared"
    /** A middleware wrote to the record (development mode). */
    | "record.write"
    /** A middleware touched the record of a run that is over (development mode). */
    | "record.kept"
    /** A middleware further out gave up while this part was under way, so that nobody waits for it. */
    | "run.abandoned"
    /** An error was thrown that cannot carry its cause: it is `thrown`, and `cause` is what came first. */
    | "error.replaced";

/** A refusal of the plan: a mistake in a middleware or in the list of them, and never of a peer. */
export class MiddlewareError extends Error {
    override readonly name = "MiddlewareError";
    readonly code: MiddlewareErrorCode;
    /** With `error.replaced`: the value that was thrown. */
    readonly thrown: unknown;

    constructor(code: MiddlewareErrorCode, message: string, options?: { readonly cause?: unknown; readonly thrown?: unknown }) {
        super(message, options !== undefined && "cause" in options ? { cause: options.cause } : undefined);
        this.code = code;
        this.thrown = options?.thrown;
    }
}

/** Causes that are followed to see whether an error already tells of the first one. */
const CAUSES_MAX = 16;

/**
 * The error that goes on after `thrown` took the place of `first`, with `first` at the end of its causes. It is `thrown` itself
 * wherever that is an object that can be given a cause; else a `MiddlewareError` that has both.
 */
export function replacing(thrown: unknown, first: unknown): unknown {
    let end = thrown;
    for (let depth = 0; depth < CAUSES_MAX; depth++) {
        if (end === first) return thrown;
        if (!(end instanceof Error)) break;
        if (end.cause === undefined) {
            if (leadsTo(first, end) || !Object.isExtensible(end)) break;
            end.cause = first;
            return thrown;
        }
        end = end.cause;
    }
    return new MiddlewareError("error.replaced", `${textOf(thrown)} was thrown while ${textOf(first)} was handled`, { cause: first, thrown });
}

/** Whether `end` is among the causes of `error`, which would make a ring of it. */
function leadsTo(error: unknown, end: Error): boolean {
    let each = error;
    for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth++) {
        if (each === end) return true;
        each = each.cause;
    }
    return false;
}

function textOf(value: unknown): string {
    return value instanceof Error ? `${value.name}: ${value.message}` : typeof value;
}
