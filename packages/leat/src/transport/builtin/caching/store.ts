// Responses that are kept, by path and by the headers of the request that chose them.
import { type Headers, type HeaderValue } from "../../../middleware/message";
import { listOf } from "../header";

/** A response that is kept. */
export interface Entry {
    readonly path: string;
    /** The request's headers that it was chosen by, with their values then. */
    readonly chosenBy: readonly (readonly [name: string, value: string | undefined])[];
    readonly status: number;
    readonly headers: Readonly<Record<string, HeaderValue>>;
    /** The cache's own copy. */
    readonly body: Buffer;
    /** When it was made, by the clock of its transport. */
    readonly madeMs: number;
    readonly lifetimeMs: number;
}

/** How much is kept. */
export interface StoreLimits {
    readonly entriesMax: number;
    readonly bytesMax: number;
}

/** Of one path; whoever varies more is not served by keeping. */
const VARIANTS_MAX = 8;
/** What an entry takes beside its body, roughly, so that bodies of nothing count too. */
const ENTRY_BYTES = 1024;

/** Keeps the entries that were used last. */
export class Store {
    private readonly limits: StoreLimits;
    private readonly paths = new Map<string, Entry[]>();
    private count = 0;
    private bytes = 0;

    constructor(limits: StoreLimits) {
        this.limits = limits;
    }

    /** The entry for a request. */
    find(path: string, headers: Headers): Entry | undefined {
        const entries = this.paths.get(path);
        const found = entries?.find(({ chosenBy }) => chosenBy.every(([name, value]) => listOf(headers, name) === value));
        if (found !== undefined && entries !== undefined) {
            // Used last, so it goes last.
            this.paths.delete(path);
            this.paths.set(path, entries);
        }
        return found;
    }

    /** Keeps an entry in the place of the one that was chosen by the same, and lets go of what was not used for longest. */
    put(entry: Entry): void {
        const before = this.paths.get(entry.path) ?? [];
        const same = before.find(({ chosenBy }) => isSame(chosenBy, entry.chosenBy));
        const others = before.filter((each) => each !== same).slice(1 - VARIANTS_MAX);
        this.forget(entry.path);
        this.paths.set(entry.path, [...others, entry]);
        for (const each of [...others, entry]) this.add(each, 1);
        for (const path of this.paths.keys()) {
            if (this.count <= this.limits.entriesMax && this.bytes <= this.limits.bytesMax) return;
            this.forget(path);
        }
    }

    /** Lets go of all of a path. */
    forget(path: string): void {
        for (const each of this.paths.get(path) ?? []) this.add(each, -1);
        this.paths.delete(path);
    }

    private add({ body }: Entry, sign: 1 | -1): void {
        this.count += sign;
        this.bytes += sign * (body.byteLength + ENTRY_BYTES);
    }
}

function isSame(one: Entry["chosenBy"], other: Entry["chosenBy"]): boolean {
    return one.length === other.length && one.every(([name, value], at) => name === other[at]?.[0] && value === other[at][1]);
}
