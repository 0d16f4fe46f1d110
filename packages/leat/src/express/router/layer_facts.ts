// What is kept of a layer and shown to nobody: programs list the members of layers, and tools compare them with npm's.
import { type Pattern } from "./pattern";
import { type Handle } from "./types";

/** A class that extends this gives its private fields to the object it is made with. */
const Given = function (layer: object): object {
    return layer;
} as unknown as new (layer: object) => object;

interface Facts {
    /** What matches the layer's path. */
    readonly pattern: Pattern;
    /** What it stands for: a layer that shows another one now is matched by that. */
    readonly shown: unknown;
    /** What calls the layer's route, if it has one. */
    routed: Handle | undefined;
    handle: unknown;
    arity: number;
}

export class LayerFacts extends Given {
    /** One field, since each is an entry that V8 adds to the layer by its slow way. */
    readonly #facts: Facts;

    private constructor(layer: object, facts: Facts) {
        super(layer);
        this.#facts = facts;
    }

    /** Keeps the pattern of a layer, and what of it the layer shows. */
    static add(layer: object, pattern: Pattern, shown: unknown): void {
        new LayerFacts(layer, { pattern, shown, routed: undefined, handle: undefined, arity: 0 });
    }

    static patternOf(layer: object, shown: unknown): Pattern | null {
        return #facts in layer && layer.#facts.shown === shown ? layer.#facts.pattern : null;
    }

    /** Remembers what calls the route of `layer`. */
    static route(layer: object, routed: Handle): void {
        if (#facts in layer) layer.#facts.routed = routed;
    }

    static routedOf(layer: object): Handle | undefined {
        return #facts in layer ? layer.#facts.routed : undefined;
    }

    /** `handle.length`, without asking V8 each time: a function's own accessor costs more than the rest of the call. */
    static arityOf(layer: object, handle: { length: number }): number {
        if (!(#facts in layer)) return handle.length;
        const facts = layer.#facts;
        if (facts.handle !== handle) {
            facts.handle = handle;
            facts.arity = handle.length;
        }
        return facts.arity;
    }
}
