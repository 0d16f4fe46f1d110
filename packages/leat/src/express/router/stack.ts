// The stack of a router, and whether it is still what its plan was made of. Programs and tools edit `router.stack` as they
// like, so every edit must be seen, without looking at a thousand layers for each request.
import { LayerFacts } from "./layer_facts";
import { type Plan, planOf } from "./plan";
import { type Pattern } from "./pattern";
import { type StackLayer, type StackRouter } from "./types";

const STACK = Symbol("leat.stack");

/** A router, with its stack where it was made; its `stack` may be another one since. */
interface Holder extends StackRouter {
    [STACK]?: Stack;
}

type PatternOf = (layer: StackLayer) => Pattern | null;

export abstract class Stack {
    /** What `router.stack` is while this is the router's stack. */
    abstract readonly visible: StackLayer[];
    /** The same layers, read without what watches them. */
    abstract readonly layers: readonly StackLayer[];

    /** The plan, for as long as nobody has edited the stack since; null where edits are looked for at each use. */
    current: Plan | null = null;

    readonly #patternOf: PatternOf;
    #plan: Plan | null = null;
    #used = 0;

    constructor(patternOf: PatternOf) {
        this.#patternOf = patternOf;
    }

    abstract push(layer: StackLayer): void;

    /** Whether `current` goes with an edit. */
    protected abstract readonly noticesEdits: boolean;

    /** Whether it changed since it was asked last. */
    protected abstract changed(): boolean;

    /**
     * The plan of the stack as it is now; null if it is to be walked. The first use after a change walks, since a
     * router that is made for each request is used once only.
     */
    plan(): Plan | null {
        if (this.current !== null) return this.current;
        if (this.changed()) {
            this.#plan = null;
            this.#used = 0;
        }
        if (this.#plan === null && this.#used < 2) {
            this.#used += 1;
            if (this.#used === 2) this.#plan = planOf(this.layers.map(this.#patternOf), this.layers.map(LayerFacts.routedOf));
        }
        if (this.noticesEdits) this.current = this.#plan;
        return this.#plan;
    }
}

/** The stack that a router is made with: a proxy notices the edits, and costs those who edit. */
class Watched extends Stack {
    readonly layers: StackLayer[] = [];
    readonly visible: StackLayer[];
    protected readonly noticesEdits = true;
    #edited = false;

    constructor(patternOf: PatternOf) {
        super(patternOf);
        // All that changes an array ends in one of these two.
        this.visible = new Proxy(this.layers, {
            defineProperty: (layers, key, descriptor) => {
                this.#edit();
                return Reflect.defineProperty(layers, key, descriptor);
            },
            deleteProperty: (layers, key) => {
                this.#edit();
                return Reflect.deleteProperty(layers, key);
            },
        });
    }

    push(layer: StackLayer): void {
        this.#edit();
        this.layers.push(layer);
    }

    #edit(): void {
        this.#edited = true;
        this.current = null;
    }

    protected changed(): boolean {
        const edited = this.#edited;
        this.#edited = false;
        return edited;
    }
}

/** An array that a program put in the place of a router's stack, and may still hold: compared with what it was. */
class Replaced extends Stack {
    readonly visible: StackLayer[];
    readonly layers: readonly StackLayer[];
    protected readonly noticesEdits = false;
    #known: readonly StackLayer[] = [];

    constructor(patternOf: PatternOf, layers: StackLayer[]) {
        super(patternOf);
        this.visible = layers;
        this.layers = layers;
    }

    push(layer: StackLayer): void {
        this.visible.push(layer);
    }

    protected changed(): boolean {
        const { layers } = this;
        const known = this.#known;
        let same = layers.length === known.length;
        for (let index = 0; same && index < known.length; index++) same = layers[index] === known[index];
        if (!same) this.#known = layers.slice();
        return !same;
    }
}

/** Gives a new router its stack. */
export function addStack(router: object, patternOf: PatternOf): void {
    const stack = new Watched(patternOf);
    (router as Holder).stack = stack.visible;
    Object.defineProperty(router, STACK, { value: stack, writable: true, configurable: true });
}

/** The stack that `router` has now. */
export function stackOf(router: StackRouter, patternOf: PatternOf): Stack {
    const holder = router as Holder;
    const known = holder[STACK];
    if (known !== undefined && known.visible === holder.stack) return known;
    const stack = new Replaced(patternOf, holder.stack);
    Object.defineProperty(router, STACK, { value: stack, writable: true, configurable: true });
    return stack;
}
