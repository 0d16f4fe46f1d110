// The way of one request through the layers of one router.
import { type Called, type Dialect } from "./dialect";
import { type Found } from "./pattern";
import { originOf, pathnameOf } from "./pathname";
import { merged } from "./params";
import { type Plan, type State } from "./plan";
import { type Stack } from "./stack";
import { type Next, type Params, type Reply, type RoutedRequest, type StackLayer, type StackRoute, type StackRouter } from "./types";

/** Handlers that call `next` at once, one within the other, before the stack is let run out. */
export const SYNC_MAX = 100;

const NONE: readonly never[] = [];

/**
 * Sends a request through `router`, and to `out` when no layer answered.
 *
 * Cost: one object and the function `next`, beside what matching makes: the parameters' object of each layer that is called.
 */
export function walk(dialect: Dialect, router: StackRouter, stack: Stack, req: RoutedRequest, res: Reply, out: Next): void {
    const way = new Walk(dialect, router, stack, req, res, out);
    const next = (error?: unknown): unknown => way.next(error);
    way.again = next;
    req.next = next;
    if (req.method === "OPTIONS") way.methods = [];
    req.baseUrl = way.parentUrl;
    req.originalUrl = req.originalUrl || (req.url as string);
    next();
}

/** What a request had before it came to a router, and how far it got there. */
export interface Underway {
    readonly again: Next;
    readonly oldBaseUrl: string | undefined;
    oldNext: Next | undefined;
    oldParams: Params | undefined;
    parentUrl: string;
    readonly index: number;
    readonly removed: string;
    readonly slashAdded: boolean;
    readonly sync: number;
}

export class Walk implements Found {
    // Found in the path by the layer that was matched last.
    path = "";
    params: Params = NOTHING;
    keys: readonly unknown[] = NONE;
    which = 0;

    readonly dialect: Dialect;
    readonly router: StackRouter;
    readonly stack: Stack;
    readonly req: RoutedRequest;
    readonly res: Reply;
    readonly out: Next;
    origin: string;

    // What the request had before, for when it goes on.
    oldBaseUrl: string | undefined;
    oldNext: Next | undefined;
    oldParams: Params | undefined;
    readonly oldMatched: unknown;
    parentUrl: string;

    /** The function that handlers are given. */
    again: Next = unset;
    /** Methods of the routes passed by, if the request asks for them. */
    methods: string[] | undefined;
    called: Called | undefined;
    /** Layers before this one are done with. */
    index = 0;
    /** What a mounted handler does not see of the path. */
    removed = "";
    slashAdded = false;
    sync = 0;

    // Where the plan led, for the path as it is now.
    plan: Plan | null = null;
    state: State | null = null;
    throughAt = 0;
    endsAt = 0;

    url: string | undefined;
    /** The path is another one than the plan was asked for. */
    moved = false;
    pathname: string | null | undefined;

    constructor(dialect: Dialect, router: StackRouter, stack: Stack, req: RoutedRequest, res: Reply, out: Next) {
        this.dialect = dialect;
        this.router = router;
        this.stack = stack;
        this.req = req;
        this.res = res;
        this.out = out;
        this.origin = originOf(req.url);
        this.oldBaseUrl = req.baseUrl;
        this.oldNext = req.next;
        this.oldParams = req.params;
        this.oldMatched = dialect.matchedBefore(req);
        this.parentUrl = req.baseUrl || "";
    }

    /** Takes over from another way, whose request began at a path without an origin. */
    resume(from: Underway): void {
        this.origin = "";
        Object.assign(this, from);
    }

    next(error: unknown): unknown {
        const { dialect, req } = this;
        if (error) dialect.saw(req, error);
        let pending: unknown = error === "route" ? null : error;
        if (this.slashAdded) {
            dialect.dropSlash(req, this.removed);
            this.slashAdded = false;
        }
        if (this.removed.length !== 0) {
            req.baseUrl = this.parentUrl;
            req.url = this.origin + this.removed + (req.url as string).slice(this.origin.length);
            this.removed = "";
        }
        const { layers } = this.stack;
        if (pending === "router") {
            setImmediate(finish, this, null);
            return;
        }
        if (this.index >= layers.length) {
            setImmediate(finish, this, pending);
            return;
        }
        if (++this.sync > SYNC_MAX) return setImmediate(this.again, error);
        const path = this.readPath();
        if (path == null) return finish(this, pending);

        let layer: StackLayer | undefined;
        let route: StackRoute | undefined;
        const plan = this.stack.plan();
        if (plan !== this.plan || this.moved) this.locate(plan, path);
        for (;;) {
            this.skip();
            layer = layers[this.index];
            if (layer === undefined) return finish(this, pending);
            let matches: boolean;
            try {
                matches = this.matches(layer, path);
            } catch (failure) {
                dialect.saw(req, failure);
                pending = pending || failure;
                matches = false;
            }
            this.index += 1;
            if (!matches) continue;
            route = layer.route;
            if (!route) break;
            // Routes are not for errors.
            if (pending) continue;
            const { method } = req;
            if (dialect.handles(route, method)) break;
            if (method === "OPTIONS" && this.methods !== undefined) dialect.addMethods(route, this.methods);
            if (method === "HEAD") break;
        }
        if (route) req.route = route;
        dialect.matched(req, layer, this);
        req.params = this.router.mergeParams ? merged(this.params, this.oldParams) : this.params;
        if (dialect.wantsParams(this.router, this, req)) {
            this.runParams(layer, route, pending, path);
        } else {
            this.run(layer, route, pending, this.path, path);
            this.sync = 0;
        }
        return undefined;
    }

    private runParams(layer: StackLayer, route: StackRoute | undefined, pending: unknown, path: string): void {
        const matched = this.path;
        this.called ??= {};
        this.dialect.processParams(this.router, layer, this.keys, this.called, this.req, this.res, (error) => {
            if (error) this.again(pending || error);
            else this.run(layer, route, pending, matched, path);
            this.sync = 0;
        });
    }

    private run(layer: StackLayer, route: StackRoute | undefined, pending: unknown, matched: string, path: string): void {
        const { dialect, req } = this;
        if (!route && matched.length !== 0 && !this.mount(matched, path)) {
            this.again(pending);
            return;
        }
        if (!route) dialect.debug?.("%s %s : %s", layer.name, matched, req.originalUrl);
        if (pending) dialect.handleError(layer, pending, req, this.res, this.again);
        else dialect.handleRequest(layer, req, this.res, this.again);
    }

    /** Takes the mount path off the URL; false if the path no longer starts with it. */
    private mount(matched: string, path: string): boolean {
        const { req, origin } = this;
        if (!path.startsWith(matched) || !this.dialect.endsMount(path[matched.length])) return false;
        this.dialect.debug?.("trim prefix (%s) from url %s", matched, req.url);
        this.removed = matched;
        req.url = origin + (req.url as string).slice(origin.length + matched.length);
        if (origin === "" && req.url[0] !== "/") {
            req.url = `/${req.url}`;
            this.slashAdded = true;
        }
        req.baseUrl = this.parentUrl + (matched.endsWith("/") ? matched.slice(0, -1) : matched);
        return true;
    }

    private readPath(): string | null | undefined {
        const { url } = this.req;
        if (this.url === undefined || url !== this.url) {
            this.pathname = pathnameOf(this.req);
            this.url = url;
            this.moved = true;
        }
        return this.pathname;
    }

    private matches(layer: StackLayer, path: string): boolean {
        const pattern = this.plan?.patterns[this.index] ?? null;
        if (pattern !== null && this.dialect.matchIsOwn()) return this.dialect.read(layer, pattern, path, this);
        return this.dialect.match(layer, path, this);
    }

    private locate(plan: Plan | null, path: string): void {
        this.plan = plan;
        this.moved = false;
        this.state = plan === null ? null : plan.find(path);
        this.throughAt = 0;
        this.endsAt = 0;
    }

    /** Goes to the next layer that may match. */
    private skip(): void {
        const { state, index } = this;
        if (state === null || !this.dialect.matchIsOwn()) return;
        const { through, ends } = state;
        let { throughAt, endsAt } = this;
        while (throughAt < through.length && (through[throughAt] as number) < index) throughAt += 1;
        while (endsAt < ends.length && (ends[endsAt] as number) < index) endsAt += 1;
        this.throughAt = throughAt;
        this.endsAt = endsAt;
        const one = throughAt < through.length ? (through[throughAt] as number) : this.stack.layers.length;
        const other = endsAt < ends.length ? (ends[endsAt] as number) : this.stack.layers.length;
        this.index = one < other ? one : other;
    }
}

const NOTHING: Params = {};

const unset: Next = () => undefined;

/** Gives the request back what it had, and hands it on. */
function finish(way: Walk, error: unknown): unknown {
    const { methods } = way;
    if (methods === undefined || error || methods.length === 0) return leave(way, error);
    way.dialect.answerOptions(way.res, methods, (failure) => leave(way, failure));
    return undefined;
}

function leave(way: Walk, error: unknown): unknown {
    const { req, out: fn } = way;
    req.baseUrl = way.oldBaseUrl as string;
    req.next = way.oldNext as Next;
    req.params = way.oldParams as Params;
    way.dialect.restoreMatched(req, way.oldMatched);
    // Who called a router without a way out is told so in Express's words.
    return fn.apply(undefined, [error]);
}
