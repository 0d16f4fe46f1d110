// One script being played against one server: its connections, its waits and their limits.
import { Peer } from "./peer.mjs";
import { Record, normalised } from "./record.mjs";
import { chunksJoined } from "./replies.mjs";
import { rested } from "./rest.mjs";

const WAIT_MS = Number(process.env.LEAT_CASE_WAIT_MS ?? 8000);

/** Thrown out of a script at the first wait that is not met, since everything behind it would fail too. */
class Unmet extends Error {}

export class Session {
    record = new Record(() => this.#touch());
    actions = new Map();
    peer;
    unmet = [];
    #peers = [];
    #where;
    #secure;
    #waiting = null;
    #touches = 0;
    #rest;

    /** `rest` resolves when whatever the program is about to do has had the time for it. */
    constructor(rest = rested) {
        this.#rest = rest;
    }

    /** Keeps `act` ready for the script's `go(name)`. */
    keep(name, act) {
        this.actions.set(name, act);
        this.#touch();
    }

    /** Plays `steps` of a case against the server at `where`. */
    async play(where, { secure, client = {} }, steps) {
        this.#where = where;
        this.#secure = secure ? client : undefined;
        try {
            await this.via(0, steps);
        } catch (error) {
            if (!(error instanceof Unmet)) throw error;
            this.unmet.push(error.message);
        }
        await this.quiet();
        for (const peer of this.#peers) await peer?.settle();
    }

    async via(index, steps) {
        const before = this.peer;
        this.#peers[index] ??= await Peer.connect(this.#where, this.#secure, () => this.#touch());
        this.peer = this.#peers[index];
        for (const step of steps) {
            if (typeof step === "function") await step(this);
            else this.peer.send(step);
        }
        this.peer = before ?? this.peer;
    }

    /** Resolves when `met()` holds, which is asked again whenever bytes or log lines come. */
    async until(met, what) {
        if (met()) return;
        await new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                this.#waiting = null;
                reject(new Unmet(`waited in vain for ${what}`));
            }, WAIT_MS);
            this.#waiting = () => {
                if (!met()) return;
                clearTimeout(timer);
                this.#waiting = null;
                resolve();
            };
        });
    }

    async quiet() {
        let touches = -1;
        while (touches !== this.#touches) {
            touches = this.#touches;
            await this.#rest();
        }
    }

    /** What there is to compare, as plain data. */
    result({ joined = false } = {}) {
        return {
            log: [...this.record.lines],
            connections: this.#peers.map((peer) => ({ bytes: normalised(joined ? chunksJoined(peer.text) : peer.text), end: peer.end })),
            unmet: [...this.unmet],
            lucky: this.#peers.some((peer) => peer.end !== "open" && !peer.endAwaited),
        };
    }

    close() {
        this.record.seal();
        for (const peer of this.#peers) peer?.destroy();
    }

    #touch() {
        this.#touches += 1;
        this.#waiting?.();
    }
}
