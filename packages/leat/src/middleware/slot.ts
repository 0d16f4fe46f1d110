// Slots: typed places of the record where middleware leave things for one another.

/** A place for values of one type, that is told from others by itself, and named for messages and patches. */
export interface Slot<out N extends string = string, out T = unknown> {
    readonly name: N;
    /** Never there: it carries the type. */
    readonly holds?: T;
}

/** The type of what a slot holds. */
export type Held<S extends Slot> = S extends Slot<string, infer T> ? T : never;

/** The part of a patch that writes to slots: values by the names of slots. A middleware that writes none has no such part. */
export type SlotPatch<S extends Slot> = [S] extends [never] ? never : { readonly [Each in S as Each["name"]]?: Held<Each> };

/**
 * Makes a slot: `const span = slot("span").of<Span>()`. Make it once, beside the middleware that writes to it, and export it
 * for those that read it: another slot of the same name is another slot, and a plan refuses to have both.
 *
 * Cost: one object; in each record one array element.
 */
export function slot<const N extends string>(name: N): { of<T>(): Slot<N, T> } {
    return { of: () => Object.freeze({ name }) };
}
