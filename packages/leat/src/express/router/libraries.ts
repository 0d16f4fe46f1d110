// What the patterns of paths come from, loaded when a program has a path that is more than text and whole segments.
import type * as path8 from "path-to-regexp";
import { lazy } from "../libraries";

/** A parameter of a pattern of Express 4. */
export interface Key {
    name: string | number;
    optional: boolean;
    offset: number;
}

type PathToRegExp = (path: unknown, keys: Key[], options: object) => RegExp;

/** path-to-regexp 8, which defines the patterns of Express 5. */
export const pathPatterns = lazy(() => require("path-to-regexp") as typeof path8);

/** path-to-regexp 0.1, which defines those of Express 4. */
export const oldPathPatterns = lazy(() => require("path-to-regexp-0.1") as PathToRegExp);
