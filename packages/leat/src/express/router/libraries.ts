// What a router uses from npm, loaded when it is first needed.
import type * as path8 from "path-to-regexp";

/** A parameter of a pattern of Express 4. */
export interface Key {
    name: string | number;
    optional: boolean;
    offset: number;
}

type PathToRegExp = (path: unknown, keys: Key[], options: object) => RegExp;
type Debug = (format: string, ...values: unknown[]) => void;

let patterns5: typeof path8 | undefined;
let patterns4: PathToRegExp | undefined;

/* eslint-disable @typescript-eslint/no-require-imports, no-restricted-syntax -- A program that only has plain paths loads none of them. */

/** path-to-regexp 8, which defines the patterns of Express 5. */
export function pathPatterns(): typeof path8 {
    return (patterns5 ??= require("path-to-regexp") as typeof path8);
}

/** path-to-regexp 0.1, which defines those of Express 4. */
export function oldPathPattern(path: unknown, keys: Key[], options: object): RegExp {
    patterns4 ??= require("path-to-regexp-0.1") as PathToRegExp;
    return patterns4(path, keys, options);
}

/** Says once a place that a program uses what will go. */
export function deprecate(namespace: string, message: string): void {
    (require("depd") as (namespace: string) => (message: string) => void)(namespace)(message);
}

/** The log that `DEBUG=router*` and `DEBUG=express:*` turn on; undefined when nobody asked for one. */
export function debugOf(namespace: string): Debug | undefined {
    if (!process.env["DEBUG"]) return undefined;
    return (require("debug") as (namespace: string) => Debug)(namespace);
}
