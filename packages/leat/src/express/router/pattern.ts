// What a layer matches: a path pattern as something that reads a path, and its outline for the plan.
import { lower } from "./branches";
import { type Shape } from "./shape";
import { type Params } from "./types";

/** What a pattern found in a path. */
export interface Found {
    /** The part of the path that matched. */
    path: string;
    params: Params;
    /** Names of the parameters, in the dialect's form. */
    keys: readonly unknown[];
    /** Which of a layer's patterns it was. */
    which: number;
}

export interface Pattern {
    /** Outlines of all paths that can match; null if any might. */
    readonly shapes: readonly Shape[] | null;
    /** Whether `path` matches, and if it does, into `found` what was found. Throws what decoding a parameter throws. */
    read(path: string, found: Found): boolean;
}

/** How a dialect fills in what plain patterns leave open. */
export interface PlainRules {
    readonly sensitive: boolean;
    /** The pattern is a whole path; otherwise the start of one, up to a slash. */
    readonly end: boolean;
    /** A path may have one slash more. */
    readonly slash: boolean;
    /** Before another slash too (Express 4), not only at the end. */
    readonly slashInside: boolean;
    newParams(): Params;
}

const NONE: readonly never[] = [];
const SLASH = 0x2f;

/** The middleware's default path: everything matches, and nothing is taken off the path. */
export class EveryPath implements Pattern {
    readonly shapes = null;

    read(_path: string, found: Found): boolean {
        found.path = "";
        found.params = {};
        found.keys = NONE;
        found.which = 0;
        return true;
    }
}

/** Values between a match and the parameters made of it; nothing runs in between that could match another path. */
const values: string[] = [];

/**
 * Plain text and whole segments as parameters, such as `/users/:id/posts`, read without a regular expression.
 *
 * Cost of a match: the parameters' object and one string each.
 */
export class PlainPattern implements Pattern {
    readonly shapes: readonly Shape[];
    /** What stands before each parameter, and after the last one; in lower case unless case matters. */
    readonly #texts: readonly string[];
    readonly #names: readonly string[];
    readonly #keys: readonly unknown[];
    readonly #rules: PlainRules;
    /** The whole path, if it has no parameters and must match to its end. */
    readonly whole: string | undefined;

    constructor(shape: Shape, texts: readonly string[], names: readonly string[], keys: readonly unknown[], rules: PlainRules) {
        this.shapes = [shape];
        this.#texts = rules.sensitive ? texts : texts.map((text) => text.toLowerCase());
        this.#names = names;
        this.#keys = keys;
        this.#rules = rules;
        this.whole = rules.end && names.length === 0 ? texts[0] : undefined;
    }

    read(path: string, found: Found): boolean {
        const rules = this.#rules;
        found.which = 0;
        if (path === this.whole) {
            found.path = path;
            found.params = rules.newParams();
            found.keys = this.#keys;
            return true;
        }
        const names = this.#names;
        const texts = this.#texts;
        const count = names.length;
        let value = "";
        let at = after(path, 0, texts[0] as string, rules.sensitive);
        for (let index = 0; index < count; index++) {
            if (at === -1) return false;
            let end = path.indexOf("/", at);
            if (end === -1) end = path.length;
            if (end === at) return false;
            if (count === 1) value = path.substring(at, end);
            else values[index] = path.substring(at, end);
            at = after(path, end, texts[index + 1] as string, rules.sensitive);
        }
        if (at === -1) return false;
        at = this.#end(path, at);
        if (at === -1) return false;
        const params = rules.newParams();
        if (count === 1) params[names[0] as string] = decoded(value);
        else for (let index = 0; index < count; index++) params[names[index] as string] = decoded(values[index] as string);
        found.path = at === path.length ? path : path.substring(0, at);
        found.params = params;
        found.keys = this.#keys;
        return true;
    }

    /** Where the match ends that came as far as `at`, or -1. */
    #end(path: string, at: number): number {
        if (at === path.length) return at;
        const rules = this.#rules;
        if (path.charCodeAt(at) !== SLASH) return -1;
        const last = at + 1 === path.length;
        if (rules.end) return rules.slash && last ? at + 1 : -1;
        if (!rules.slash) return at;
        return last || (rules.slashInside && path.charCodeAt(at + 1) === SLASH) ? at + 1 : at;
    }
}

/** The first of several patterns that matches. */
export class FirstOf implements Pattern {
    readonly shapes: readonly Shape[] | null;
    readonly #patterns: readonly Pattern[];

    constructor(patterns: readonly Pattern[]) {
        this.#patterns = patterns;
        this.shapes = patterns.every((pattern) => pattern.shapes !== null) ? patterns.flatMap((pattern) => pattern.shapes ?? []) : null;
    }

    read(path: string, found: Found): boolean {
        for (const [index, pattern] of this.#patterns.entries()) {
            if (!pattern.read(path, found)) continue;
            found.which = index;
            return true;
        }
        return false;
    }
}

/** Where `path` goes on behind `text` at `at`, or -1. Only ASCII letters have two cases, as in a plain pattern's text. */
function after(path: string, at: number, text: string, sensitive: boolean): number {
    const end = at + text.length;
    if (end > path.length) return -1;
    for (let index = 0; index < text.length; index++) {
        const code = path.charCodeAt(at + index);
        if ((sensitive ? code : lower(code)) !== text.charCodeAt(index)) return -1;
    }
    return end;
}

/** A parameter's value without its percent encoding; what cannot be decoded is the peer's mistake. */
export function decoded(value: string): string {
    if (!value.includes("%")) return value;
    try {
        return decodeURIComponent(value);
    } catch (error) {
        if (error instanceof URIError) {
            error.message = `Failed to decode param '${value}'`;
            Object.assign(error, { statusCode: 400, status: 400 });
        }
        throw error;
    }
}
