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

const newest = lazy(() => require("path-to-regexp-0.1") as PathToRegExp);
/** Those that programs brought with their Express, in the order in which they came. */
const brought: PathToRegExp[] = [];
/** Those of them that no path has needed yet. */
const coming: (() => unknown)[] = [];

/** Has the patterns of Express 4 made by the path-to-regexp that `load` gives, if it gives one. */
export function bringOldPathPatterns(load: () => unknown): void {
    coming.push(load);
}

function makers(): readonly PathToRegExp[] {
    for (const load of coming.splice(0)) {
        try {
            const made = load();
            if (typeof made === "function") brought.push(made as PathToRegExp);
        } catch {
            // A copy of Express without its libraries, which Leat does not need.
        }
    }
    return brought.length === 0 ? [newest()] : brought;
}

/**
 * A path of Express 4 as an expression: path-to-regexp 0.1 defines it.
 *
 * Its releases read the same path differently ("/:name-:id" lets only the older ones find a dash in a value) and newer ones refuse
 * some that older ones take, so a program's own goes first. Routers do not know which of several copies of Express they
 * are for; a path that the first one refuses was written for another.
 */
export function oldPathPattern(path: unknown, options: object): { regexp: RegExp; keys: Key[] } {
    let refusal: { error: unknown } | undefined;
    for (const make of makers()) {
        const keys: Key[] = [];
        try {
            return { regexp: make(path, keys, options), keys };
        } catch (error) {
            refusal ??= { error };
        }
    }
    throw refusal?.error;
}
