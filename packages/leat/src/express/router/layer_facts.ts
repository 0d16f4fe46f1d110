// What is kept of a layer and shown to nobody: programs list the members of layers, and tools compare them with npm's.
import { type Pattern } from "./pattern";

/** A class that extends this gives its private fields to the object it is made with. */
const Given = function (layer: object): object {
    return layer;
} as unknown as new (layer: object) => object;

export class LayerFacts extends Given {
    /** What matches the layer's path. */
    readonly #pattern: Pattern;
    /** What it stands for: a layer that shows another one now is matched by that. */
    readonly #shown: unknown;
    #handle: unknown;
    #arity = 0;

    private constructor(layer: object, pattern: Pattern, shown: unknown) {
        super(layer);
        this.#pattern = pattern;
        this.#shown = shown;
    }

    /** Keeps the pattern of a layer, and what of it the layer shows. */
    static add(layer: object, pattern: Pattern, shown: unknown): void {
        new LayerFacts(layer, pattern, shown);
    }

    static patternOf(layer: object, shown: unknown): Pattern | null {
        return #pattern in layer && layer.#shown === shown ? layer.#pattern : null;
    }

    /** `handle.length`, without asking V8 each time: a function's own accessor costs more than the rest of the call. */
    static arityOf(layer: object, handle: { length: number }): number {
        if (!(#handle in layer)) return handle.length;
        if (layer.#handle !== handle) {
            layer.#handle = handle;
            layer.#arity = handle.length;
        }
        return layer.#arity;
    }
}
