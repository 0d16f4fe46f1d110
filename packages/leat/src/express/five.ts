import { applicationMethods } from "./application";
import { type Prototypes } from "./create";
import { type Dialect } from "./dialect";
import { libraries } from "./libraries";
import { requestPrototype } from "./request";
import { moreRequestMethods } from "./request5";
import { responsePrototype } from "./response";
import { moreResponseMethods } from "./response5";
import { Router } from "./routers";
import { type Application } from "./types";
import { viewClass } from "./view";

/** Express 5. */
export const five: Dialect = {
    version: 5,
    libraries,
    Router,
    View: viewClass(true),
    defaults: { "query parser": "simple" },
    routerOf: (app) => app.router,
    newMap: () => Object.create(null) as Record<string, unknown>,
    merge: (...sources) => Object.assign({}, ...sources) as Record<string, unknown>,
    own: {} as Dialect["own"],
    noQuery: undefined,
    extendedQuery: { allowPrototypes: true },
    errorText: (error) => error,
    listenTellsErrors: true,
};

const methods = applicationMethods(five);
const base = methods as { init(this: Application): void };

export const prototypes: Prototypes = {
    application: {
        ...methods,

        init(this: Application): void {
            base.init.call(this);
            let router: Application["router"] | null = null;
            Object.defineProperty(this, "router", {
                configurable: true,
                enumerable: true,
                get(this: Application) {
                    return (router ??= new Router({ caseSensitive: this.enabled("case sensitive routing"), strict: this.enabled("strict routing") }));
                },
            });
        },
    },
    request: requestPrototype(five, moreRequestMethods(five)),
    response: responsePrototype(five, moreResponseMethods(five)),
};
