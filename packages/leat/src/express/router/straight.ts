// The usual way of a request through a router: no error, no `router.param`, no OPTIONS, and layers that match by what they were
// made with. It takes the same steps as a walk, with its state in variables and nothing asked twice; whatever is unusual goes
// on as a walk, from the layer where it is. `docs/design/express-router.md` has what it saves.
import { type Dialect } from "./dialect";
import { type Found } from "./pattern";
import { pathnameOf } from "./pathname";
import { type Step } from "./plan";
import { methodName } from "./registration";
import { type Stack } from "./stack";
import { type Next, type Params, type Reply, type RoutedRequest, type StackLayer, type StackRoute, type StackRouter } from "./types";
import { SYNC_MAX, Walk, walk } from "./walk";

/** What a dialect says of its usual way. */
export interface Usual {
    /** What layers inherit from, and their `match` unless somebody replaced it. */
    readonly layers: { readonly match: unknown };
    readonly match: unknown;
    /** Whether somebody wants to be told of each layer. */
    readonly isWatched: () => boolean;
    /** How a layer runs its handler, and a route its layers, unless somebody replaced it. */
    readonly handleRequest: unknown;
    readonly dispatch: unknown;
    /** Takes what a handler returned, which is not undefined. */
    readonly returned: (result: unknown, next: Next) => void;
}

interface UsualLayer extends StackLayer {
    readonly handleRequest: unknown;
}

interface UsualRoute extends StackRoute {
    readonly dispatch: unknown;
    readonly stack: UsualLayer[];
}

type WalkStraight = (router: StackRouter, stack: Stack, req: RoutedRequest, res: Reply, out: Next) => void;

const SLASH = 0x2f;

/** In the place of layers while the path has not been looked at: that leaves something on the request. */
const UNREAD: readonly number[] = [];

/** What was found last, read before anything else can be matched. */
const seen: Found = { path: "", params: {}, keys: [], which: 0 };

/**
 * Makes what sends a request through a router, and to `out` when no layer answered.
 *
 * Cost of a request: one function with its variables, beside what matching makes: the parameters' object of each layer that is
 * called.
 */
export function straightOf(dialect: Dialect, usual: Usual): WalkStraight {
    return function walkStraight(router, stack, req, res, out) {
        const plan = stack.current ?? stack.plan();
        const { url, method } = req;
        if (plan === null || !plan.isWhole || plan !== stack.current || typeof url !== "string" || url.charCodeAt(0) !== SLASH || method === "OPTIONS" || method === "HEAD" || router.mergeParams || usual.layers.match !== usual.match || usual.isWatched()) {
            walk(dialect, router, stack, req, res, out);
            return;
        }
        const { steps } = plan;
        const before = req.next === undefined && req.baseUrl === undefined && req.params === undefined ? null : beforeOf(req);
        const parentUrl = before === null ? "" : before.baseUrl || "";
        let path = "";
        let order = UNREAD;
        let at = 0;
        let last = -1;
        let sync = 0;
        // What a mounted handler does not see of the path, and whether a slash stands in its place.
        let removed = "";
        let slashAdded = false;
        let way: Walk | undefined;
        // The only function that is made for a request: each takes QuickJS as long as a layer.
        const next = (error?: unknown): unknown => {
            if (way !== undefined) return way.next(error);
            let index = last + 1;
            let isUsual = !error && plan === stack.current;
            if (isUsual) {
                if (removed.length !== 0) {
                    if (slashAdded) dialect.dropSlash(req, removed);
                    slashAdded = false;
                    req.baseUrl = parentUrl;
                    req.url = removed + (req.url as string);
                    removed = "";
                }
                if (index >= stack.layers.length) return setImmediate(leave, req, before, out);
                if (++sync > SYNC_MAX) return setImmediate(next);
                isUsual = req.url === url;
                if (isUsual && order === UNREAD) {
                    const found = pathnameOf(req);
                    isUsual = found != null;
                    if (found != null) {
                        path = found;
                        order = plan.order(found);
                    }
                }
            }
            while (isUsual) {
                const place = order[at++];
                if (place === undefined) {
                    last = stack.layers.length - 1;
                    return leave(req, before, out);
                }
                const step = steps[place] as Step;
                let matched = "";
                let params: Params;
                if (step.isEvery) {
                    params = {};
                } else if (path === step.whole) {
                    matched = path;
                    params = { __proto__: null };
                } else {
                    const found = read(step, path);
                    if (found === null) continue;
                    if (found === undefined || (seen.keys.length !== 0 && dialect.wantsParams(router, seen, seen as unknown as RoutedRequest))) {
                        index = place;
                        break;
                    }
                    matched = seen.path;
                    params = found;
                }
                const layer = stack.layers[place] as UsualLayer;
                const route = layer.route as UsualRoute | undefined;
                let runs = layer;
                if (route) {
                    const { method } = req;
                    if (method === "HEAD" || method === "OPTIONS") {
                        index = place;
                        break;
                    }
                    const known = route.methods;
                    const name = method === "GET" ? "get" : (methodName(method) as string);
                    if (!known["_all"] && !known[name]) continue;
                    req.route = route;
                    // A route of one handler does nothing but call it.
                    const only = route.stack.length === 1 ? (route.stack[0] as UsualLayer) : undefined;
                    if (only !== undefined && layer.handle === step.handle && layer.handleRequest === usual.handleRequest && route.dispatch === usual.dispatch && (!only.method || only.method === name)) runs = only;
                } else if (matched.length !== 0) {
                    if (!path.startsWith(matched) || !dialect.endsMount(path[matched.length])) {
                        last = place;
                        req.params = params;
                        next();
                        sync = 0;
                        return undefined;
                    }
                    const rest = url.slice(matched.length);
                    removed = matched;
                    slashAdded = rest.charCodeAt(0) !== SLASH;
                    req.url = slashAdded ? `/${rest}` : rest;
                    req.baseUrl = parentUrl + (matched.endsWith("/") ? matched.slice(0, -1) : matched);
                }
                last = place;
                req.params = params;
                if (runs.handleRequest !== usual.handleRequest) {
                    dialect.handleRequest(runs, req, res, next);
                } else {
                    const fn = runs.handle;
                    if (step.runs !== fn) {
                        step.runs = fn;
                        step.arity = fn.length;
                    }
                    if (step.arity > 3) {
                        next();
                    } else {
                        try {
                            const result = fn(req, res, next);
                            if (result !== undefined) usual.returned(result, next);
                        } catch (failure) {
                            next(failure);
                        }
                    }
                }
                sync = 0;
                return undefined;
            }
            way = new Walk(dialect, router, stack, req, res, out);
            way.resume({ again: next, oldBaseUrl: before?.baseUrl, oldNext: before?.next, oldParams: before?.params, parentUrl, index, removed, slashAdded, sync });
            return way.next(error);
        };
        req.next = next;
        req.baseUrl = parentUrl;
        if (!req.originalUrl) req.originalUrl = url;
        next();
    };
}

/** The parameters that a layer finds in `path`, the rest of it in `seen`; null if it does not match, undefined if that is an error. */
function read({ pattern }: Step, path: string): Params | null | undefined {
    try {
        return pattern.read(path, seen) ? seen.params : null;
    } catch {
        return undefined;
    }
}

/** No layer answered. */
function leave(req: RoutedRequest, before: Before | null, out: Next): unknown {
    req.baseUrl = before?.baseUrl as string;
    req.next = before?.next as Next;
    req.params = before?.params as Params;
    return out(undefined);
}

/** What a request had before it came to a router. */
interface Before {
    readonly baseUrl: string | undefined;
    readonly next: Next | undefined;
    readonly params: Params | undefined;
}

function beforeOf({ baseUrl, next, params }: RoutedRequest): Before {
    return { baseUrl, next, params };
}
