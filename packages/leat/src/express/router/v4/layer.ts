// A layer of Express 4: a path's expression and the handler behind it.
import { debugOf } from "../../libraries";
import { type Key } from "../libraries";
import { LayerFacts } from "../layer_facts";
import { type Found, type Pattern } from "../pattern";
import { nameOf } from "../registration";
import { type Handle, type HandleError, type LayerOptions, type Next, type Params, type Reply, type RoutedRequest, type StackLayer, type StackRoute } from "../types";
import { type Compiled, compiled, paramsOf } from "./pattern";
import { decoded } from "../pattern";

const debug = debugOf("express:router:layer");

export interface Layer extends StackLayer {
    handle: Handle;
    name: string;
    /** What the last match found; the next request changes it. */
    params: Params | undefined;
    path: string | undefined;
    regexp: Compiled["regexp"];
    keys: Key[];
    route?: StackRoute | undefined;
    method?: string | undefined;
    match(path: string | null | undefined): boolean;
    handle_request(req: RoutedRequest, res: Reply, next: Next): void;
    handle_error(error: unknown, req: RoutedRequest, res: Reply, next: Next): void;
}

export interface LayerConstructor {
    new (path: unknown, options: LayerOptions | undefined, handle: Handle): Layer;
    (path: unknown, options: LayerOptions | undefined, handle: Handle): Layer;
    prototype: Layer;
}

/**
 * A layer: `handle` behind `path`. Made by routers and routes; programs and tools read and change its members.
 *
 * Errors: what path-to-regexp or the regular expression refuses is refused in its words.
 */
 
export const Layer = function Layer(this: Layer | undefined, path: unknown, options: LayerOptions | undefined, handle: Handle) {
    if (!(this instanceof Layer)) return new (Layer as unknown as LayerConstructor)(path, options, handle);
    debug("new %o", path);
    // By assignment, since express-async-errors and its kind put a setter for `handle` on the prototype.
    this.handle = handle;
    this.name = nameOf(handle);
    this.params = undefined;
    this.path = undefined;
    const { regexp, keys, pattern } = compiled(path, options ?? {});
    this.keys = keys;
    this.regexp = regexp;
    LayerFacts.add(this, pattern, regexp);
    return undefined;
} as unknown as LayerConstructor;

/** Whether the path matches; what was found stays in the layer. */
Layer.prototype.match = function match(this: Layer, path: string | null | undefined): boolean {
    if (path != null) {
        if (this.regexp.fast_slash) {
            this.params = {};
            this.path = "";
            return true;
        }
        if (this.regexp.fast_star) {
            this.params = { 0: decoded(path) };
            this.path = path;
            return true;
        }
        const match = this.regexp.exec(path);
        if (match) {
            this.params = {};
            this.path = match[0];
            this.params = paramsOf(match, this.keys);
            return true;
        }
    }
    this.params = undefined;
    this.path = undefined;
    return false;
};

/** Runs the handler, unless it is one for errors; what it throws goes to `next`. */
Layer.prototype.handle_request = function handle(this: Layer, req: RoutedRequest, res: Reply, next: Next): void {
    const fn = this.handle;
    if (LayerFacts.arityOf(this, fn) > 3) {
        next();
        return;
    }
    try {
        fn(req, res, next);
    } catch (error) {
        next(error);
    }
};

/** Runs the handler with an error, if it is one for errors. */
Layer.prototype.handle_error = function handle_error(this: Layer, error: unknown, req: RoutedRequest, res: Reply, next: Next): void {
    const fn = this.handle as unknown as HandleError;
    if (LayerFacts.arityOf(this, fn) !== 4) {
        next(error);
        return;
    }
    try {
        fn(error, req, res, next);
    } catch (failure) {
        next(failure);
    }
};

const { prototype } = Layer as { prototype: { match: unknown } };
const ownMatch = prototype.match;

/** Whether nobody put another `match` into the place of ours. */
export function matchIsOwn(): boolean {
    return prototype.match === ownMatch;
}

/** The pattern of a layer that matches by nothing else. */
export function layerPattern(layer: StackLayer): Pattern | null {
    return (layer as { match: unknown }).match === ownMatch ? LayerFacts.patternOf(layer, (layer as Layer).regexp) : null;
}

/** Matches by a layer's pattern, and leaves in the layer what was found. */
export function readLayer(layer: StackLayer, pattern: Pattern, path: string, found: Found): boolean {
    const own = layer as Layer;
    if (pattern.read(path, found)) {
        own.params = found.params;
        own.path = found.path;
        return true;
    }
    own.params = undefined;
    own.path = undefined;
    return false;
}

/** Lets `layer` match by its own method, whatever that is. */
export function matchLayer(layer: StackLayer, path: string, found: Found): boolean {
    const own = layer as Layer;
    const match: unknown = own.match(path);
    if (match !== true) return false;
    found.path = own.path as string;
    found.params = own.params as Params;
    found.keys = own.keys;
    return true;
}
