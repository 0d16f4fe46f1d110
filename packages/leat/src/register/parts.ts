// What Leat has for the files of `express`, by major version: programs and tools ask for some of them by their paths.
import { type Dialect } from "../express/dialect";
import type * as patterns from "../express/router/libraries";
import { type PackageFile } from "./package";

/** What stands in for one file. */
interface Part {
    /**
     * What the file itself requires and is mapped too. It is required here as well, since instrumentation waits for a
     * package to be required before it patches it.
     */
    readonly requires?: readonly string[];
    /** `own` requires what the file itself would get. */
    exports(own: (id: string) => unknown): unknown;
}

type Parts = Readonly<Record<string, Part>>;
interface Members {
    application: object;
    query: unknown;
    request: object;
    response: object;
    Router: unknown;
}
interface Routers {
    Layer: unknown;
    Layer4: unknown;
    Route: unknown;
    Route4: unknown;
    Router: unknown;
}

// Each is loaded when a program first requires it.
const express = (): Members => require("../express/index") as Members;
const express4 = (): Members => require("../express/v4/index") as Members;
const routers = (): Routers => require("../express/routers") as Routers;

const FIVE: Parts = {
    index: { requires: ["./lib/express"], exports: express },
    "lib/express": { requires: ["./application", "router", "./request", "./response"], exports: express },
    "lib/application": { requires: ["./view", "router"], exports: () => express().application },
    "lib/request": { exports: () => express().request },
    "lib/response": { exports: () => express().response },
    "lib/view": { exports: () => (require("../express/five") as { five: Dialect }).five.View },
};

const FOUR: Parts = {
    index: { requires: ["./lib/express"], exports: express4 },
    "lib/express": { requires: ["./application", "./router/route", "./router", "./request", "./response", "./middleware/query"], exports: express4 },
    "lib/application": { requires: ["./router", "./middleware/init", "./middleware/query", "./view"], exports: () => express4().application },
    "lib/middleware/init": { exports: () => ({ init: (require("../express/v4/init") as { initialize: unknown }).initialize }) },
    "lib/middleware/query": { exports: () => express4().query },
    "lib/request": { exports: () => express4().request },
    "lib/response": { exports: () => express4().response },
    "lib/router/index": { requires: ["./route", "./layer"], exports: () => express4().Router },
    "lib/router/layer": {
        exports(own) {
            (require("../express/router/libraries") as typeof patterns).bringOldPathPatterns(() => own("path-to-regexp"));
            return routers().Layer4;
        },
    },
    "lib/router/route": { requires: ["./layer"], exports: () => routers().Route4 },
    "lib/view": { exports: () => (require("../express/v4/four") as { four: Dialect }).four.View },
};

/** The package that Express 5 has its router from. */
const ROUTER: Parts = {
    index: { requires: ["./lib/layer", "./lib/route"], exports: () => routers().Router },
    "lib/layer": { exports: () => routers().Layer },
    "lib/route": { requires: ["./layer"], exports: () => routers().Route },
};

const PACKAGES: Readonly<Record<string, Readonly<Record<number, Parts>>>> = {
    express: { 4: FOUR, 5: FIVE },
    router: { 2: ROUTER },
};

/** Leat's part for a file. Those without one, such as `lib/utils`, are functions without a state and stay Express's own. */
export function partOf({ name, major, path }: PackageFile): Part | undefined {
    return PACKAGES[name]?.[major]?.[path];
}
