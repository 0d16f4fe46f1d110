// What is kept: the newest notices, and no more than a number of them.

/** One notice. */
export interface Notice {
    id: number;
    text: string;
    at: string;
}

export class Board {
    readonly #notices: Notice[] = [];
    readonly #most: number;
    #last = 0;

    constructor(most: number) {
        this.#most = most;
    }

    /** The newest first. */
    all(): Notice[] {
        return [...this.#notices].reverse();
    }

    find(id: number): Notice | undefined {
        return this.#notices.find((notice) => notice.id === id);
    }

    /** Puts a notice up; the oldest goes where there are too many. */
    put(text: string): Notice {
        const notice: Notice = { id: ++this.#last, text, at: new Date().toISOString() };
        this.#notices.push(notice);
        if (this.#notices.length > this.#most) this.#notices.shift();
        return notice;
    }
}
