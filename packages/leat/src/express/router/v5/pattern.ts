// Path patterns of Express 5: those of path-to-regexp 8.
import type { Token } from "path-to-regexp";
import { pathPatterns } from "../libraries";
import { decoded, EveryPath, FirstOf, type Found, type Pattern, PlainPattern, type PlainRules } from "../pattern";
import { REST, type Shape, shapeOf, VARIES } from "../shape";
import { type LayerOptions, type Params } from "../types";

/** Text and whole segments as parameters; the characters that mean more in a pattern are not in it. */
const PLAIN = /^(?:\/(?::[A-Za-z_$][\w$]*|[\w\-.~%@&=,;'$]*))+$/;
const PARAMETER = /:([^/]+)/g;
const GROUP = /\((?:\?<(.*?)>)?(?!\?)/g;
const SLASHES_AT_END = /\/+$/;
/** Optional groups double the outlines of a pattern; one with more is tried on every path. */
const SHAPES_MAX = 64;

const newParams = (): Params => Object.create(null) as Params;

/** The pattern of a layer's path, which throws what path-to-regexp throws. */
export function patternOf(path: unknown, options: LayerOptions): { pattern: Pattern; matchers: Matcher[] } {
    if (path === "/" && !options.sensitive && !options.strict && options.end === undefined) return { pattern: ofHandlers, matchers: [matchHandlers] };
    const each = Array.isArray(path) ? path.map((one) => single(one, options)) : [single(path, options)];
    const matchers = each.map(matcherOf);
    if (path === "/" && options.end === false) return { pattern: everyPath, matchers };
    return { pattern: each.length === 1 ? (each[0] as Pattern) : new FirstOf(each), matchers };
}

export type Matcher = (path: string) => { path: string; params: Params } | false;

/** A pattern in the form in which layers show theirs. */
function matcherOf(pattern: Pattern): Matcher {
    return function match(path) {
        const found: Found = { path: "", params: {}, keys: [], which: 0 };
        return pattern.read(path, found) && { path: found.path, params: found.params };
    };
}

/** What the layers inside of routes have, which are as many as there are handlers, and are never asked. */
const ofHandlers = single("/", {});
const everyPath = new EveryPath();
const matchHandlers = matcherOf(ofHandlers);

function single(path: unknown, options: LayerOptions): Pattern {
    if (path instanceof RegExp) return new Expression(path);
    const text = options.strict || path === "/" ? path : String(path).replace(SLASHES_AT_END, "");
    const end = options.end ?? true;
    return (typeof text === "string" ? plain(text, end, options) : null) ?? new Library(text, end, options);
}

function plain(text: string, end: boolean, options: LayerOptions): Pattern | null {
    // "/" alone as the start of a path is a pattern that only a path with nothing behind it matches.
    if (!PLAIN.test(text) || (text === "/" && !end)) return null;
    const names = [...text.matchAll(PARAMETER)].map((match) => match[1] as string);
    const shape = shapeOf(text.replace(PARAMETER, VARIES), !end);
    if (shape === null || new Set(names).size !== names.length) return null;
    const rules: PlainRules = { sensitive: options.sensitive ?? false, end, slash: !options.strict, slashInside: false, newParams };
    return new PlainPattern(shape, text.replace(PARAMETER, VARIES).split(VARIES), names, names, rules);
}

/** What path-to-regexp makes of a path. */
class Library implements Pattern {
    readonly shapes: readonly Shape[] | null;
    readonly #match: Matcher;

    constructor(path: unknown, end: boolean, options: LayerOptions) {
        const library = pathPatterns();
        this.#match = library.match(path as string, {
            sensitive: options.sensitive ?? false,
            end,
            trailing: !options.strict,
            decode: decoded,
        });
        this.shapes = typeof path === "string" ? outlines(library.parse(path).tokens, !end) : null;
    }

    read(path: string, found: Found): boolean {
        const match = this.#match(path);
        if (!match) return false;
        found.path = match.path;
        found.params = match.params;
        found.keys = Object.keys(match.params);
        found.which = 0;
        return true;
    }
}

/** A program's own regular expression: groups are parameters, by name or number. */
class Expression implements Pattern {
    readonly shapes = null;
    readonly #expression: RegExp;
    readonly #names: (string | number)[];

    constructor(expression: RegExp) {
        this.#expression = expression;
        let number = 0;
        this.#names = [...expression.source.matchAll(GROUP)].map((match) => match[1] || number++);
    }

    read(path: string, found: Found): boolean {
        const match = this.#expression.exec(path);
        if (!match) return false;
        const params: Params = {};
        for (let index = 1; index < match.length; index++) {
            // An expression may have more groups than were counted, and what they caught has no name.
            const name = this.#names[index - 1] as string;
            const value = match[index];
            if (value !== undefined) params[name] = decoded(value);
        }
        found.path = match[0];
        found.params = params;
        found.keys = Object.keys(params);
        found.which = 0;
        return true;
    }
}

function outlines(tokens: readonly Token[], open: boolean): Shape[] | null {
    const all: Shape[] = [];
    for (const text of spelled(tokens)) {
        const shape = shapeOf(text, open);
        if (shape === null) return null;
        all.push(shape);
    }
    return all.length > SHAPES_MAX ? null : all;
}

/** The outlines of a pattern with each of its optional groups and without. */
function spelled(tokens: readonly Token[]): string[] {
    let all = [""];
    for (const token of tokens) {
        if (all.length > SHAPES_MAX) break;
        if (token.type === "text") all = all.map((text) => text + token.value);
        else if (token.type === "param") all = all.map((text) => text + VARIES);
        else if (token.type === "wildcard") all = all.map((text) => text + REST);
        else all = all.flatMap((text) => [...spelled(token.tokens).map((inner) => text + inner), text]);
    }
    return all;
}
