// How nodes are chosen and left alone.
import { wrongOption } from "../error";
import { countOf, durationOf, objectOf } from "../given";
import { type NodeGiven } from "./spec";

export const STRATEGIES = ["round_robin", "weighted", "least_request", "peak_ewma"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** How a node is chosen. */
export interface NodesOptions {
    /** `round_robin`; `weighted` (smooth, by weight); `least_request`, the better of two by calls under way; `peak_ewma`, the better of two by latency. Default: `weighted`. */
    readonly strategy?: Strategy;
    /** Failures in a row of connecting or of a connection, after which a node is dead. Default: 1. */
    readonly failuresMax?: number;
    /** How long a node is dead at first; twice as long each time that it fails again when it is tried. Default: 1,000 ms. */
    readonly deadMs?: number;
    /** The longest that a node is dead. Default: 60,000 ms. */
    readonly deadMsMax?: number;
    /** Asks for the present nodes: called every `sniffMs`, beginning with the first call, never twice at once. */
    readonly sniff?: () => Promise<readonly NodeGiven[]>;
    /** Default: 60,000 ms. */
    readonly sniffMs?: number;
}

/** The same, with nothing left out. */
export interface NodesSettings {
    readonly strategy: Strategy;
    readonly failuresMax: number;
    readonly deadMs: number;
    readonly deadMsMax: number;
    readonly sniff: (() => Promise<readonly NodeGiven[]>) | undefined;
    readonly sniffMs: number;
}

/** A restart takes about as long. */
const DEAD_MS = 1000;
/** Long enough not to be a load, short enough to notice within a minute that a node is back. */
const DEAD_MS_MAX = 60_000;
const SNIFF_MS = 60_000;

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`
 */
export function nodesOptionsOf(given: unknown): NodesSettings {
    const options = objectOf("balance", given ?? {}, ["strategy", "failuresMax", "deadMs", "deadMsMax", "sniff", "sniffMs"]) as NodesOptions;
    const { strategy = "weighted", sniff } = options;
    if (!STRATEGIES.includes(strategy)) throw wrongOption("balance.strategy", strategy, `one of ${STRATEGIES.join(", ")}`);
    if (sniff !== undefined && typeof sniff !== "function") throw wrongOption("balance.sniff", sniff, "a function that comes to nodes: async () => [\"http://127.0.0.1:9200\"]");
    return {
        strategy,
        failuresMax: countOf("balance.failuresMax", options.failuresMax, 1),
        deadMs: durationOf("balance.deadMs", options.deadMs, DEAD_MS),
        deadMsMax: durationOf("balance.deadMsMax", options.deadMsMax, DEAD_MS_MAX),
        sniff,
        sniffMs: durationOf("balance.sniffMs", options.sniffMs, SNIFF_MS),
    };
}
