// From a path to the layers of a stack that may match it, in the order of the stack. `docs/design/express-router.md` has the
// reasons for its form.
import { Branches, HASH_START, hashed, lower } from "./branches";
import { EveryPath, type Pattern, PlainPattern } from "./pattern";
import { ANY } from "./shape";
import { type Handle } from "./types";

/**
 * More than any real stack makes. A stack beyond them is walked layer by layer, as if there were no plan: patterns such as
 * `/:a/x`, `/b/:c` multiply where they overlap.
 */
const STATES_MAX = 50_000;
const ENTRIES_MAX = 1_000_000;

/** Fewer layers are tried as fast as a path is followed. */
const LAYERS_MIN = 4;

const SLASH = 0x2f;
const NOBODY: readonly number[] = [];

/** Where a path has led so far. */
export interface State {
    /** Layers that match whatever follows, by their place in the stack. */
    readonly through: readonly number[];
    /** Layers that match a path that ends here. */
    readonly ends: readonly number[];
    /** Where a segment leads that a pattern names. */
    named: Branches<State> | undefined;
    /** Where any other segment leads; undefined if that is nowhere, and only `through` is left. */
    readonly other: State | undefined;
    /** The layers of both lists in the order of the stack, once they were asked for. */
    order: readonly number[] | undefined;
}

/** What is known of a layer before a request comes. */
export interface Step {
    readonly pattern: Pattern;
    readonly isEvery: boolean;
    /** The only path that it matches without a look at its parts. */
    readonly whole: string | undefined;
    /** What a route's layer calls, which is the route. */
    readonly handle: Handle | undefined;
    /** What it called last, and how many parameters that declares: for V8 to ask a function is a call out of JavaScript. */
    runs: Handle | undefined;
    arity: number;
}

export class Plan {
    /** What each layer's path is matched by; null for a layer that only its own `match` knows. */
    readonly patterns: readonly (Pattern | null)[];
    /** The layers, if all have patterns; empty otherwise. */
    readonly steps: readonly Step[];
    readonly isWhole: boolean;
    readonly #all: readonly number[];
    readonly #root: State | null;

    constructor(patterns: readonly (Pattern | null)[], handles: readonly (Handle | undefined)[], root: State | null) {
        this.patterns = patterns;
        this.steps = patterns.flatMap((pattern, index) => (pattern === null ? [] : stepOf(pattern, handles[index])));
        this.isWhole = this.steps.length === patterns.length;
        this.#all = [...patterns.keys()];
        this.#root = root;
    }

    /** The places of the layers that may match a path that starts with a slash, in their order. */
    order(path: string): readonly number[] {
        const root = this.#root;
        if (root === null) return this.#all;
        const state = followed(root, path);
        return (state.order ??= ordered(state));
    }

    /** The layers for a path; null if all are to be tried: few layers, too large a trie, or a path that does not start with a slash. */
    find(path: string): State | null {
        const root = this.#root;
        return root === null || path.charCodeAt(0) !== SLASH ? null : followed(root, path);
    }
}

/** The plan of a stack whose layers have these patterns; `handles` are what calls the route of those that have one. */
export function planOf(patterns: readonly (Pattern | null)[], handles: readonly (Handle | undefined)[] = []): Plan {
    return new Plan(patterns, handles, patterns.length < LAYERS_MIN ? null : trieOf(patterns));
}

function stepOf(pattern: Pattern, handle: Handle | undefined): Step {
    return { pattern, isEvery: pattern instanceof EveryPath, whole: pattern instanceof PlainPattern ? pattern.whole : undefined, handle, runs: undefined, arity: 0 };
}

function ordered({ through, ends }: State): readonly number[] {
    return [...new Set([...through, ...ends])].sort((a, b) => a - b);
}

/** Null if it would be too large. */
function trieOf(patterns: readonly (Pattern | null)[]): State | null {
    const root = new Node();
    for (const [layer, pattern] of patterns.entries()) {
        if (pattern === null || pattern.shapes === null) {
            root.through.push(layer);
            continue;
        }
        for (const shape of pattern.shapes) {
            const node = shape.segments.reduce<Node>((place, segment) => place.child(segment), root);
            (shape.rest ? node.through : node.ends).push(layer);
        }
    }
    return new States().of([root], NOBODY) ?? null;
}

function followed(root: State, path: string): State {
    let state = root;
    let length = path.length;
    while (length > 1 && path.charCodeAt(length - 1) === SLASH) length -= 1;
    let at = 1;
    while (at < length) {
        if (state.named === undefined && state.other === undefined) return ended(state);
        let end = at;
        let hash = HASH_START;
        for (; end < length; end++) {
            const code = path.charCodeAt(end);
            if (code === SLASH) break;
            hash = hashed(hash, lower(code));
        }
        const next: State | undefined = state.named?.get(path, at, end, hash) ?? state.other;
        if (next === undefined) return ended(state);
        state = next;
        at = end + 1;
    }
    return state;
}

/** States behind which nothing is named, by what matches there all the same. */
const beyond = new WeakMap<readonly number[], State>();

function ended(state: State): State {
    if (state.ends.length === 0 && state.named === undefined) return state;
    let found = beyond.get(state.through);
    if (found === undefined) {
        found = { through: state.through, ends: NOBODY, named: undefined, other: undefined, order: undefined };
        beyond.set(state.through, found);
    }
    return found;
}

/** A place in the trie of patterns, where several may be at once: `/users/me` is at `users/me` and at `users/ANY`. */
class Node {
    static #made = 0;

    readonly id = Node.#made++;
    readonly through: number[] = [];
    readonly ends: number[] = [];
    named: Map<string, Node> | undefined;
    any: Node | undefined;

    /** Where a segment leads; made when it is first asked for. */
    child(segment: string | typeof ANY): Node {
        if (segment === ANY) return (this.any ??= new Node());
        this.named ??= new Map();
        let child = this.named.get(segment);
        if (child === undefined) {
            child = new Node();
            this.named.set(segment, child);
        }
        return child;
    }
}

/** Makes one state of all the places where a path may be, so that a request follows one way only. */
class States {
    /** By what is carried through, and by the places. */
    readonly #made = new Map<readonly number[], Map<number | string, State>>();
    /** Lists of layers by their contents, so that equal states are found to be equal. */
    readonly #lists = new Map<string, readonly number[]>();
    #states = 0;
    #entries = 0;

    /** Undefined if it would be too large. */
    of(nodes: readonly Node[], carried: readonly number[]): State | undefined {
        const through = this.#carried(nodes, carried);
        let made = this.#made.get(through);
        if (made === undefined) {
            made = new Map();
            this.#made.set(through, made);
        }
        const [first] = nodes;
        const one = nodes.length === 1 ? first : undefined;
        const key = one !== undefined ? one.id : nodes.map((node) => node.id).join(" ");
        const known = made.get(key);
        if (known !== undefined) return known;
        if (++this.#states > STATES_MAX) return undefined;

        const ends = one !== undefined ? one.ends : nodes.flatMap((node) => node.ends).sort((a, b) => a - b);
        const anywhere = nodes.flatMap((node) => node.any ?? NOWHERE);
        const other = anywhere.length === 0 ? undefined : this.of(anywhere, through);
        if (anywhere.length > 0 && other === undefined) return undefined;
        const state: State = { through, ends, named: undefined, other, order: undefined };
        made.set(key, state);
        const children = childrenOf(nodes, anywhere);
        this.#entries += children.size + ends.length;
        if (this.#entries > ENTRIES_MAX) return undefined;
        if (children.size === 0) return state;
        const named = new Map<string, State>();
        for (const [name, places] of children) {
            const next = this.of(places, through);
            if (next === undefined) return undefined;
            named.set(name, next);
        }
        state.named = new Branches(named);
        return state;
    }

    /** What goes through these places too, in order; `carried` itself if they add nothing. A layer that is there twice does no harm. */
    #carried(nodes: readonly Node[], carried: readonly number[]): readonly number[] {
        if (nodes.every((node) => node.through.length === 0)) return carried;
        const all = [...new Set([...carried, ...nodes.flatMap((node) => node.through)])].sort((a, b) => a - b);
        const key = all.join(" ");
        const known = this.#lists.get(key);
        if (known !== undefined) return known;
        this.#entries += all.length;
        this.#lists.set(key, all);
        return all;
    }
}

const NOWHERE: readonly Node[] = [];

/** Where each name leads from these places: to its own, and to where any name leads. */
function childrenOf(nodes: readonly Node[], anywhere: readonly Node[]): Map<string, readonly Node[]> {
    const children = new Map<string, readonly Node[]>();
    for (const node of nodes) {
        if (node.named === undefined) continue;
        for (const [name, child] of node.named) children.set(name, [child, ...(children.get(name) ?? anywhere)]);
    }
    return children;
}
