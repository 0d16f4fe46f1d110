// Streams whose state is made when somebody first looks at it: most requests and connections are never used as streams, and the
// state costs more than the rest of them.

/** Defines `name` on `prototype`: made by `make` when it is first read, and then the object's own. */
export function lateState(prototype: object, name: string, make: (stream: object) => void): void {
    Object.defineProperty(prototype, name, {
        configurable: true,
        enumerable: false,
        get(this: object): unknown {
            if (this === prototype) return undefined;
            make(this);
            return Object.getOwnPropertyDescriptor(this, name)?.value as unknown;
        },
        set(this: object, value: unknown) {
            Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value });
        },
    });
}

/** Whether `stream` has the state of its own already. */
export function hasState(stream: object, name: string): boolean {
    return Object.hasOwn(stream, name);
}
