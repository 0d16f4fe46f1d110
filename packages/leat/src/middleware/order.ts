// The order of a plan: by constraints, otherwise as listed; call middleware outside of attempt middleware.
import { MiddlewareError } from "./error";
import { type Middleware } from "./middleware";

/** One has to be outside of the other, and why. */
interface Edge {
    readonly outer: number;
    readonly inner: number;
    readonly why: string;
}

/** The order, and whether of two (by their places in it) the first is outside of the second whatever the list was. */
export interface Order {
    readonly sorted: readonly Middleware[];
    isOrdered(outer: Middleware, inner: Middleware): boolean;
}

/**
 * Sorts `list` so that all constraints hold, and what they leave open stays as it is listed.
 * @throws {MiddlewareError} `plan.duplicate`, `plan.unknown_name`, `plan.order`
 */
export function order(list: readonly Middleware[]): Order {
    const places = placesOf(list);
    const edges = edgesOf(list, places);
    const sorted = sort(list, edges);
    const reach = reachOf(list.length, edges);
    const place = (each: Middleware): number => places.get(each.name) ?? -1;
    return { sorted, isOrdered: (outer, inner) => reach[place(outer)]?.has(place(inner)) === true };
}

function placesOf(list: readonly Middleware[]): ReadonlyMap<string, number> {
    const places = new Map<string, number>();
    list.forEach(({ name }, at) => {
        const first = places.get(name);
        if (first !== undefined) {
            throw new MiddlewareError("plan.duplicate", `middleware[${at}] has the name of middleware[${first}], "${name}"; rename one: before and after could not tell them apart`);
        }
        places.set(name, at);
    });
    return places;
}

function edgesOf(list: readonly Middleware[], places: ReadonlyMap<string, number>): readonly Edge[] {
    const edges: Edge[] = [];
    list.forEach((each, at) => {
        for (const key of ["before", "after"] as const) {
            for (const name of each[key]) {
                const other = places.get(name);
                const why = `${label(each, at)} has ${key}: "${name}"`;
                if (other === undefined) {
                    const names = list.filter((one) => one !== each).map((one) => `"${one.name}"`);
                    throw new MiddlewareError("plan.unknown_name", `${why}, and there is none; ${names.length === 0 ? "it is the only one: leave it out" : `there are ${names.join(", ")}`}`);
                }
                edges.push(key === "before" ? { outer: at, inner: other, why } : { outer: other, inner: at, why });
            }
        }
    });
    for (const { outer, inner, why } of edges) {
        if (list[outer]?.scope === "attempt" && list[inner]?.scope === "call") {
            throw new MiddlewareError("plan.order", `${why}, but attempt middleware is always inside of call middleware; leave it out, or give both one scope`);
        }
    }
    return [...edges, ...repeaterEdges(list)];
}

/** Inside of one that calls `next` again, call middleware would run more than once. */
function repeaterEdges(list: readonly Middleware[]): readonly Edge[] {
    const repeaters = list.flatMap((each, at) => (each.scope === "call" && each.repeats ? [at] : []));
    const [inner, second] = repeaters;
    if (inner === undefined) return [];
    if (second !== undefined) {
        throw new MiddlewareError("plan.order", `${labelAt(list, inner)} and ${labelAt(list, second)} both repeat in scope "call", where the inner one would run more than once; give one scope: "attempt"`);
    }
    const why = `${labelAt(list, inner)} repeats, so call middleware is outside of it`;
    return list.flatMap((each, at) => (each.scope === "call" && at !== inner ? [{ outer: at, inner, why }] : []));
}

/** Kahn's way, always taking what is listed first of those that may come next. Call middleware has an edge to each attempt one by its scope. */
function sort(list: readonly Middleware[], edges: readonly Edge[]): readonly Middleware[] {
    const left = new Set(list.keys());
    const sorted: Middleware[] = [];
    while (left.size > 0) {
        const free = [...left].filter((at) => !edges.some(({ outer, inner }) => inner === at && left.has(outer)));
        const next = free.find((at) => list[at]?.scope === "call") ?? free.find(() => ![...left].some((at) => list[at]?.scope === "call"));
        const taken = next === undefined ? undefined : list[next];
        if (next === undefined || taken === undefined) throw cycle(edges.filter(({ outer, inner }) => left.has(outer) && left.has(inner)));
        left.delete(next);
        sorted.push(taken);
    }
    return sorted;
}

/** Follows edges inwards until a middleware comes a second time. */
function cycle(edges: readonly Edge[]): MiddlewareError {
    // What only hangs on a ring has nobody outside of it that is left, or nobody inside: edges from it end somewhere.
    let ring = edges;
    for (let before = -1; before !== ring.length; ) {
        before = ring.length;
        const rest = ring;
        ring = rest.filter((edge) => rest.some((one) => one.outer === edge.inner) && rest.some((one) => one.inner === edge.outer));
    }
    const path: Edge[] = [];
    let edge = ring[0];
    while (edge !== undefined && !path.includes(edge)) {
        path.push(edge);
        const { inner } = edge;
        edge = ring.find(({ outer }) => outer === inner);
    }
    const start = edge === undefined ? 0 : path.indexOf(edge);
    const reasons = path.slice(start).map(({ why }) => why);
    return new MiddlewareError("plan.order", `no order holds: ${reasons.join("; ")}; take one of them away`);
}

/** For each, all that constraints put inside of it. */
function reachOf(count: number, edges: readonly Edge[]): readonly ReadonlySet<number>[] {
    return Array.from({ length: count }, (_, from) => {
        const reached = new Set<number>();
        const open = [from];
        for (let at = open.pop(); at !== undefined; at = open.pop()) {
            for (const { outer, inner } of edges) {
                if (outer !== at || reached.has(inner)) continue;
                reached.add(inner);
                open.push(inner);
            }
        }
        return reached;
    });
}

function labelAt(list: readonly Middleware[], at: number): string {
    const each = list[at];
    return each === undefined ? `middleware[${at}]` : label(each, at);
}

function label({ name }: Middleware, at: number): string {
    return `middleware[${at}] "${name}"`;
}
