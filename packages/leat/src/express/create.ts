// `express()` and what hangs on it.
import { EventEmitter } from "node:events";
import { kMessages } from "../http/makers";
import { mixin } from "../http/mixin";
import { type Dialect } from "./dialect";
import { json } from "./json";
import { type Application, type Next, type Request, type Response } from "./types";

/** The prototypes that apps of one dialect are made with. */
export interface Prototypes {
    application: object;
    request: object;
    response: object;
}

/** An app, which is a function that answers requests. */
function createApplication({ application, request, response }: Prototypes): Application {
    const app = function (req: Request, res: Response, next?: Next) {
        app.handle(req, res, next);
    } as Application;
    mixin(app, EventEmitter.prototype);
    mixin(app, application);
    app.request = Object.create(request, { app: { configurable: true, enumerable: true, writable: true, value: app } }) as object;
    app.response = Object.create(response, { app: { configurable: true, enumerable: true, writable: true, value: app } }) as object;
    // Leat's server builds the messages with these prototypes; another one's get them in `handle`.
    Object.defineProperty(app, kMessages, { value: app });
    app.init();
    return app;
}

/** `express()`: a function that may be called with `new`, under the name that Express gives it. */
export function expressOf(prototypes: Prototypes): { (): Application; new (): Application } {
    return named("createApplication", function () {
        return createApplication(prototypes);
    } as { (): Application; new (): Application });
}

/** Middleware of the libraries, loaded when it is first made. */
export function bundled(dialect: Dialect): Record<"json" | "raw" | "static" | "text" | "urlencoded", (...args: never[]) => unknown> {
    const { bodyParser, serveStatic } = dialect.libraries;
    return {
        json: named("json", (options?: object) => json(dialect, options)),
        raw: (options?: unknown) => bodyParser().raw(options),
        static: named("serveStatic", (root: string, options?: object) => serveStatic()(root, options)),
        text: (options?: unknown) => bodyParser().text(options),
        urlencoded: (options?: unknown) => bodyParser().urlencoded(options),
    };
}

/** `fn` with the name that tools and stack traces know. */
export function named<T extends object>(name: string, fn: T): T {
    return Object.defineProperty(fn, "name", { configurable: true, value: name });
}
