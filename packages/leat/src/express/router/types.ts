// Requests, replies and handlers as a router sees them: any object will do that has what node:http's have.

export type Next = (error?: unknown) => unknown;

export type Params = Record<string, unknown>;

export interface RoutedRequest {
    method?: string;
    url?: string;
    originalUrl?: string;
    baseUrl?: string;
    params?: Params;
    route?: unknown;
    next?: Next;
    /** What `parseurl` keeps, and middleware reads. */
    _parsedUrl?: unknown;
    [key: symbol]: unknown;
}

/** A ServerResponse, which a router only hands on unless it answers OPTIONS. */
export type Reply = object;

/** A handler; one that declares four parameters is called with errors, and with nothing else. */
export type Handle = (req: RoutedRequest, res: Reply, next: Next) => unknown;
export type HandleError = (error: unknown, req: RoutedRequest, res: Reply, next: Next) => unknown;

/** What `router.param` takes. */
export type ParamCallback = (req: RoutedRequest, res: Reply, next: Next, value: unknown, name: string) => unknown;

export interface RouterOptions {
    caseSensitive?: boolean | undefined;
    mergeParams?: boolean | undefined;
    strict?: boolean | undefined;
}

export interface LayerOptions {
    sensitive?: boolean | undefined;
    strict?: boolean | undefined;
    end?: boolean | undefined;
}

/** An entry of a stack. Tools put their own objects there too, so nothing is known of one but this. */
export interface StackLayer {
    handle: Handle;
    name: string;
    route?: StackRoute | undefined;
    method?: string | undefined;
    match(path: string): unknown;
}

export interface StackRoute {
    path: unknown;
    stack: StackLayer[];
    methods: Record<string, boolean | undefined>;
}

/** What every router has, of either dialect. */
export interface StackRouter {
    stack: StackLayer[];
    params: Record<string, ParamCallback[] | undefined>;
    mergeParams?: boolean | undefined;
    caseSensitive?: boolean | undefined;
    strict?: boolean | undefined;
}
