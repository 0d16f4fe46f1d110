// Timers for many calls that wait equally long. Nearly all are cancelled, so each is a link in a queue, and Node.js has one for the queue.
import { AsyncResource } from "node:async_hooks";
import { type Timer } from "./clock";

/** The longest wait that a timer of Node's takes, some 24 days. */
const WAIT_MS_MAX = 2_147_483_647;
/** Waits of more different lengths have timers of their own: they are no deadlines but backoffs. */
const QUEUES_MAX = 64;

/** Node's timers keep the async context in which they are made, and here that would be one call's for all. */
const nobody = new AsyncResource("LeatTimers");

/** Queues by how long they wait. */
export class Queues {
    readonly #nowMs: () => number;
    readonly #queues = new Map<number, Queue>();

    /** `nowMs` is the clock that Node's timers go by. */
    constructor(nowMs: () => number) {
        this.#nowMs = nowMs;
    }

    /**
     * Calls `run` once, no sooner than after `waitMs`.
     *
     * Cost: one small object where others wait as long; a timer of Node's costs five times as many bytes.
     */
    after(waitMs: number, run: () => void): Timer {
        const queue = this.#queues.get(waitMs) ?? this.#made(waitMs);
        if (queue !== undefined) return queue.add(this.#nowMs() + waitMs, run);
        // Rounded up: Node's timers cut parts of a millisecond off.
        const timer = setTimeout(run, Math.min(Math.max(Math.ceil(waitMs), 0), WAIT_MS_MAX));
        return { cancel: () => clearTimeout(timer) };
    }

    /** A wait of whole milliseconds comes from an option, and will come again. */
    #made(waitMs: number): Queue | undefined {
        if (!Number.isInteger(waitMs) || waitMs <= 0 || waitMs > WAIT_MS_MAX || this.#queues.size >= QUEUES_MAX) return undefined;
        const queue = new Queue(waitMs, this.#nowMs, () => this.#queues.delete(waitMs));
        this.#queues.set(waitMs, queue);
        return queue;
    }
}

/** Those that wait equally long end in the order in which they began. */
class Queue {
    readonly #waitMs: number;
    readonly #nowMs: () => number;
    readonly #idle: () => void;
    /** The ring's own link: what is behind it is the first to end. */
    readonly #ring: Link;
    #timer: NodeJS.Timeout | undefined = undefined;

    constructor(waitMs: number, nowMs: () => number, idle: () => void) {
        this.#waitMs = waitMs;
        this.#nowMs = nowMs;
        this.#idle = idle;
        this.#ring = new Link(this, Infinity, undefined);
    }

    add(atMs: number, run: () => void): Timer {
        const link = new Link(this, atMs, run);
        const ring = this.#ring;
        if (ring.next === ring) {
            if (this.#timer === undefined) this.#arm(this.#waitMs);
            else this.#timer.ref();
        }
        link.insert(ring);
        return link;
    }

    /** The last one was cancelled: Node's timer stays for those that come, and keeps nobody alive. */
    emptied(): void {
        if (this.#ring.next === this.#ring) this.#timer?.unref();
    }

    readonly #fire = (): void => {
        this.#timer = undefined;
        const ring = this.#ring;
        const nowMs = this.#nowMs();
        try {
            for (let link = ring.next; link.atMs <= nowMs; link = ring.next) {
                link.remove();
                link.run?.();
            }
        } finally {
            this.#goOn(nowMs);
        }
    };

    #goOn(nowMs: number): void {
        // One that ended may have begun another, which armed it.
        if (this.#timer !== undefined) return;
        const { next } = this.#ring;
        if (next === this.#ring) this.#idle();
        // Rounded up: Node's timers count whole milliseconds, and one that is early would come twice.
        else this.#arm(Math.max(1, Math.ceil(next.atMs - nowMs)));
    }

    #arm(waitMs: number): void {
        this.#timer = nobody.runInAsyncScope(setTimeout, undefined, this.#fire, waitMs);
    }
}

class Link implements Timer {
    readonly atMs: number;
    run: (() => void) | undefined;
    next: Link = this;
    readonly #queue: Queue;
    #previous: Link = this;

    constructor(queue: Queue, atMs: number, run: (() => void) | undefined) {
        this.#queue = queue;
        this.atMs = atMs;
        this.run = run;
    }

    /** At the end of a ring. */
    insert(ring: Link): void {
        this.next = ring;
        this.#previous = ring.#previous;
        ring.#previous.next = this;
        ring.#previous = this;
    }

    remove(): void {
        this.#previous.next = this.next;
        this.next.#previous = this.#previous;
        this.next = this;
        this.#previous = this;
    }

    cancel(): void {
        if (this.run === undefined) return;
        this.run = undefined;
        this.remove();
        this.#queue.emptied();
    }
}
