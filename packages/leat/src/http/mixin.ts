// A part of the seam between hosts: what takes many steps in JavaScript may be one native call elsewhere.

/** Copies properties that `into` does not have, as they are. */
export function mixin(into: object, from: object): void {
    for (const name of Object.getOwnPropertyNames(from)) {
        if (Object.hasOwn(into, name)) continue;
        Object.defineProperty(into, name, Object.getOwnPropertyDescriptor(from, name) as PropertyDescriptor);
    }
}
