import { type Prototypes } from "../create";
import { type Dialect } from "../dialect";
import { requestPrototype } from "../request";
import { responsePrototype } from "../response";
import { Router4 } from "../routers";
import { type Application, type Router } from "../types";
import { viewClass } from "../view";
import { oldApplicationMethods } from "./application";
import { libraries } from "./libraries";
import { moreRequestMethods } from "./request";
import { moreResponseMethods } from "./response";

/** Express 4. */
export const four: Dialect = {
    version: 4,
    libraries,
    Router: Router4,
    View: viewClass(false),
    defaults: { "query parser": "extended" },
    routerOf(app) {
        (app as Application & { lazyrouter(): void }).lazyrouter();
        return app._router as Router;
    },
    newMap: () => ({}),
    // Inherited ones too.
    merge(...sources) {
        const out: Record<string, unknown> = {};
        for (const source of sources as Record<string, unknown>[]) {
            for (const name in source) out[name] = source[name];
        }
        return out;
    },
    own: {} as Dialect["own"],
    noQuery: () => ({}),
    extendedQuery: { allowPrototypes: true, arrayLimit: 1000 },
    errorText: (err) => (err as Error).stack || (err as Error).toString(),
    listenTellsErrors: false,
};

export const prototypes: Prototypes = {
    application: oldApplicationMethods(four),
    request: requestPrototype(four, moreRequestMethods(four)),
    response: responsePrototype(four, moreResponseMethods(four)),
};
