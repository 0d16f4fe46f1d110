// What a middleware is handed: the record of a run, to be read.
import { type Request, type Response } from "./message";
import { type Held, type Slot } from "./slot";

/** The part of an `AbortSignal` that the plan and middleware need; an `AbortSignal` is one. */
export interface Signal {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: "abort", listener: () => void): void;
    removeEventListener(type: "abort", listener: () => void): void;
}

/** `call`: once, whatever is tried again inside. `attempt`: once a try. */
export type Scope = "call" | "attempt";

/**
 * The record of a run: one object for all middleware, from the first hook to the last. It is read and never written; what is to
 * change is returned as a patch. It may be used by another run as soon as this one is over, so take out of it what is to be
 * kept. (With `development`, it then throws.) It takes no properties: what one run put there, another one would see.
 */
export interface Context<S extends Slot = never> {
    /** The request as it stands, with all patches until now. */
    readonly request: Request;
    /** Aborts the run: no further middleware is entered, and those that are entered are left with its reason as the error. */
    readonly signal: Signal | undefined;
    /**
     * What a slot holds; undefined before it is written to. Only slots that the middleware declares. No allocation.
     * @throws {MiddlewareError} `slot.undeclared`
     */
    get<Each extends S>(slot: Each): Held<Each> | undefined;
}

/** What `attempt` middleware know besides: the number of the try, from 1. */
export interface Attempt {
    readonly attempt: number;
}

/** The record in one scope. */
export type ContextOf<P extends Scope, S extends Slot = never> = P extends "attempt" ? Context<S> & Attempt : Context<S>;

/** In `onResponse`: the response as those inside left it. */
export interface Responded {
    readonly response: Response;
}

/** In `onError`: what was thrown inside. */
export interface Failed {
    readonly error: unknown;
}

/** In `again`: how often all that is inside was run. */
export interface Repeated {
    readonly tries: number;
}

/** In `onComplete`: how the middleware is left: with a response, or (then that is undefined) with an error. */
export interface Completed {
    readonly response: Response | undefined;
    readonly error: unknown;
}
