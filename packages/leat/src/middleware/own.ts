// Whether a property is an object's own, asked in loops over the object's properties.

/** In a loop over the same object V8 sees that it is true, and calls nothing; `Object.hasOwn` is a call each time. */
export function isOwn(object: object, name: string): boolean {
    return hasOwnProperty.call(object, name);
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- it is only used with `call`
const { hasOwnProperty } = Object.prototype;
