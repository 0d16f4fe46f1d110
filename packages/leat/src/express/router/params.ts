// `router.param` callbacks, and `mergeParams`.
import { type Called } from "./dialect";
import { type Next, type ParamCallback, type Params, type RoutedRequest, type StackRouter } from "./types";

/** A layer's parameters with those of the router above; numbered ones come after its. */
export function merged(params: Params, parent: unknown): Params {
    if (typeof parent !== "object" || !parent) return params;
    const all: Params = { ...(parent as Params) };
    if (!(0 in params) || !(0 in parent)) return Object.assign(all, params);
    let own = 0;
    let above = 0;
    while (own in params) own += 1;
    while (above in parent) above += 1;
    for (let index = own - 1; index >= 0; index--) {
        params[index + above] = params[index];
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- The parent's value stays where there is none.
        if (index < above) delete params[index];
    }
    return Object.assign(all, params);
}

/** Whether one of these parameters has callbacks and a value to call them with. */
export function wanted(router: StackRouter, names: readonly unknown[], params: Params): boolean {
    for (let index = 0; index < names.length; index++) {
        const name = names[index] as string;
        if (router.params[name] && params[name] !== undefined) return true;
    }
    return false;
}

/**
 * Calls the callbacks of each parameter in turn, once for each value it has while the request is in this router.
 * `call` calls one of them.
 */
export function processParams(
    callbacks: StackRouter["params"],
    names: readonly string[],
    called: Called,
    req: RoutedRequest,
    call: (fn: ParamCallback, next: Next, value: unknown, name: string) => void,
    done: Next,
): void {
    let index = 0;
    let at = 0;
    let name = "";
    let value: unknown;
    let fns: ParamCallback[] = [];
    let now: NonNullable<Called[string]>;
    param();

    function param(error?: unknown): unknown {
        if (error) return done(error);
        if (index >= names.length) return done();
        at = 0;
        name = names[index++] as string;
        const params = req.params as Params;
        value = params[name];
        fns = callbacks[name] as ParamCallback[];
        const before = called[name];
         
        if (value === undefined || !fns) return param();
        if (before && (before.match === value || (before.error && before.error !== "route"))) {
            params[name] = before.value;
            return param(before.error);
        }
        now = { error: null, match: value, value };
        called[name] = now;
        return next();
    }

    function next(error?: unknown): unknown {
        const fn = fns[at++];
        now.value = (req.params as Params)[name];
        if (error) {
            now.error = error;
            return param(error);
        }
        if (!fn) return param();
        call(fn, next, value, name);
        return undefined;
    }
}
