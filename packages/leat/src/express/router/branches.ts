// A table from the text of a segment to what comes behind it, read from a path in place: no substring, no hash of V8's.
// Nothing a peer sends is ever put in, so nobody but the program's author chooses what collides.

/** Slots for each entry, at least; most are then found at once. */
const ROOM = 2;

/** Names that differ in a digit have hashes side by side. By 2³² over the golden ratio, the upper bits lie far apart. */
const SPREAD = 0x9e3779b1;

export class Branches<T> {
    readonly #mask: number;
    readonly #shift: number;
    readonly #hashes: Int32Array;
    readonly #names: (string | undefined)[];
    readonly #values: (T | undefined)[];

    /** Entries by their names, which are ASCII in lower case. */
    constructor(entries: ReadonlyMap<string, T>) {
        let bits = 1;
        while (1 << bits < entries.size * ROOM) bits += 1;
        const size = 1 << bits;
        this.#mask = size - 1;
        this.#shift = 32 - bits;
        this.#hashes = new Int32Array(size);
        this.#names = new Array<string | undefined>(size).fill(undefined);
        this.#values = new Array<T | undefined>(size).fill(undefined);
        for (const [name, value] of entries) {
            let hash = HASH_START;
            for (let at = 0; at < name.length; at++) hash = hashed(hash, name.charCodeAt(at));
            let slot = Math.imul(hash, SPREAD) >>> this.#shift;
            while (this.#names[slot] !== undefined) slot = (slot + 1) & this.#mask;
            this.#hashes[slot] = hash;
            this.#names[slot] = name;
            this.#values[slot] = value;
        }
    }

    /** What is behind the segment of `path` from `start` to `end`, whose hash is known; letters count as lower case. */
    get(path: string, start: number, end: number, hash: number): T | undefined {
        for (let slot = Math.imul(hash, SPREAD) >>> this.#shift; ; slot = (slot + 1) & this.#mask) {
            const name = this.#names[slot];
            if (name === undefined) return undefined;
            if (this.#hashes[slot] === hash && name.length === end - start && equal(path, start, name)) return this.#values[slot];
        }
    }
}

export const HASH_START = 0;

/** The hash of a text and one letter more, which must be in lower case. */
export function hashed(hash: number, code: number): number {
    return (Math.imul(hash, 31) + code) | 0;
}

/** ASCII in lower case. */
export function lower(code: number): number {
    return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}

function equal(path: string, start: number, name: string): boolean {
    for (let at = 0; at < name.length; at++) {
        if (lower(path.charCodeAt(start + at)) !== name.charCodeAt(at)) return false;
    }
    return true;
}
