import { libraries } from "./libraries";
import { type Middleware } from "../types";

type Parse = (text: unknown, options?: object) => object;

/** `express.query`: the first layer of every app's stack, which parses the query once. */
export function query(options?: unknown): Middleware {
    let parse: Parse = (text, given) => libraries.qs().parse(text, given);
    let given: { allowPrototypes?: boolean } | undefined;
    if (typeof options === "function") {
        parse = options as Parse;
    } else {
        given = { ...(options as object | undefined) };
        given.allowPrototypes ??= true;
    }
    // Tools know the layer by this name.
    return function query(req, _res, next) {
        if (!(req.query as unknown)) req.query = parse((libraries.parseUrl()(req) as { query: unknown }).query, given) as Record<string, unknown>;
        next();
    };
}
