import { setPoweredBy } from "../application";
import { type Application, type Middleware } from "../types";

/** The second layer of every app's stack: makes request and response those of `app`. */
export function initialize(app: Application): Middleware {
    // Tools know the layer by this name.
    return function expressInit(req, res, next) {
        if (app.settings["x-powered-by"]) setPoweredBy(res);
        req.res = res;
        res.req = req;
        req.next = next;
        if (Object.getPrototypeOf(req) !== app.request) Object.setPrototypeOf(req, app.request);
        if (Object.getPrototypeOf(res) !== app.response) Object.setPrototypeOf(res, app.response);
        res.locals = res.locals || (Object.create(null) as Record<string, unknown>);
        next();
    };
}
