// A layer of Express 5: a path pattern and the handler behind it.
import { debugOf } from "../../libraries";
import { LayerFacts } from "../layer_facts";
import { type Found, type Pattern } from "../pattern";
import { nameOf } from "../registration";
import { type Handle, type HandleError, type LayerOptions, type Next, type Params, type Reply, type RoutedRequest, type StackLayer, type StackRoute } from "../types";
import { type Matcher, patternOf } from "./pattern";
import { promiseOf } from "./promise";
import { traced, traceHandler } from "./tracing";

const debug = debugOf("router:layer");

/** What a layer found in a path. */
export interface LayerMatch {
    params: Params;
    path: string;
    keys: string[];
    /** The pattern as the program wrote it; the one that matched, of an array. */
    pattern: unknown;
}

export interface Layer extends StackLayer {
    handle: Handle;
    name: string;
    /** The path as the program wrote it; an array is a flat copy. */
    rawPath: unknown;
    /** Everything matches. */
    slash: boolean;
    matchers: Matcher[];
    route?: StackRoute | undefined;
    method?: string | undefined;
    match(path: string | null | undefined): LayerMatch | false;
    handleRequest(req: RoutedRequest, res: Reply, next: Next): void;
    handleError(error: unknown, req: RoutedRequest, res: Reply, next: Next): void;
}

export interface LayerConstructor {
    new (path: unknown, options: LayerOptions | undefined, handle: Handle): Layer;
    (path: unknown, options: LayerOptions | undefined, handle: Handle): Layer;
    prototype: Layer;
}

/**
 * A layer: `handle` behind `path`. Made by routers and routes; programs and tools read and change its members.
 *
 * Errors: a path that path-to-regexp refuses is refused in its words.
 */
 
export const Layer = function Layer(this: Layer | undefined, path: unknown, options: LayerOptions | undefined, handle: Handle) {
    if (!(this instanceof Layer)) return new (Layer as unknown as LayerConstructor)(path, options, handle);
    debug("new %o", path);
    // By assignment, since express-async-errors and its kind put a setter for `handle` on the prototype.
    this.handle = handle;
    this.name = nameOf(handle);
    this.rawPath = Array.isArray(path) ? path.flat(Infinity) : path;
    this.slash = path === "/" && options?.end === false;
    const { pattern, matchers } = patternOf(this.rawPath, options ?? {});
    this.matchers = matchers;
    LayerFacts.add(this, pattern, matchers);
    return undefined;
} as unknown as LayerConstructor;

Layer.prototype.match = function match(this: Layer, path: string | null | undefined): LayerMatch | false {
    if (path == null) return false;
    const { rawPath } = this;
    if (this.slash) return { params: {}, path: "", keys: [], pattern: rawPath };
    let which = 0;
    for (const matcher of this.matchers) {
        const found = matcher(path);
        if (found) return { params: found.params, path: found.path, keys: Object.keys(found.params), pattern: writtenPattern(rawPath, which) };
        which += 1;
    }
    return false;
};

/** Runs the handler, unless it is one for errors; what it throws or rejects goes to `next`. */
Layer.prototype.handleRequest = function handleRequest(this: Layer, req: RoutedRequest, res: Reply, next: Next): void {
    const fn = this.handle;
    if (LayerFacts.arityOf(this, fn) > 3) {
        next();
        return;
    }
    // The handler of a route only calls the route, whose layers are traced themselves.
    if (!this.route && traced()) {
        traceHandler((wrapped) => fn(req, res, wrapped), { req, res, layer: this, handler: fn }, next);
        return;
    }
    try {
        const result = fn(req, res, next);
        if (result !== undefined) returned(result, next);
    } catch (error) {
        next(error);
    }
};

/** Takes what a handler returned: a promise that rejects goes to `next`. */
export function returned(result: unknown, next: Next): void {
    const promise = promiseOf(result, "handlers");
    if (promise !== undefined) settle(promise, next);
}

/** Runs the handler with an error, if it is one for errors. */
Layer.prototype.handleError = function handleError(this: Layer, error: unknown, req: RoutedRequest, res: Reply, next: Next): void {
    const fn = this.handle as unknown as HandleError;
    if (LayerFacts.arityOf(this, fn) !== 4) {
        next(error);
        return;
    }
    if (traced()) {
        traceHandler((wrapped) => fn(error, req, res, wrapped), { req, res, incomingError: error, layer: this, handler: fn, errorHandler: true }, next);
        return;
    }
    try {
        const result = fn(error, req, res, next);
        if (result !== undefined) returned(result, next);
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
    return (layer as { match: unknown }).match === ownMatch ? LayerFacts.patternOf(layer, (layer as Layer).matchers) : null;
}

/** Lets `layer` match by its own method, whatever that is. */
export function matchLayer(layer: StackLayer, path: string, found: Found): boolean {
    const match = layer.match(path) as LayerMatch | false;
    if (!match) return false;
    found.path = match.path;
    found.params = match.params;
    found.keys = match.keys;
    const { rawPath } = layer as Layer;
    found.which = Array.isArray(rawPath) ? rawPath.indexOf(match.pattern) : 0;
    return true;
}

/** The pattern of a path as it was written. */
export function writtenPattern(rawPath: unknown, which: number): unknown {
    return Array.isArray(rawPath) ? (rawPath[which] as unknown) : rawPath;
}

function settle(promise: PromiseLike<unknown>, next: Next): void {
    promise.then(nothing, (error: unknown) => {
        next(error || new Error("Rejected promise"));
    });
}

/** Some thenables call what they are given without a look. */
function nothing(): void {}
