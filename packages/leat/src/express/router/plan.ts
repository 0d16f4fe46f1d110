// From a path to the layers of a stack that may match it, in the order of the stack. `docs/design/express-router.md` has the
// reasons for its form.
import { Branches, HASH_START, hashed, lower } from "./branches";
import { type Pattern } from "./pattern";
import { ANY } from "./shape";

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
}

export class Plan {
    /** What each layer's path is matched by; null for a layer that only its own `match` knows. */
    readonly patterns: readonly (Pattern | null)[];
    readonly #root: State | null;

    constructor(patterns: readonly (Pattern | null)[], root: State | null) {
        this.patterns = patterns;
        this.#root = root;
    }

    /** The layers for a path; null if all are to be tried: few layers, too large a trie, or a path that does not start with a slash. */
    find(path: string): State | null {
        const root = this.#root;
        return root === null || path.charCodeAt(0) !== SLASH ? null : followed(root, path);
    }
}

/** The plan of a stack whose layers have these patterns. */
export function planOf(patterns: readonly (Pattern | null)[]): Plan {
    return new Plan(patterns, patterns.length < LAYERS_MIN ? null : trieOf(patterns));
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
        found = { through: state.through, ends: NOBODY, named: undefined, other: undefined };
        beyond.set(state.through, found);
    }
    return found;
}

/** A place in the trie of patterns, where several may be at once: `/users/me` is at `users/me` and at `users/ANY`. */
class Node {
    static #made = 0;

    readonly id = Node.#made++;
    readonly named = new Map<string, Node>();
    readonly through: number[] = [];
    readonly ends: number[] = [];
    any: Node | undefined;

    /** Where a segment leads; made when it is first asked for. */
    child(segment: string | typeof ANY): Node {
        if (segment === ANY) return (this.any ??= new Node());
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
    readonly #made = new Map<string, State>();
    /** Lists of layers by their contents, so that states share them. */
    readonly #lists = new Map<string, readonly number[]>();
    #entries = 0;

    /** Undefined if it would be too large. */
    of(nodes: readonly Node[], carried: readonly number[]): State | undefined {
        const through = this.#merged(carried, nodes.flatMap((node) => node.through));
        const key = `${nodes.map((node) => node.id).join(" ")}|${this.#id(through)}`;
        const known = this.#made.get(key);
        if (known !== undefined) return known;
        if (this.#made.size >= STATES_MAX) return undefined;

        const names = new Set(nodes.flatMap((node) => [...node.named.keys()]));
        const ends = this.#merged(NOBODY, nodes.flatMap((node) => node.ends)).filter((layer) => !through.includes(layer));
        this.#entries += names.size + ends.length;
        if (this.#entries > ENTRIES_MAX) return undefined;

        const anywhere = nodes.flatMap((node) => node.any ?? []);
        const other = anywhere.length === 0 ? undefined : this.of(anywhere, through);
        if (anywhere.length > 0 && other === undefined) return undefined;
        const state: State = { through, ends, named: undefined, other };
        this.#made.set(key, state);
        const named = new Map<string, State>();
        for (const name of names) {
            const next = this.of([...nodes.flatMap((node) => node.named.get(name) ?? []), ...anywhere], through);
            if (next === undefined) return undefined;
            named.set(name, next);
        }
        if (names.size > 0) state.named = new Branches(named);
        return state;
    }

    /** Both lists in order, without doubles; `carried` itself if there is nothing to add. */
    #merged(carried: readonly number[], more: readonly number[]): readonly number[] {
        if (more.length === 0) return carried;
        const all = [...new Set([...carried, ...more])].sort((one, two) => one - two);
        const key = all.join(" ");
        const known = this.#lists.get(key);
        if (known !== undefined) return known;
        this.#entries += all.length;
        this.#lists.set(key, all);
        return all;
    }

    readonly #ids = new Map<readonly number[], number>();

    #id(list: readonly number[]): number {
        let id = this.#ids.get(list);
        if (id === undefined) {
            id = this.#ids.size;
            this.#ids.set(list, id);
        }
        return id;
    }
}
