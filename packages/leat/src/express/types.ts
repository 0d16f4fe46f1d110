// The objects of an app as its own code sees them. Users get the types of `leat/express`, which say more.
import { type EventEmitter } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse } from "node:http";

export type Next = (error?: unknown) => void;
export type Middleware = (req: Request, res: Response, next: Next) => unknown;
export type Settings = Record<string, unknown>;
export type RenderCallback = (error: unknown, text?: string) => void;

export interface Request extends IncomingMessage {
    app: Application;
    res: Response;
    next: Next;
    url: string;
    method: string;
    originalUrl?: string;
    params?: Record<string, string | undefined>;
    body?: unknown;
    query: Record<string, unknown>;
    secret?: unknown;
    readonly host: string | undefined;
    readonly hostname: string | undefined;
    readonly protocol: string;
    readonly fresh: boolean;
    get(name: string): string | string[] | undefined;
    accepts(...types: unknown[]): unknown;
    acceptsEncodings(...encodings: unknown[]): unknown;
    acceptsCharsets(...charsets: unknown[]): unknown;
    acceptsLanguages(...languages: unknown[]): unknown;
}

export interface Response extends ServerResponse {
    app: Application;
    req: Request;
    locals: Record<string, unknown>;
    get(field: string): number | string | string[] | undefined;
    set(field: unknown, value?: unknown): this;
    type(type: string): this;
    status(code: number): this;
    send(body?: unknown): this;
    json(body?: unknown): this;
    append(field: string, value: unknown): this;
    vary(field: unknown): this;
    format(choices: Choices): this;
    location(url: unknown): this;
    cookie(name: string, value: unknown, options?: object): this;
    sendFile(path: string, options?: unknown, callback?: unknown): unknown;
}

export type Choices = Record<string, (req: Request, res: Response, next: Next) => void>;

/** A router of either dialect, as far as an app needs it. */
export interface Router {
    handle(req: Request, res: Response, next: Next): void;
    use(path: unknown, ...fns: unknown[]): unknown;
    route(path: unknown): Record<string, (...fns: unknown[]) => unknown>;
    param(name: string, fn: unknown): unknown;
}

/** What makes routers. */
export interface RouterConstructor {
    new (options?: object): Router;
    (options?: object): Router;
    Route?: unknown;
}

export interface Application extends EventEmitter {
    (req: Request, res: Response, next?: Next): void;
    cache: Record<string, unknown>;
    engines: Record<string, unknown>;
    settings: Settings;
    locals: Record<string, unknown>;
    mountpath: string | string[];
    parent?: Application;
    request: object;
    response: object;
    readonly router: Router;
    /** Express 4's name for it; undefined until there is one. */
    _router?: Router;
    init(): void;
    defaultConfiguration(): void;
    handle(req: Request, res: Response, next?: Next): void;
    use(...args: unknown[]): this;
    route(path: unknown): ReturnType<Router["route"]>;
    param(name: string | string[], fn: unknown): this;
    engine(extension: string, fn: unknown): this;
    set(name: string, value?: unknown): unknown;
    get(name: string, ...fns: unknown[]): unknown;
    path(): string;
    enabled(name: string): boolean;
    disabled(name: string): boolean;
    enable(name: string): this;
    disable(name: string): this;
    render(name: string, options: unknown, done?: RenderCallback): void;
    listen(...args: unknown[]): Server;
}
