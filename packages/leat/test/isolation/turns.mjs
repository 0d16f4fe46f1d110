// How many requests one turn of the event loop brings. Leat hands over one batch a turn, so more than one is a batch of
// several; on node:http it is several sockets readable at once. Tests of isolation prove with it that they tested anything.
export class Turns {
    #now = 0;
    /** The most requests in one turn. */
    most = 0;
    /** Turns that brought more than one. */
    shared = 0;

    /** To be called once for every request, at its start. */
    count() {
        if (this.#now === 0) setImmediate(() => (this.#now = 0));
        this.#now += 1;
        if (this.#now === 2) this.shared += 1;
        if (this.#now > this.most) this.most = this.#now;
    }
}

/** Holds the thread: what arrives meanwhile is one batch. */
export function hold(ms) {
    const until = performance.now() + ms;
    while (performance.now() < until);
}
