import { type Libraries } from "./libraries";
import { type Application, type Request, type Response, type Router, type RouterConstructor, type Settings } from "./types";
import { type ViewConstructor } from "./view";

/** In what Express 4 and Express 5 differ, beyond single methods. */
export interface Dialect {
    readonly version: 4 | 5;
    readonly libraries: Libraries;
    readonly Router: RouterConstructor;
    readonly View: ViewConstructor;
    /** Settings that a new app has. */
    readonly defaults: Settings;
    /** The app's router, which is made when it is first asked for. */
    routerOf(app: Application): Router;
    /** Methods of responses as they were made, to see whether a program has replaced them. */
    readonly own: Pick<Response, "get" | "send" | "set" | "type">;
    /** A new map for engines, settings and cached views. */
    newMap(): Record<string, unknown>;
    /** A new object with what all of these have. */
    merge(...sources: (object | null | undefined)[]): Record<string, unknown>;
    /** What is known of query parsers when a program says `false`. */
    readonly noQuery: (() => object) | undefined;
    readonly extendedQuery: object;
    /** Logs an error that nobody handled. */
    errorText(error: unknown): unknown;
    /** Keeps the `listen` callback from being called twice, and tells it of errors. */
    readonly listenTellsErrors: boolean;
}

export type { Application, Request, Response };
