// A node with what is known of it: its calls, its latency, and whether it is dead.
import { type Outliers } from "../policy/balance/outliers";
import { Latency } from "../policy/balance/peak_ewma";
import { usOf } from "../policy/time";
import { type NodesSettings } from "./settings";
import { type NodeSpec } from "./spec";

/** What is told of a node. */
export interface NodeStats {
    readonly origin: string;
    readonly weight: number;
    /** `probing`: its time is over, and the one call that finds out whether it is back is under way or to come; `ejected`: put aside for its answers. */
    readonly state: "alive" | "dead" | "probing" | "ejected";
    readonly inFlight: number;
    /** Tries that were sent to it, and of those the ones that failed by its connection. */
    readonly tries: number;
    readonly failures: number;
    /** For how long it is dead from now; 0 if it is not. */
    readonly deadMs: number;
}

/** Latencies of a minute ago say little. */
const HALF_LIFE_US = 10_000_000;
/** A node that was never asked looks fast, so it will be. */
const FIRST_US = 1000;

export class Node {
    readonly spec: NodeSpec;
    inFlight = 0;
    #tries = 0;
    #failures = 0;
    #inRow = 0;
    /** Of the present series: how often it was found dead, one time after the other. */
    #deaths = 0;
    #deadUntilMs = -Infinity;
    /** Where its answers count, and its number there. */
    #outliers: Outliers | undefined = undefined;
    #number = 0;
    readonly #settings: NodesSettings;
    readonly #latency: Latency | undefined;

    constructor(spec: NodeSpec, settings: NodesSettings, nowMs: number) {
        this.spec = spec;
        this.#settings = settings;
        if (settings.strategy === "peak_ewma") this.#latency = new Latency({ halfLifeUs: HALF_LIFE_US, firstUs: FIRST_US }, usOf(nowMs));
    }

    /** When it may be asked again; in the past if it is alive. */
    get deadUntilMs(): number {
        return this.#deadUntilMs;
    }

    /** It is the `number`th of nodes that are compared. */
    compare(outliers: Outliers, number: number): void {
        this.#outliers = outliers;
        this.#number = number;
    }

    /** Alive, or dead long enough that one call may find out. */
    isUsable(nowMs: number): boolean {
        if (this.#outliers !== undefined && this.#outliers.isEjected(this.#number, usOf(nowMs))) return false;
        return this.#deaths === 0 || (nowMs >= this.#deadUntilMs && this.inFlight === 0);
    }

    /** What one more call would cost, by latency; with `peak_ewma` only. */
    loadUs(nowMs: number): number {
        return (this.#latency?.loadUs(usOf(nowMs), this.inFlight) ?? 0) / this.spec.weight;
    }

    begin(): void {
        this.inFlight++;
        this.#tries++;
    }

    /** A response came, after `tookMs`. */
    answered(nowMs: number, tookMs: number, status: number): void {
        this.#outliers?.record(this.#number, this.#settings.ejection?.statuses.has(status) === true, usOf(nowMs));
        this.inFlight--;
        this.#inRow = 0;
        this.#deaths = 0;
        this.#deadUntilMs = -Infinity;
        this.#latency?.record(usOf(nowMs), usOf(tookMs));
    }

    /** Its connection failed. Failures of tries that began before it was found dead don't make it deader. */
    failed(nowMs: number): void {
        this.inFlight--;
        this.#failures++;
        this.#outliers?.record(this.#number, true, usOf(nowMs));
        this.#inRow++;
        if (nowMs < this.#deadUntilMs) return;
        if (this.#deaths === 0 && this.#inRow < this.#settings.failuresMax) return;
        this.#deadUntilMs = nowMs + Math.min(this.#settings.deadMsMax, this.#settings.deadMs * 2 ** this.#deaths);
        this.#deaths++;
        this.#inRow = 0;
    }

    /** The try was given up, or failed by something that is not the node's: it says nothing. */
    gaveUp(): void {
        this.inFlight--;
    }

    stats(nowMs: number): NodeStats {
        const { origin, weight } = this.spec;
        const deadMs = Math.max(0, this.#deadUntilMs - nowMs);
        const isEjected = this.#outliers?.isEjected(this.#number, usOf(nowMs)) === true;
        return { origin, weight, state: deadMs > 0 ? "dead" : isEjected ? "ejected" : this.#deaths > 0 ? "probing" : "alive", inFlight: this.inFlight, tries: this.#tries, failures: this.#failures, deadMs };
    }
}
