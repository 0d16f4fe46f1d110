// In what the routers of Express 4 and Express 5 differ, as far as a walk meets it.
import { type Found, type Pattern } from "./pattern";
import { type Next, type Reply, type RoutedRequest, type StackLayer, type StackRoute, type StackRouter } from "./types";

/** What a router's param callbacks were called with for this request, by the parameter's name. */
export type Called = Record<string, { error: unknown; match: unknown; value: unknown } | undefined>;

export interface Dialect {
    /** What `DEBUG` turns on; undefined unless it did. */
    readonly debug: ((format: string, ...values: unknown[]) => void) | undefined;
    /** How the plan knows a layer; null if only the layer's own `match` does. */
    patternOf(layer: StackLayer): Pattern | null;
    /** Whether `match` is still ours, so that a plan's pattern may stand for it. */
    matchIsOwn(): boolean;
    /** Matches by the layer's pattern, as its `match` would. */
    read(layer: StackLayer, pattern: Pattern, path: string, found: Found): boolean;
    /** Matches by the layer's own `match`, whatever that is. */
    match(layer: StackLayer, path: string, found: Found): boolean;

    /** Whether a route answers a method. */
    handles(route: StackRoute, method: string | undefined): boolean;
    /** Adds the methods that a route names, for an answer to OPTIONS. */
    addMethods(route: StackRoute, methods: string[]): void;
    /** Answers OPTIONS; what is thrown goes to `failed`. */
    answerOptions(res: Reply, methods: readonly string[], failed: Next): void;

    handleRequest(layer: StackLayer, req: RoutedRequest, res: Reply, next: Next): void;
    handleError(layer: StackLayer, error: unknown, req: RoutedRequest, res: Reply, next: Next): void;

    /** Whether any callback of `router.param` may want to see what was matched. */
    wantsParams(router: StackRouter, found: Found, req: RoutedRequest): boolean;
    /** Calls them, then `done`. */
    processParams(router: StackRouter, layer: StackLayer, keys: readonly unknown[], called: Called, req: RoutedRequest, res: Reply, done: Next): void;

    /** Takes away the slash that was put before a mounted path. */
    dropSlash(req: RoutedRequest, removed: string): void;
    /** Whether a mount path may end before this character. */
    endsMount(character: string | undefined): boolean;

    /** Remembers an error for who traces requests. */
    saw(req: RoutedRequest, error: unknown): void;
    /** Names the pattern that matched, for who traces requests. */
    matched(req: RoutedRequest, layer: StackLayer, found: Found): void;
    /** The pattern named before, and its name again when a router is left. */
    matchedBefore(req: RoutedRequest): unknown;
    restoreMatched(req: RoutedRequest, before: unknown): void;
}
