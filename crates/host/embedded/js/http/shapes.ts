// Keeps alive how objects of a server's messages grow. QuickJS finds the next layout of an object that gets a property in a table, but
// that has only layouts that some living object has: one request at a time would make each of its layouts anew, and drop it again.

import { steps } from "./native";

/** Ways to grow that are kept of one kind of objects. */
const WAYS_MAX = 6;
const NAMES_MAX = 64;

/** The ways in which one kind of objects grows. */
export class Shapes {
    private readonly ways = new Map<string, object[]>();

    /** Looks at an object that has grown. */
    learn(grown: object): void {
        const names = Object.getOwnPropertyNames(grown);
        const way = names.join("\n");
        if (names.length > NAMES_MAX || this.ways.size >= WAYS_MAX || this.ways.has(way)) return;
        this.ways.set(way, steps(grown));
    }
}
