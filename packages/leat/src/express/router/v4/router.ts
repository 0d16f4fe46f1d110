// The router of Express 4, in the shape of its `lib/router`: the constructor is the prototype of what it makes.
import { type Called, type Dialect } from "../dialect";
import { debugOf, lazy, libraries } from "../../libraries";
import { type Key } from "../libraries";
import { processParams } from "../params";
import { methods, usage } from "../registration";
import { addStack, stackOf } from "../stack";
import { type Handle, type Next, type ParamCallback, type Reply, type RoutedRequest, type RouterOptions, type StackRouter } from "../types";
import { walk } from "../walk";
import { Layer, layerPattern, matchIsOwn, matchLayer, readLayer } from "./layer";
import { answerOptions } from "./options_reply";
import { Route } from "./route";

const debug = debugOf("express:router");

/** Made here, so that what is told names the first line that is not of this file. */
const deprecations = lazy(() => libraries.depd()("express"));

/** Makes a callback of what `param` was given; the first use of `router.param(fn)` set it. */
type ParamMaker = (name: string, fn: unknown) => unknown;

interface Methods {
    handle(req: RoutedRequest, res: Reply, out: Next): void;
    param(name: string | ParamMaker, fn?: unknown): this | undefined;
    process_params(layer: Layer, called: Called, req: RoutedRequest, res: Reply, done: Next): unknown;
    use(...args: unknown[]): this;
    route(path: unknown): Route;
    [method: string]: unknown;
}

export interface Router extends Methods, StackRouter {
    (req: RoutedRequest, res: Reply, next: Next): void;
    stack: Layer[];
    _params: ParamMaker[];
}

/** Makes routers, and has their methods. */
export interface RouterMaker extends Methods {
    (options?: RouterOptions): Router;
    new (options?: RouterOptions): Router;
}

/**
 * A router of Express 4, which is itself a handler.
 *
 * Cost of a request: `docs/design/express-router.md`. Its stack is compiled at the second request after a change; a layer is
 * found by its path among any number at the cost of the path's length. Limits: a stack whose patterns overlap beyond
 * 50,000 states is walked layer by layer; a layer's `regexp` that was replaced is seen when the stack changes.
 */
 
export const Router = function (options?: RouterOptions): Router {
    const made = function router(req: RoutedRequest, res: Reply, next: Next): void {
        made.handle(req, res, next);
    } as unknown as Router;
    Object.setPrototypeOf(made, Router);
    made.params = {};
    made._params = [];
    made.caseSensitive = options?.caseSensitive;
    made.mergeParams = options?.mergeParams;
    made.strict = options?.strict;
    addStack(made, layerPattern);
    return made;
} as unknown as RouterMaker;

/** Calls `fn` with each value of the parameter `name`, before the handlers of a layer that has it. */
Router.param = function param(this: Router, name: string | ParamMaker, fn?: unknown): Router | undefined {
    if (typeof name === "function") {
        deprecations()("router.param(fn): Refactor to use path params");
        this._params.push(name);
        return undefined;
    }
    const colon = name[0] === ":";
    if (colon) deprecations()(`router.param(${JSON.stringify(name)}, fn): Use router.param(${JSON.stringify(name.slice(1))}, fn) instead`);
    const plain = colon ? name.slice(1) : name;
    let callback = fn;
    for (const make of this._params.slice()) callback = make(plain, callback) || callback;
    if (typeof callback !== "function") throw new Error(`invalid param() call for ${plain}, got ${String(callback)}`);
    (this.params[plain] ||= []).push(callback as ParamCallback);
    return this;
} as RouterMaker["param"];

Router.handle = function handle(this: Router, req: RoutedRequest, res: Reply, out: Next): void {
    debug("dispatching %s %s", req.method, req.url);
    walk(dialect, this, stackOf(this, layerPattern), req, res, out);
};

/** Calls the callbacks of a layer's parameters, then `done`. */
Router.process_params = function process_params(this: Router, layer: Layer, called: Called, req: RoutedRequest, res: Reply, done: Next): unknown {
    // A tool may hand over a layer of its own, without keys.
    const { keys } = layer as Partial<Layer>;
    if (!keys || keys.length === 0) return done();
    const names = keys.map((key) => key.name as string);
    processParams(this.params, names, called, req, (fn, next, value, name) => callParam(fn, req, res, next, value, name), done);
    return undefined;
};

/** Adds middleware, for paths that start with `path` if one is given. */
Router.use = function use(this: Router, fn: unknown): Router {
    // eslint-disable-next-line prefer-rest-params -- `use.length` is 1 for who reads it.
    const { path, handlers } = usage(fn, arguments);
    if (handlers.length === 0) throw new TypeError("Router.use() requires a middleware function");
    for (const handle of handlers) {
        if (typeof handle !== "function") throw new TypeError(`Router.use() requires a middleware function but got a ${typeName(handle)}`);
        debug("use %o %s", path, handle.name || "<anonymous>");
        const layer = new Layer(path, { sensitive: this.caseSensitive, strict: false, end: false }, handle as Handle);
        layer.route = undefined;
        stackOf(this, layerPattern).push(layer);
    }
    return this;
} as unknown as RouterMaker["use"];

/** Adds a route. */
Router.route = function route(this: Router, path: unknown): Route {
    const made = new Route(path);
    const layer = new Layer(path, { sensitive: this.caseSensitive, strict: this.strict, end: true }, made.dispatch.bind(made));
    layer.route = made;
    stackOf(this, layerPattern).push(layer);
    return made;
};

for (const method of [...methods, "all"]) {
    Router[method] = function (this: Router, path: unknown, ...handlers: unknown[]): Router {
        const route = this.route(path) as unknown as Record<string, (...handlers: unknown[]) => unknown>;
        route[method]?.(...handlers);
        return this;
    };
}

const { process_params: ownProcess } = Router as { process_params: unknown };

const dialect: Dialect = {
    debug: process.env["DEBUG"] ? debug : undefined,
    patternOf: layerPattern,
    matchIsOwn,
    read: readLayer,
    match: matchLayer,
    handles: (route, method) => (route as Route)._handles_method(method),
    addMethods: (route, names) => {
        for (const name of (route as Route)._options()) if (!names.includes(name)) names.push(name);
    },
    answerOptions,
    handleRequest: (layer, req, res, next) => (layer as Layer).handle_request(req, res, next),
    handleError: (layer, error, req, res, next) => (layer as Layer).handle_error(error, req, res, next),
    wantsParams: (router, found) => (router as { process_params?: unknown }).process_params !== ownProcess || callbacksFor(router, found.keys as readonly Key[]),
    processParams: (router, layer, _keys, called, req, res, done) => void (router as Router).process_params(layer as Layer, called, req, res, done),
    dropSlash: (req) => {
        req.url = (req.url as string).slice(1);
    },
    endsMount: (character) => !character || character === "/" || character === ".",
    saw: nothing,
    matched: nothing,
    matchedBefore: nothing,
    restoreMatched: nothing,
};

function callbacksFor(router: StackRouter, keys: readonly Key[]): boolean {
    for (let index = 0; index < keys.length; index++) if (router.params[(keys[index] as Key).name]) return true;
    return false;
}

function callParam(fn: ParamCallback, req: RoutedRequest, res: Reply, next: Next, value: unknown, name: string): void {
    try {
        fn(req, res, next, value, name);
    } catch (error) {
        next(error);
    }
}

function typeName(value: unknown): string {
    return typeof value === "object" ? Object.prototype.toString.call(value).slice("[object ".length, -1) : typeof value;
}

function nothing(): void {}
