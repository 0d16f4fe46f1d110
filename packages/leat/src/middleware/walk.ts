// The way through a plan: inwards to the sender, and outwards again. As long as nothing waits this is two loops on the stack;
// where something waits, an async function takes over from there and comes back into the loops.
import { applyToComplete, applyToError, applyToRequest, applyToResponse, call, isAgain, isThenable, isWanted, responseOf } from "./apply";
import { Pass } from "./around";
import { type ContextOf } from "./context";
import { MiddlewareError, replacing } from "./error";
import { type Layer } from "./layer";
import { type Awaitable, type Request, type Response } from "./message";
import { type Record } from "./record";

/**
 * What a sender returns whose outcome is given to `leave`, so that meanwhile no promise is waited for. Only in plans without
 * `around`, whose `next` would return it.
 */
const LATER: Response = Object.freeze({ status: 0, headers: Object.freeze({}) });
// By itself, so that this file reads it as a constant, and not as a member of what it exports.
export { LATER };

/** Leaves all layers with the outcome of a sender that returned `LATER`, once. */
export function leave(record: Record, isFailed: boolean, outcome: unknown): Awaitable<Response> {
    return outwards(record, undefined, record.frame.layers.length - 1, false, isFailed, outcome);
}

/** A hook that a host may call itself. */
export type Called = "onRequest" | "onResponse" | "onComplete";

/**
 * Goes on for a host that has called the hooks of a run itself until now, with what the last one returned, or threw: that of the layer
 * at `at`. `response`: what there was for it on the way outwards. Only in plans without `around`.
 */
export function goOn(record: Record, at: number, hook: Called, isThrown: boolean, result: unknown, response: Response): Awaitable<Response> {
    const layer = record.frame.layers[at] as Layer;
    let isFailed = isThrown;
    let outcome: unknown = isThrown ? result : hook === "onRequest" ? undefined : response;
    try {
        if (!isThrown && isThenable(result)) {
            if (hook === "onRequest") return requestLater(record, undefined, at, layer, result);
            return hook === "onResponse" ? leftLater(record, undefined, at, layer, false, response, result) : completedLater(record, undefined, at, layer, false, response, result);
        }
        if (isThrown) outcome = result;
        else if (hook === "onRequest") outcome = applyToRequest(record, layer, result);
        else if (hook === "onResponse") outcome = applyToResponse(record, layer, result, response);
        else applyToComplete(layer, result);
    } catch (error) {
        isFailed = true;
        outcome = error;
    }
    if (hook === "onRequest" && !isFailed && outcome === undefined) return inwards(record, undefined, at + 1);
    if (hook === "onComplete") return outwards(record, undefined, layer.outer, false, isFailed, outcome);
    return outwards(record, undefined, at, true, isFailed, outcome);
}

/**
 * Runs the layers from `start` on, the sender, and the layers back to the outermost of this part: the first of a plan, or the one
 * inside of the `around` whose `next` this is, which is told of the end.
 */
export function inwards(record: Record, pass: Pass | undefined, start: number): Awaitable<Response> {
    const { layers, attemptAt } = record.frame;
    const from = fromOf(pass);
    let at = start;
    // The innermost layer that was entered, and whether the outcome is its own work, so that its other hooks have no part in it.
    let last = start - 1;
    let isOwn = false;
    let isFailed = false;
    let outcome: unknown;
    try {
        for (; ; at++) {
            const stop = stopped(record, from);
            if (stop !== undefined) {
                isFailed = true;
                outcome = stop.error;
                break;
            }
            if (at === attemptAt) record.attempt++;
            const layer = layers[at];
            if (layer === undefined) {
                const sent = record.send(record.request, record.view as ContextOf<"attempt">);
                if (sent === LATER) return LATER;
                if (isThenable(sent)) return sentLater(record, pass, last, sent);
                outcome = responseOf(record, undefined, sent);
                break;
            }
            last = at;
            if (layer.around !== undefined) {
                if (layer.when !== undefined && !isWanted(record, layer, layer.when)) continue;
                isOwn = true;
                const own = new Pass(record, at);
                const result = own.enter();
                if (isThenable(result)) {
                    // Nothing is left to be done on the way to what waits for it but to say so there.
                    if (pass !== undefined && layer.outer < from && own.isLeftTo(pass)) return result as PromiseLike<Response>;
                    return aroundLater(record, pass, last, own, result);
                }
                outcome = result;
                break;
            }
            if (layer.onRequest !== undefined) {
                isOwn = true;
                const result = call(record, layer, layer.onRequest);
                if (result !== undefined) {
                    if (isThenable(result)) return requestLater(record, pass, at, layer, result);
                    outcome = applyToRequest(record, layer, result);
                    if (outcome !== undefined) break;
                }
                isOwn = false;
            }
            if (layer.again !== undefined) begin(record);
        }
    } catch (error) {
        isFailed = true;
        outcome = error;
    }
    return outwards(record, pass, last, isOwn, isFailed, outcome);
}

/** The outermost layer of a part. */
function fromOf(pass: Pass | undefined): number {
    return pass === undefined ? 0 : pass.at + 1;
}

/** Why nothing further is entered. */
function stopped(record: Record, from: number): { readonly error: unknown } | undefined {
    const { stop } = record;
    if (stop !== undefined && stop.aborted) return { error: stop.reason };
    if (record.abandonedAt >= from) return undefined;
    const name = record.frame.layers[record.abandonedAt]?.name ?? "";
    return { error: new MiddlewareError("run.abandoned", `middleware "${name}" gave up while its next() was under way, so nothing further inside of it is entered`) };
}

/**
 * Leaves the layers from `last` to the outermost of the part with a response or an error. `isOwn`: the hook of `last` for the outcome has run already,
 * or has no part in it.
 */
function outwards(record: Record, pass: Pass | undefined, last: number, isOwn: boolean, isFailed: boolean, outcome: unknown): Awaitable<Response> {
    const { layers } = record.frame;
    const from = fromOf(pass);
    for (let at = last; at >= from; ) {
        const layer = layers[at] as Layer;
        if (!isOwn) {
            const hook = isFailed ? layer.onError : layer.onResponse;
            if (hook !== undefined) {
                show(record, isFailed, outcome);
                try {
                    const result = call(record, layer, hook);
                    if (result !== undefined) {
                        if (isThenable(result)) return leftLater(record, pass, at, layer, isFailed, outcome, result);
                        if (isFailed) {
                            const response = applyToError(record, layer, result);
                            if (response !== undefined) {
                                isFailed = false;
                                outcome = response;
                            }
                        } else outcome = applyToResponse(record, layer, result, outcome as Response);
                    }
                } catch (thrown) {
                    outcome = isFailed ? replacing(thrown, outcome) : thrown;
                    isFailed = true;
                }
            } else if (layer.again !== undefined && stopped(record, from) === undefined) {
                show(record, isFailed, outcome);
                let isAgain = false;
                try {
                    const result = call(record, layer, layer.again);
                    if (result !== undefined) {
                        if (isThenable(result)) return againLater(record, pass, at, layer, isFailed, outcome, result);
                        isAgain = isWantedAgain(record, layer, result);
                    }
                } catch (thrown) {
                    outcome = isFailed ? replacing(thrown, outcome) : thrown;
                    isFailed = true;
                }
                if (isAgain) return again(record, pass, at);
            }
        }
        isOwn = false;
        if (layer.onComplete !== undefined) {
            show(record, isFailed, outcome);
            try {
                const result = call(record, layer, layer.onComplete);
                if (isThenable(result)) return completedLater(record, pass, at, layer, isFailed, outcome, result);
                applyToComplete(layer, result);
            } catch (thrown) {
                outcome = isFailed ? replacing(thrown, outcome) : thrown;
                isFailed = true;
            }
        }
        at = layer.outer;
    }
    if (pass === undefined) record.frame.over(record);
    else pass.settle(isFailed, outcome);
    if (isFailed) throw outcome;
    return outcome as Response;
}

/** From here on tries begin. Whoever has seen the request keeps it, as this one does. */
function begin(record: Record): void {
    record.first = record.request;
    record.tries = 1;
}

/** Whether there is another try, which is counted. */
function isWantedAgain(record: Record, layer: Layer, result: unknown): boolean {
    if (!isAgain(layer, result)) return false;
    if (record.tries >= record.frame.triesMax) throw new MiddlewareError("next.limit", `middleware "${layer.name}" asked for another try after ${record.tries}; give up before, or compile with a larger triesMax`);
    record.tries++;
    return true;
}

/** Everything inside of the layer at `at`, once more. */
function again(record: Record, pass: Pass | undefined, at: number): Awaitable<Response> {
    record.request = record.first as Request;
    return inwards(record, pass, at + 1);
}

function show(record: Record, isFailed: boolean, outcome: unknown): void {
    record.response = isFailed ? undefined : (outcome as Response);
    record.error = isFailed ? outcome : undefined;
}

async function sentLater(record: Record, pass: Pass | undefined, last: number, pending: PromiseLike<unknown>): Promise<Response> {
    let isFailed = false;
    let outcome: unknown;
    try {
        outcome = responseOf(record, undefined, await pending);
    } catch (error) {
        isFailed = true;
        outcome = error;
    }
    return outwards(record, pass, last, false, isFailed, outcome);
}

async function aroundLater(record: Record, pass: Pass | undefined, last: number, own: Pass, pending: PromiseLike<unknown>): Promise<Response> {
    const isDecided = own.isDecided;
    let isFailed = false;
    let outcome: unknown;
    try {
        outcome = await pending;
    } catch (error) {
        isFailed = true;
        outcome = isDecided ? error : own.threw(error);
    }
    if (!isFailed && !isDecided) {
        try {
            const returned = own.returned(outcome);
            outcome = isThenable(returned) ? await returned : returned;
        } catch (error) {
            isFailed = true;
            outcome = error;
        }
    }
    return outwards(record, pass, last, true, isFailed, outcome);
}

async function requestLater(record: Record, pass: Pass | undefined, at: number, layer: Layer, pending: PromiseLike<unknown>): Promise<Response> {
    let isFailed = false;
    let outcome: unknown;
    try {
        outcome = applyToRequest(record, layer, await pending);
    } catch (error) {
        isFailed = true;
        outcome = error;
    }
    if (!isFailed && outcome === undefined) {
        if (layer.again !== undefined) begin(record);
        return inwards(record, pass, at + 1);
    }
    return outwards(record, pass, at, true, isFailed, outcome);
}

async function leftLater(record: Record, pass: Pass | undefined, at: number, layer: Layer, wasFailed: boolean, before: unknown, pending: PromiseLike<unknown>): Promise<Response> {
    let isFailed = wasFailed;
    let outcome = before;
    try {
        const result = await pending;
        if (isFailed) {
            const response = applyToError(record, layer, result);
            if (response !== undefined) {
                isFailed = false;
                outcome = response;
            }
        } else outcome = applyToResponse(record, layer, result, before as Response);
    } catch (thrown) {
        outcome = isFailed ? replacing(thrown, before) : thrown;
        isFailed = true;
    }
    return outwards(record, pass, at, true, isFailed, outcome);
}

async function againLater(record: Record, pass: Pass | undefined, at: number, layer: Layer, wasFailed: boolean, before: unknown, pending: PromiseLike<unknown>): Promise<Response> {
    let isFailed = wasFailed;
    let outcome = before;
    let isWanted = false;
    try {
        isWanted = isWantedAgain(record, layer, await pending);
    } catch (thrown) {
        outcome = isFailed ? replacing(thrown, before) : thrown;
        isFailed = true;
    }
    return isWanted ? again(record, pass, at) : outwards(record, pass, at, true, isFailed, outcome);
}

async function completedLater(record: Record, pass: Pass | undefined, at: number, layer: Layer, wasFailed: boolean, before: unknown, pending: PromiseLike<unknown>): Promise<Response> {
    let isFailed = wasFailed;
    let outcome = before;
    try {
        applyToComplete(layer, await pending);
    } catch (thrown) {
        outcome = isFailed ? replacing(thrown, before) : thrown;
        isFailed = true;
    }
    return outwards(record, pass, at - 1, false, isFailed, outcome);
}
