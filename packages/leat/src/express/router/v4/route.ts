// A route of Express 4: a path's handlers, by method.
import { debugOf } from "../../libraries";
import { flat, methodName, methods } from "../registration";
import { type Handle, type Next, type Reply, type RoutedRequest, type StackRoute } from "../types";
import { Layer } from "./layer";

const debug = debugOf("express:router:route");

/** Handlers that call `next` at once, one within the other, before the stack is let run out. */
const SYNC_MAX = 100;

type Add = (this: Route, ...handlers: unknown[]) => Route;

export interface Route extends StackRoute {
    path: unknown;
    stack: Layer[];
    /** Methods that have handlers, and `_all`. */
    methods: Record<string, boolean | undefined>;
    _handles_method(method: unknown): boolean;
    _options(): string[];
    dispatch(req: RoutedRequest, res: Reply, done: Next): unknown;
    all: Add;
    [method: string]: unknown;
}

export interface RouteConstructor {
    new (path: unknown): Route;
    prototype: Route;
}

 
export const Route = function Route(this: Route, path: unknown) {
    this.path = path;
    this.stack = [];
    debug("new %o", path);
    this.methods = {};
} as unknown as RouteConstructor;

/** Whether a request of this method is for one of the handlers; HEAD is for those of GET. */
Route.prototype._handles_method = function _handles_method(this: Route, method: unknown): boolean {
    const known = this.methods;
    if (known["_all"]) return true;
    const name = methodName(method);
    return Boolean(known[(name === "head" && !known["head"] ? "get" : name) as string]);
};

/** The methods that have handlers, in upper case. */
Route.prototype._options = function _options(this: Route): string[] {
    const names = Object.keys(this.methods);
    if (this.methods["get"] && !this.methods["head"]) names.push("head");
    return names.map((name) => name.toUpperCase());
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
        if (++sync > SYNC_MAX) return setImmediate(next, error);
        const layer = stack[index++];
        if (!layer) return done(error);
        if (layer.method && layer.method !== method) next(error);
        else if (error) layer.handle_error(error, req, res, next);
        else layer.handle_request(req, res, next);
        sync = 0;
        return undefined;
    }
};

Route.prototype.all = function all(this: Route, ...handlers: unknown[]): Route {
    for (const handle of flat(handlers)) {
        if (typeof handle !== "function") throw new TypeError(`Route.all() requires a callback function but got a ${classOf(handle)}`);
        add(this, undefined, handle as Handle);
    }
    return this;
};

for (const method of methods) {
    Route.prototype[method] = function (this: Route, ...handlers: unknown[]): Route {
        for (const handle of flat(handlers)) {
            if (typeof handle !== "function") throw new Error(`Route.${method}() requires a callback function but got a ${classOf(handle)}`);
            debug("%s %o", method, this.path);
            add(this, method, handle as Handle);
        }
        return this;
    };
}

function classOf(value: unknown): string {
    return Object.prototype.toString.call(value);
}

function add(route: Route, method: string | undefined, handle: Handle): void {
    const layer = Layer("/", {}, handle);
    layer.method = method;
    route.methods[method ?? "_all"] = true;
    route.stack.push(layer);
}
