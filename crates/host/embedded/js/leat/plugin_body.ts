// Bodies that plug-ins read: a hook that sees one is called when the host has it whole.
import { type BodySide, type Middleware, type Next, type Request, type Response } from "./plan";

type Hook = NonNullable<Middleware["code"]["onRequest"]>;
type Around = NonNullable<Middleware["code"]["around"]>;

/** What a message has in place of a body that is not there: nobody reads it, or it is too long. */
export const UNREAD: object = Object.freeze({ kind: "unread" });

/** A promise of a message's body, or nothing where there is nothing to wait for. */
export type Whole = (message: Request | Response) => Promise<void> | undefined;

interface Shown {
    readonly request: Request;
    readonly response?: Response;
}

/** The same middleware, whose hooks are called when the bodies that it has declared are there. */
export function reading(one: Middleware, whole: Whole): Middleware {
    if (one.bodies.length === 0) return one;
    const { code } = one;
    const reads = (side: BodySide): boolean => one.bodies.includes(side);
    if (code.around !== undefined) return Object.freeze({ ...one, code: Object.freeze({ ...code, around: aroundOf(code.around, reads("request"), reads("response"), whole) }) });
    const hook = (side: BodySide, known: Hook | undefined): Hook | undefined => (reads(side) ? hookOf(known, (shown) => (side === "request" ? shown.request : shown.response), whole) : known);
    const onRequest = hook("request", code.onRequest);
    // It takes the place of `onResponse`, which may not stand beside it.
    const outward = code.again === undefined ? { onResponse: hook("response", code.onResponse) } : { again: hook("response", code.again) };
    return Object.freeze({ ...one, code: Object.freeze({ ...code, onRequest, ...outward }) });
}

/** Where there is no hook, the body is there for the others of the same middleware. */
function hookOf(hook: Hook | undefined, messageOf: (shown: Shown) => Request | Response | undefined, whole: Whole): Hook {
    return function (context) {
        const message = messageOf(context as Shown);
        const waiting = message && whole(message);
        return waiting === undefined ? hook?.call(this, context) : waiting.then(() => hook?.call(this, context));
    };
}

function aroundOf(around: Around, readsRequest: boolean, readsResponse: boolean, whole: Whole): Around {
    const behind = (response: Response): Response | PromiseLike<Response> => {
        const waiting = whole(response);
        return waiting === undefined ? response : waiting.then(() => response);
    };
    const watched = (next: Next): Next => (patch) => {
        const result = next(patch);
        return isThenable(result) ? result.then(behind) : behind(result);
    };
    return function (context, next) {
        const enter = (): unknown => around.call(this, context, readsResponse ? watched(next) : next);
        const waiting = readsRequest ? whole((context as Shown).request) : undefined;
        return waiting === undefined ? enter() : waiting.then(enter);
    };
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
    return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
