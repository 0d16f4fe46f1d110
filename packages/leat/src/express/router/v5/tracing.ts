// What Express 5 tells the tracing channel `express.router.request`: each handler, error handler and param callback, while
// somebody listens. An error is told once, where it came up, however many handlers and routers it passes.
import { tracingChannel } from "node:diagnostics_channel";
import { type ParamCallback, type Next, type Reply, type RoutedRequest, type StackLayer } from "../types";
import { isPromise, promiseOf } from "./promise";

/** A call of a handler, as listeners see it. */
export interface Call {
    req: RoutedRequest;
    res: Reply;
    layer: StackLayer;
    handler: unknown;
    /** The pattern that matched. */
    route?: unknown;
    param?: string;
    errorHandler?: true;
    incomingError?: unknown;
    error?: unknown;
    result?: unknown;
}

const channel = tracingChannel<unknown, Call>("express.router.request");
const { start, end, asyncStart, asyncEnd, error: failed } = channel;

/** Errors of a request that were told already; other copies of Express's router look there too. */
const TOLD = Symbol.for("router.tracing.publishedErrors");
/** The pattern that matched last in the router where the request is. */
const MATCHED = Symbol("leat.matched");

/** Whether anybody listens. The channel itself cannot say before Node 20.13. */
export function traced(): boolean {
    return start.hasSubscribers || end.hasSubscribers || asyncStart.hasSubscribers || asyncEnd.hasSubscribers || failed.hasSubscribers;
}

export function nameMatched(req: RoutedRequest, pattern: unknown): void {
    req[MATCHED] = pattern;
}

export function matchedBefore(req: RoutedRequest): unknown {
    return traced() ? req[MATCHED] : undefined;
}

export function restoreMatched(req: RoutedRequest, before: unknown): void {
    if (traced()) req[MATCHED] = before;
}

/** Remembers an error; false if it was known, or is none. */
export function saw(req: RoutedRequest, error: unknown): boolean {
    if (!error || isSignal(error)) return false;
    const told = req[TOLD] as Set<unknown> | undefined;
    if (told?.has(error)) return false;
    if (told) told.add(error);
    else req[TOLD] = new Set([error]);
    return true;
}

/** Runs a handler, given the `next` to hand to it, and tells of it. */
export function traceHandler(run: (next: Next) => unknown, call: Call, next: Next): void {
    call.route = call.req[MATCHED];
    const wrapped = watched(call, next);
    let settled = false;
    const rejected = (error: unknown): void => {
        wrapped(error);
        if (settled) return;
        settled = true;
        threw(call, error, false);
        tellAsyncEnd(call);
    };
    start.runStores(call, () => {
        let promise: PromiseLike<unknown> | undefined;
        try {
            const result = run(wrapped);
            promise = promiseOf(result, "handlers");
            if (promise === undefined) call.result = result;
        } catch (error) {
            wrapped(error);
            threw(call, error, true);
            tellEnd(call, false);
            return;
        }
        tellEnd(call, promise !== undefined);
        if (promise === undefined) return;
        try {
            promise.then(
                (value) => {
                    if (settled) return;
                    settled = true;
                    call.result = value;
                    tellAsyncEnd(call);
                },
                (error: unknown) => {
                    rejected(error || new Error("Rejected promise"));
                },
            );
        } catch (error) {
            rejected(error);
        }
    });
}

/** Runs a callback of `router.param`, traced if anybody listens. */
export function callParam(fn: ParamCallback, req: RoutedRequest, res: Reply, layer: StackLayer, next: Next, value: unknown, name: string): void {
    if (!traced()) {
        runParam(fn, req, res, next, value, name, nothing, next);
        return;
    }
    const call: Call = { req, res, layer, handler: fn, route: req[MATCHED], param: name };
    const wrapped = watched(call, next);
    let waiting = false;
    let ended = false;
    let settled = false;
    let early: (() => void) | undefined;
    const settle = (result: unknown, failure: boolean): void => {
        if (settled) return;
        settled = true;
        const tell = (): void => {
            if (failure) threw(call, result, false);
            else call.result = result;
            tellAsyncEnd(call);
        };
        // A thenable that settles at once still does so after the call has ended.
        if (ended) tell();
        else early = tell;
    };
    const observed: ParamCallback = (...args) => {
        let result: unknown;
        try {
            result = fn(...args);
        } catch (error) {
            threw(call, error, true);
            throw error;
        }
        waiting = isPromise(result);
        if (!waiting) call.result = result;
        return result;
    };
    start.runStores(call, () => {
        try {
            runParam(
                observed,
                req,
                res,
                wrapped,
                value,
                name,
                (result) => {
                    settle(result, false);
                },
                (error) => {
                    wrapped(error);
                    settle(error, true);
                },
            );
        } finally {
            tellEnd(call, waiting);
            ended = true;
            early?.();
        }
    });
}

function runParam(fn: ParamCallback, req: RoutedRequest, res: Reply, next: Next, value: unknown, name: string, resolved: (result: unknown) => void, rejected: Next): void {
    try {
        const promise = promiseOf(fn(req, res, next, value, name), "parameters");
        if (promise === undefined) return;
        try {
            promise.then(resolved, (error: unknown) => {
                rejected(error || new Error("Rejected promise"));
            });
        } catch (error) {
            rejected(error);
        }
    } catch (error) {
        next(error);
    }
}

/** `next` that tells of the error it is given, if the error came up in this call. */
function watched(call: Call, next: Next): Next {
    const { req, errorHandler, incomingError } = call;
    if (errorHandler) saw(req, incomingError);
    return (error) => {
        // It was dealt with; the same error is a new one when it comes again.
        if (errorHandler && error !== incomingError) (req[TOLD] as Set<unknown> | undefined)?.delete(incomingError);
        if (error && saw(req, error)) {
            call.error = error;
            failed.publish(call);
        }
        next(error);
    };
}

function threw(call: Call, error: unknown, atOnce: boolean): void {
    if (!isSignal(error)) {
        if (!("error" in call)) call.error = error;
    } else if (atOnce) {
        call.result = undefined;
    }
}

/** `error` and `result` at the end mean that nothing more comes, so an error that was told early is hidden. */
function tellEnd(call: Call, more: boolean): void {
    if (!more || !("error" in call)) {
        end.publish(call);
        return;
    }
    const { error } = call;
    delete call.error;
    end.publish(call);
    call.error = error;
}

function tellAsyncEnd(call: Call): void {
    asyncStart.runStores(call, () => {
        asyncEnd.publish(call);
    });
}

function isSignal(error: unknown): boolean {
    return error === "route" || error === "router";
}

function nothing(): void {}
