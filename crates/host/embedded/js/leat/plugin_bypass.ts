// A plug-in that requests go on without: what its hooks throw is told to the host, and is as if they had returned nothing.
import { type Middleware, type Next, type Response } from "./plan";
import { textOf } from "./plugin_error";

const own = native("plugins") as { bypassed(name: string, message: string): void };

type Hook = NonNullable<Middleware["code"]["onRequest"]>;
type Around = NonNullable<Middleware["code"]["around"]>;

/** The same middleware, whose errors cost nobody else. */
export function bypassing(one: Middleware, plugin: string): Middleware {
    const { code } = one;
    const tell = (error: unknown): undefined => {
        own.bypassed(plugin, textOf(error));
        return undefined;
    };
    const hook = (known: Hook | undefined): Hook | undefined => known && hookOf(known, tell);
    return Object.freeze({
        ...one,
        code: Object.freeze({
            owner: code.owner,
            around: code.around && aroundOf(code.around, tell),
            when: code.when && whenOf(code.when, tell),
            onRequest: hook(code.onRequest),
            onResponse: hook(code.onResponse),
            onError: hook(code.onError),
            onComplete: hook(code.onComplete),
            again: hook(code.again),
        }),
    });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
    return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function hookOf(hook: Hook, tell: (error: unknown) => undefined): Hook {
    return function (context) {
        try {
            const result = hook.call(this, context);
            return isThenable(result) ? result.then(undefined, tell) : result;
        } catch (error) {
            return tell(error);
        }
    };
}

/** What can't say whether it wants a request does not see it. */
function whenOf(when: Hook, tell: (error: unknown) => undefined): Hook {
    return function (context) {
        try {
            const wanted: unknown = when.call(this, context);
            if (typeof wanted === "boolean") return wanted;
            tell(new TypeError("`when` has to return true or false, at once"));
        } catch (error) {
            tell(error);
        }
        return false;
    };
}

/** What is inside goes on: what came of it is the outcome, and where it was not called yet it is called. */
function aroundOf(around: Around, tell: (error: unknown) => undefined): Around {
    return function (context, next) {
        let inside: (() => Response | PromiseLike<Response>) | undefined;
        const watched: Next = (patch) => {
            try {
                const result = next(patch);
                inside = () => result;
                return result;
            } catch (error) {
                inside = () => {
                    throw error;
                };
                throw error;
            }
        };
        const rescue = async (error: unknown): Promise<Response> => {
            if (inside === undefined) {
                tell(error);
                return next();
            }
            try {
                const response = await inside();
                tell(error);
                return response;
            } catch (cause) {
                if (cause !== error) tell(error);
                throw cause;
            }
        };
        try {
            const result = around.call(this, context, watched);
            return isThenable(result) ? result.then(undefined, rescue) : result;
        } catch (error) {
            return rescue(error);
        }
    };
}
