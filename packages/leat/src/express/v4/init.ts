import { setPoweredBy } from "../application";
import { wear } from "../wear";
import { type Dialect } from "../dialect";
import { isEnabled } from "../settings";
import { type Application, type Middleware } from "../types";

/** The second layer of every app's stack: makes request and response those of `app`. */
export function initialize(dialect: Dialect, app: Application): Middleware {
    // Tools know the layer by this name.
    return function expressInit(req, res, next) {
        if (isEnabled(dialect, app, "x-powered-by")) setPoweredBy(app, res);
        req.res = res;
        res.req = req;
        req.next = next;
        wear(req, app.request);
        wear(res, app.response);
        res.locals = res.locals || (Object.create(null) as Record<string, unknown>);
        next();
    };
}
