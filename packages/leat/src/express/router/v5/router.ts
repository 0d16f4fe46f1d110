// The router of Express 5, in the shape of npm's `router` 2.
import { type Called, type Dialect } from "../dialect";
import { debugOf } from "../../libraries";
import { LayerFacts } from "../layer_facts";
import { processParams, wanted } from "../params";
import { methods, usage } from "../registration";
import { addStack, stackOf } from "../stack";
import { type Handle, type Next, type ParamCallback, type Reply, type RoutedRequest, type RouterOptions, type StackLayer, type StackRouter } from "../types";
import { straightOf } from "../straight";
import { Layer, layerPattern, matchIsOwn, matchLayer, returned, writtenPattern } from "./layer";
import { answerOptions } from "./options_reply";
import { Route } from "./route";
import { callParam, matchedBefore, nameMatched, restoreMatched, saw, traced } from "./tracing";

const debug = debugOf("router");

/** A route or a mounted router, as `listRoutes` tells of it. */
export interface RouteInfo {
    path: unknown;
    methods: string[] | undefined;
    router: unknown;
}

export interface Router extends StackRouter {
    (req: RoutedRequest, res: Reply, next: Next): void;
    stack: Layer[];
    handle(req: RoutedRequest, res: Reply, callback: Next): void;
    param(name: string, fn: ParamCallback): this;
    use(...args: unknown[]): this;
    route(path: unknown): Route;
    listRoutes(): RouteInfo[];
    [method: string]: unknown;
}

export interface RouterConstructor {
    new (options?: RouterOptions): Router;
    (options?: RouterOptions): Router;
    prototype: Router;
    Route: typeof Route;
}

/**
 * A router of Express 5. It may be called without `new`, and is itself a handler.
 *
 * Cost of a request: `docs/design/express-router.md`. Its stack is compiled at the second request after a change; a layer is
 * found by its path among any number at the cost of the path's length. Limits: a stack whose patterns overlap beyond
 * 50,000 states is walked layer by layer; the pattern of a layer is what the layer was made with.
 */
 
export const Router = function Router(this: Router | undefined, options?: RouterOptions): Router {
    if (!(this instanceof Router)) return new (Router as unknown as RouterConstructor)(options);
    const made = function router(req: RoutedRequest, res: Reply, next: Next): void {
        made.handle(req, res, next);
    } as unknown as Router;
    Object.setPrototypeOf(made, this);
    made.caseSensitive = options?.caseSensitive;
    made.mergeParams = options?.mergeParams;
    made.params = {};
    made.strict = options?.strict;
    addStack(made, layerPattern);
    return made;
} as unknown as RouterConstructor;

// Routers are functions, so that `apply` and `call` are where programs look for them.
Router.prototype = function () {} as unknown as Router;
Router.Route = Route;

/** Calls `fn` with each value of the parameter `name`, before the handlers of a layer that has it. */
Router.prototype.param = function param(this: Router, name: string, fn: ParamCallback): Router {
    if (!name) throw new TypeError("argument name is required");
    if (typeof name !== "string") throw new TypeError("argument name must be a string");
     
    if (!fn) throw new TypeError("argument fn is required");
    if (typeof fn !== "function") throw new TypeError("argument fn must be a function");
    const params = (this.params[name] ||= []);
    params.push(fn);
    return this;
};

Router.prototype.handle = function handle(this: Router, req: RoutedRequest, res: Reply, callback: Next): void {
     
    if (!callback) throw new TypeError("argument callback is required");
    dialect.debug?.("dispatching %s %s", req.method, req.url);
    go(this, stackOf(this, layerPattern), req, res, callback);
};

/** Adds middleware, for paths that start with `path` if one is given. */
Router.prototype.use = function use(this: Router, handler: unknown): Router {
    // eslint-disable-next-line prefer-rest-params -- `use.length` is 1 for who reads it.
    const { path, handlers } = usage(handler, arguments);
    if (handlers.length === 0) throw new TypeError("argument handler is required");
    for (const fn of handlers) {
        if (typeof fn !== "function") throw new TypeError("argument handler must be a function");
        debug("use %o %s", path, fn.name || "<anonymous>");
        const layer = new Layer(path, { sensitive: this.caseSensitive, strict: false, end: false }, fn as Handle);
        layer.route = undefined;
        stackOf(this, layerPattern).push(layer);
    }
    return this;
};

/** Adds a route. */
Router.prototype.route = function route(this: Router, path: unknown): Route {
    const made = new Route(path);
    const layer = new Layer(path, { sensitive: this.caseSensitive, strict: this.strict, end: true }, handle);
    function handle(req: RoutedRequest, res: Reply, next: Next): void {
        made.dispatch(req, res, next);
    }
    layer.route = made;
    LayerFacts.route(layer, handle);
    stackOf(this, layerPattern).push(layer);
    return made;
};

/** Routes and mounted routers in their order, one for each path; middleware is none. */
Router.prototype.listRoutes = function listRoutes(this: Router): RouteInfo[] {
    const routes: RouteInfo[] = [];
    for (const layer of this.stack) {
        const route = layer.route as Route | undefined;
        const router = !route && Array.isArray((layer.handle as unknown as StackRouter).stack) ? layer.handle : undefined;
        if (!route && !router) continue;
        const names = route?._methods(true);
        const paths: unknown[] = Array.isArray(layer.rawPath) ? layer.rawPath : [layer.rawPath];
        for (const path of paths) routes.push({ path, methods: names?.slice(), router });
    }
    return routes;
};

for (const method of [...methods, "all"]) {
    Router.prototype[method] = function (this: Router, path: unknown, ...handlers: unknown[]): Router {
        const route = this.route(path) as unknown as Record<string, (...handlers: unknown[]) => unknown>;
        route[method]?.(...handlers);
        return this;
    };
}

const dialect: Dialect = {
    debug: process.env["DEBUG"] ? debug : undefined,
    patternOf: layerPattern,
    matchIsOwn,
    read: (_layer, pattern, path, found) => pattern.read(path, found),
    match: matchLayer,
    handles: (route, method) => (route as Route)._handlesMethod(method),
    addMethods: (route, names) => void names.push(...(route as Route)._methods()),
    answerOptions,
    handleRequest: (layer, req, res, next) => (layer as Layer).handleRequest(req, res, next),
    handleError: (layer, error, req, res, next) => (layer as Layer).handleError(error, req, res, next),
    wantsParams: (router, found, req) => found.keys.length !== 0 && wanted(router, found.keys, req.params ?? {}),
    processParams: paramsOf,
    dropSlash,
    endsMount: (character) => !character || character === "/",
    saw,
    matched: (req, layer, found) => {
        if (traced()) nameMatched(req, writtenPattern((layer as Layer).rawPath, found.which));
    },
    matchedBefore,
    restoreMatched,
};

const go = straightOf(dialect, {
    layers: Layer.prototype,
    match: Layer.prototype.match,
    isWatched: dialect.debug === undefined ? traced : () => true,
    handleRequest: Layer.prototype.handleRequest,
    dispatch: Route.prototype.dispatch,
    returned,
});

function paramsOf(router: StackRouter, layer: StackLayer, keys: readonly unknown[], called: Called, req: RoutedRequest, res: Reply, done: Next): void {
    processParams(router.params, keys as readonly string[], called, req, (fn, next, value, name) => callParam(fn, req, res, layer, next, value, name), done);
}

/** The slash stays where the handler wrote a path of its own behind a mount path without one. */
function dropSlash(req: RoutedRequest, removed: string): void {
    const url = req.url as string;
    if (url === "/" || url.startsWith("/?") || (removed.endsWith("/") && url[0] === "/")) req.url = url.slice(1);
}
