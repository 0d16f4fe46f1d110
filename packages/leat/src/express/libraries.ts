// The libraries whose exact semantics are Express's, each loaded when it is first used: an app that only answers JSON
// loads none of them. `v4/libraries.ts` has the versions that Express 4 uses.
import { type IncomingMessage, type ServerResponse } from "node:http";
import { dirname, resolve } from "node:path";
import { type Transform } from "node:stream";
import { type Next, type Middleware } from "./types";

export interface Accepts {
    types(...types: unknown[]): unknown;
    encodings(...encodings: unknown[]): unknown;
    charsets(...charsets: unknown[]): unknown;
    languages(...languages: unknown[]): unknown;
}

export type Parser = (options?: unknown) => Middleware;

export interface BodyParser {
    json: Parser;
    raw: Parser;
    text: Parser;
    urlencoded: Parser;
}

export interface ParsedType {
    type: string;
    parameters: Record<string, string>;
}

/** A file on its way, as the library `send` has it. */
export interface SentFile extends Transform {
    pipe<T>(res: T): T;
}

type Trust = (address: unknown, hop: number) => boolean;

/** Loads a library once. */
export type Lazy<T> = () => T;

export interface Libraries {
    accepts: Lazy<(req: IncomingMessage) => Accepts>;
    bodyParser: Lazy<BodyParser>;
    /** The header value for `filename`. */
    contentDisposition: Lazy<(filename?: string) => string>;
    contentType: Lazy<{ parse(type: string): ParsedType; format(type: ParsedType): string }>;
    cookie: Lazy<{ serialize(name: string, value: string, options: object): string }>;
    cookieSignature: Lazy<{ sign(value: string, secret: unknown): string }>;
    depd: Lazy<(namespace: string) => (message: string) => void>;
    encodeUrl: Lazy<(url: string) => string>;
    escapeHtml: Lazy<(text: string) => string>;
    finalHandler: Lazy<(req: IncomingMessage, res: ServerResponse, options: object) => Next>;
    fresh: Lazy<(request: object, response: object) => boolean>;
    httpErrors: Lazy<(status: number, properties: object) => Error>;
    mime: Lazy<Mime>;
    parseUrl: Lazy<(req: IncomingMessage) => { pathname: string | null; query: string | null } | undefined>;
    onFinished: Lazy<(message: ServerResponse, listener: (error?: Error & { code?: string }) => void) => void>;
    proxyAddr: Lazy<{ (req: IncomingMessage, trust: Trust): string; all(req: IncomingMessage, trust: Trust): string[]; compile(value: unknown): Trust }>;
    qs: Lazy<{ parse(text: unknown, options?: object): object }>;
    rangeParser: Lazy<(size: number, header: string, options?: object) => unknown>;
    send: Lazy<(req: IncomingMessage, path: string, options: object) => SentFile>;
    serveStatic: Lazy<((root: string, options?: object) => Middleware) & { mime?: object }>;
    statuses: Lazy<{ message: Record<number, string | undefined> }>;
    typeIs: Lazy<(req: IncomingMessage, types: unknown[]) => string | false>;
    vary: Lazy<(res: ServerResponse, field: unknown) => void>;
}

/** What is known of media types. */
export interface Mime {
    /** The type of a file name or extension, if there is one. */
    lookup(name: string): string | false;
    /** The header value for a type or an extension. */
    contentType(type: string): string | false;
}

/** A `load` that runs once. */
export function lazy<T>(load: () => T): Lazy<T> {
    let loaded: T | undefined;
    return () => (loaded ??= load());
}

export const libraries: Libraries = {
    accepts: lazy(() => require("accepts") as never),
    bodyParser: lazy(() => require("body-parser") as never),
    contentDisposition: lazy(() => (require("content-disposition") as { create: never }).create),
    contentType: lazy(() => require("content-type") as never),
    cookie: lazy(() => require("cookie") as never),
    cookieSignature: lazy(() => require("cookie-signature") as never),
    depd: lazy(() => require("depd") as never),
    encodeUrl: lazy(() => require("encodeurl") as never),
    escapeHtml: lazy(() => require("escape-html") as never),
    finalHandler: lazy(() => require("finalhandler") as never),
    fresh: lazy(() => require("fresh") as never),
    httpErrors: lazy(() => require("http-errors") as never),
    mime: lazy(() => require("mime-types") as never),
    parseUrl: lazy(() => require("parseurl") as never),
    onFinished: lazy(() => require("on-finished") as never),
    proxyAddr: lazy(() => require("proxy-addr") as never),
    qs: lazy(() => require("qs") as never),
    rangeParser: lazy(() => require("range-parser") as never),
    send: lazy(() => require("send") as never),
    serveStatic: lazy(() => require("serve-static") as never),
    statuses: lazy(() => require("statuses") as never),
    typeIs: lazy(() => require("type-is") as never),
    vary: lazy(() => require("vary") as never),
};

/** Whether deprecations were silenced when this was loaded, which is when Express looks. */
const silenced = process.noDeprecation;

/**
 * What tells deprecations, made by `make` at first use. `make` has to call the library itself: that one tells of the first
 * caller outside of the file that made it, and remembers what it told.
 */
export function deprecationsOf(make: () => (message: string) => void): Lazy<(message: string) => void> {
    return lazy(() => {
        const now = process.noDeprecation;
        process.noDeprecation = silenced as boolean;
        try {
            return make();
        } finally {
            process.noDeprecation = now as boolean;
        }
    });
}

type Debug = (format: string, ...values: unknown[]) => void;

/** Express's own log, which `DEBUG=express:*` turns on. */
export function debugOf(namespace: string): Debug {
    if (!process.env["DEBUG"]) return () => undefined;
    return (require("debug") as (namespace: string) => Debug)(namespace);
}

/**
 * Loads a view engine by its package's name: from where Leat is installed, as Express would, or else from the program's
 * own folder, since Leat may be linked into it.
 */
export function loadEngine(name: string): unknown {
    try {
        return require(name) as unknown;
    } catch (error) {
        // A program that is an ES module is no main module.
        const program = process.argv[1] === undefined ? [] : [dirname(resolve(process.argv[1]))];
        const paths = [...(require.main?.paths ?? []), ...program, process.cwd()];
        // Built-in modules of Leat's own host require other built-ins alone.
        if (typeof require.resolve !== "function") {
            const { createRequire } = require("node:module") as { createRequire: (from: string) => (name: string) => unknown };
            return createRequire(resolve(paths[0] as string, "noop.js"))(name);
        }
        let found: string;
        try {
            found = require.resolve(name, { paths });
        } catch {
            throw error;
        }
        return require(found) as unknown;
    }
}
