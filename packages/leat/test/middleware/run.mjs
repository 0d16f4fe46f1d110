// Middleware that write down when they are called, and a sender that answers.
import { middleware } from "leat/middleware";

export const GET = Object.freeze({ method: "GET", path: "/", headers: Object.freeze({ host: "a" }) });
export const OK = Object.freeze({ status: 200, headers: Object.freeze({}), body: "fine" });
export const ok = () => OK;

/** A middleware with all hooks, which log `name.hook`; `does` has what a hook does after that. */
export function logging(name, log, does = {}, more = {}) {
    const hook = (key) => (context) => {
        log.push(`${name}.${key}`);
        return does[key]?.(context);
    };
    return middleware({ name, scope: "call", onRequest: hook("onRequest"), onResponse: hook("onResponse"), onError: hook("onError"), onComplete: hook("onComplete"), ...more });
}

/** The same, written with `around`. */
export function loggingAround(name, log, does = {}, more = {}) {
    const hook = (key, context) => {
        log.push(`${name}.${key}`);
        return does[key]?.(context);
    };
    const around = (context, next) => {
        try {
            const patch = hook("onRequest", context);
            if (patch?.respond !== undefined) return patch.respond;
            let response;
            try {
                response = next(patch);
            } catch (error) {
                const answer = hook("onError", context);
                if (answer === undefined) throw error;
                return answer.respond;
            }
            return { ...response, ...hook("onResponse", context) };
        } finally {
            hook("onComplete", context);
        }
    };
    return middleware({ name, scope: "call", around, ...more });
}

/** A promise with its ends. */
export function deferred() {
    const made = {};
    made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
    return made;
}

/** What was thrown. */
export function thrown(run) {
    try {
        run();
    } catch (error) {
        return error;
    }
    throw new Error("nothing was thrown");
}
