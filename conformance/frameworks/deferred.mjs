/** A promise with its `resolve` and `reject` beside it, for what a handler sees and a test awaits (Node 20 has no withResolvers). */
export function deferred() {
    const made = {};
    made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
    return made;
}
