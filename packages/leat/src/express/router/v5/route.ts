// A route of Express 5: a path's handlers, by method.
import { debugOf } from "../../libraries";
import { flat, methodName, methods } from "../registration";
import { type Handle, type Next, type Reply, type RoutedRequest, type StackRoute } from "../types";
import { Layer } from "./layer";

const debug = debugOf("router:route");

/** Handlers that call `next` at once, one within the other, before the stack is let run out. */
const SYNC_MAX = 100;

type Add = (this: Route, ...handlers: unknown[]) => Route;

export interface Route extends StackRoute {
    path: unknown;
    stack: Layer[];
    /** Methods that have handlers, and `_all`. */
    methods: Record<string, boolean | undefined>;
    _handlesMethod(method: unknown): boolean;
    _methods(includeAll?: boolean): string[];
    dispatch(req: RoutedRequest, res: Reply, done: Next): unknown;
    all: Add;
    [method: string]: unknown;
}

export interface RouteConstructor {
    new (path: unknown): Route;
    prototype: Route;
}

 
export const Route = function Route(this: Route, path: unknown) {
    debug("new %o", path);
    this.path = path;
    this.stack = [];
    this.methods = Object.create(null) as Route["methods"];
} as unknown as RouteConstructor;

/** Whether a request of this method is for one of the handlers; HEAD is for those of GET. */
Route.prototype._handlesMethod = function _handlesMethod(this: Route, method: unknown): boolean {
    const known = this.methods;
    if (known["_all"]) return true;
    const name = methodName(method);
    return Boolean(known[(name === "head" && !known["head"] ? "get" : name) as string]);
};

/** The methods that have handlers, in upper case; `*` stands for all, if that is asked for. */
Route.prototype._methods = function _methods(this: Route, includeAll?: boolean): string[] {
    const names: string[] = [];
    for (const method of Object.keys(this.methods)) {
        if (method !== "_all") names.push(method.toUpperCase());
        else if (includeAll) names.push("*");
    }
    if (this.methods["get"] && !this.methods["head"]) names.push("HEAD");
    return names;
};

/** Runs the handlers of the request's method, one after the other. */
Route.prototype.dispatch = function dispatch(this: Route, req: RoutedRequest, res: Reply, done: Next): unknown {
    const { stack } = this;
    if (stack.length === 0) return done();
    let index = 0;
    let sync = 0;
    const name = methodName(req.method);
    const method = name === "head" && !this.methods["head"] ? "get" : name;
    req.route = this;
    next();
    return undefined;

    function next(error?: unknown): unknown {
        if (error === "route") return done();
        if (error === "router") return done(error);
        if (index >= stack.length) return done(error);
        if (++sync > SYNC_MAX) return setImmediate(next, error);
        let layer: Layer | undefined;
        do {
            layer = stack[index++];
            if (layer === undefined) return done(error);
        } while (layer.method && layer.method !== method);
        if (error) layer.handleError(error, req, res, next);
        else layer.handleRequest(req, res, next);
        sync = 0;
        return undefined;
    }
};

Route.prototype.all = function all(this: Route, ..._handlers: unknown[]): Route {
    // eslint-disable-next-line prefer-rest-params -- `all.length` is 1 for who reads it.
    for (const handle of handlersOf(arguments)) add(this, undefined, handle);
    return this;
};

for (const method of methods) {
    Route.prototype[method] = function (this: Route, ...handlers: unknown[]): Route {
        for (const handle of handlersOf(handlers)) {
            debug("%s %s", method, this.path);
            add(this, method, handle);
        }
        return this;
    };
}

function handlersOf(handlers: ArrayLike<unknown>): unknown[] {
    const all = flat(handlers);
    if (all.length === 0) throw new TypeError("argument handler is required");
    return all;
}

function add(route: Route, method: string | undefined, handle: unknown): void {
    if (typeof handle !== "function") throw new TypeError("argument handler must be a function");
    const layer = Layer("/", {}, handle as Handle);
    layer.method = method;
    route.methods[method ?? "_all"] = true;
    route.stack.push(layer);
}
