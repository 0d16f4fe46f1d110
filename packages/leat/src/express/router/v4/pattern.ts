// Path patterns of Express 4: those of path-to-regexp 0.1, whose strings are half regular expressions.
import { type Key, oldPathPattern } from "../libraries";
import { decoded, EveryPath, type Found, type Pattern, PlainPattern, type PlainRules } from "../pattern";
import { REST, type Shape, shapeOf, VARIES } from "../shape";
import { type LayerOptions, type Params } from "../types";

/** Text and whole segments as parameters; the characters that mean more in a pattern or an expression are not in it. */
const PLAIN = /^(?:\/(?::\w+|[\w\-.~%@&=,;']*))+$/;
/** The same, with parameters and stars inside segments and optional ones. */
const OUTLINED = /^(?:\/(?:(?:[\w\-.~%@&=,;'*]|(?<=[^./]):\w+|(?<=\/):\w+)(?:(?<=[^/]:\w+)\?)?)*)+$/;
/** An optional segment, which may lack with its slash. */
const OPTIONAL = /\/:\w+\?(?=\/|$)/g;
/** What stands before a parameter with an expression of its own, which may match slashes. */
const RESTRICTED = /^((?:\/[\w\-.~%@&=,;']*|\/:\w+)*\/):\w+\([^()]*\)[*?+]?(?:\/(?:[\w\-.~%@&=,;'/:*?]|\([^()]*\))*)?$/;
const PARAMETER = /:(\w+)\??/g;
const SHAPES_MAX = 16;

const newParams = (): Params => ({});

/** A layer's path as its expression, with the keys of its groups. */
export interface Compiled {
    regexp: RegExp & { fast_star?: boolean; fast_slash?: boolean };
    keys: Key[];
    pattern: Pattern;
}

/** Throws what path-to-regexp throws. */
export function compiled(path: unknown, options: LayerOptions): Compiled {
    const { keys, regexp }: Omit<Compiled, "pattern"> = oldPathPattern(path, options);
    regexp.fast_star = path === "*";
    regexp.fast_slash = path === "/" && options.end === false;
    return { regexp, keys, pattern: patternOf(path, options, regexp, keys) };
}

function patternOf(path: unknown, options: LayerOptions, regexp: Compiled["regexp"], keys: Key[]): Pattern {
    if (regexp.fast_slash) return everyPath;
    if (path === "/" && !options.sensitive && !options.strict) return ofHandlers;
    if (regexp.fast_star) return new Star(keys);
    return (typeof path === "string" ? plain(path, options, keys) : null) ?? new Expression(regexp, keys, outlinesOf(path, options.end === false));
}

function plain(path: string, options: LayerOptions, keys: Key[]): Pattern | null {
    const open = options.end === false;
    if (!PLAIN.test(path) || (open && options.strict)) return null;
    const names = keys.map((key) => String(key.name));
    // A name that objects know already is left to the expression.
    if (new Set(names).size !== names.length || names.some((name) => name in {})) return null;
    const text = options.strict || !path.endsWith("/") ? path : path.slice(0, -1);
    const shape = shapeOf(path.replace(PARAMETER, VARIES), open);
    if (shape === null) return null;
    const rules: PlainRules = { sensitive: options.sensitive ?? false, end: !open, slash: !options.strict, slashInside: true, newParams };
    return new PlainPattern(shape, text.replace(PARAMETER, VARIES).split(VARIES), names, keys, rules);
}

const everyPath = new EveryPath();
/** What the layers inside of routes have, which are as many as there are handlers, and are never asked. */
const ofHandlers = plain("/", {}, []) ?? everyPath;

/** "*" alone: the whole path is its parameter. */
class Star implements Pattern {
    readonly shapes = null;
    readonly #keys: readonly Key[];

    constructor(keys: readonly Key[]) {
        this.#keys = keys;
    }

    read(path: string, found: Found): boolean {
        found.params = { 0: decoded(path) };
        found.path = path;
        found.keys = this.#keys;
        found.which = 0;
        return true;
    }
}

/** What path-to-regexp made of a path. */
class Expression implements Pattern {
    readonly shapes: readonly Shape[] | null;
    readonly #regexp: RegExp;
    readonly #keys: readonly Key[];

    constructor(regexp: RegExp, keys: readonly Key[], shapes: readonly Shape[] | null) {
        this.#regexp = regexp;
        this.#keys = keys;
        this.shapes = shapes;
    }

    read(path: string, found: Found): boolean {
        const match = this.#regexp.exec(path);
        if (!match) return false;
        found.params = paramsOf(match, this.#keys);
        found.path = match[0];
        found.keys = this.#keys;
        found.which = 0;
        return true;
    }
}

/**
 * The parameters of a match; one that several groups name keeps what one of them caught. Old releases such as 0.1.3 had
 * no keys for groups without a name.
 */
export function paramsOf(match: RegExpExecArray, keys: readonly Key[]): Params {
    const params: Params = {};
    for (let index = 1; index < match.length; index++) {
        const name = keys[index - 1]?.name ?? index - 1 - keys.length;
        const caught = match[index];
        const value = caught === undefined ? undefined : decoded(caught);
        if (value !== undefined || !Object.hasOwn(params, name)) params[name] = value;
    }
    return params;
}

function outlinesOf(path: unknown, open: boolean): Shape[] | null {
    if (Array.isArray(path)) {
        const all: Shape[] = [];
        for (const one of path) {
            const shapes = outlinesOf(one, open);
            if (shapes === null) return null;
            all.push(...shapes);
        }
        // No pattern at all is an empty expression, which matches everything.
        return all.length === 0 ? null : all;
    }
    if (typeof path !== "string") return null;
    const restricted = RESTRICTED.exec(path);
    const texts = restricted === null ? optionals(path) : [`${restricted[1] ?? ""}*`];
    const all: Shape[] = [];
    for (const text of texts ?? [""]) {
        const shape = OUTLINED.test(text) ? shapeOf(text.replaceAll("*", REST).replace(PARAMETER, VARIES), open) : null;
        if (shape === null) return null;
        all.push(shape);
    }
    return all;
}

/** The pattern with each of its optional segments and without; null if they are too many. */
function optionals(path: string): string[] | null {
    let all = [""];
    let at = 0;
    for (const match of path.matchAll(OPTIONAL)) {
        const before = path.slice(at, match.index);
        all = all.flatMap((text) => [text + before + match[0].slice(0, -1), text + before]);
        at = match.index + match[0].length;
        if (all.length > SHAPES_MAX) return null;
    }
    return all.map((text) => text + path.slice(at) || "/");
}
