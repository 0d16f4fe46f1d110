// How nodes are chosen and left alone.
import { wrongOption } from "../error";
import { countOf, durationOf, objectOf, partOf, statusesOf } from "../given";
import { type OutlierSettings } from "../policy/balance/outliers";
import { usOf } from "../policy/time";
import { type NodeGiven } from "./spec";

export const STRATEGIES = ["round_robin", "weighted", "least_request", "peak_ewma"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** When a call is sent to a second node, while the first has not answered. */
export interface HedgeOptions {
    /** How long an answer is waited for before; near the slowest twentieth of answers is a good time. */
    readonly afterMs: number;
    /** Second tries beside calls, at most: a fraction. Default: 0.05. */
    readonly ratioMax?: number;
}
export type HedgeSettings = Required<HedgeOptions>;

/** When a node is put aside for its answers. */
export interface EjectionOptions {
    /** So many answers in a row with one of `statuses`, or failures, put it aside. Default: 5. */
    readonly failuresMax?: number;
    /** Default: 500, 502, 503, 504. */
    readonly statuses?: readonly number[];
    /** For so long, times the number of times that it happened. Default: 30,000 ms. */
    readonly ejectionMs?: number;
    /** Default: 300,000 ms. */
    readonly ejectionMsMax?: number;
    /** The most nodes that are aside at once, as a part of all. Default: 0.5. */
    readonly partMax?: number;
}

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
    /** Puts nodes aside that answer with errors. Default: no, since a status may be one of what stands before all nodes. */
    readonly ejection?: EjectionOptions;
    /** Sends an idempotent call that can be sent again to a second node, if the first takes long, and takes the first answer. Default: no. */
    readonly hedge?: HedgeOptions;
    /** Asks for the present nodes: called every `sniffMs`, beginning with the first call, never twice at once. */
    readonly sniff?: () => Promise<readonly NodeGiven[]>;
    /** Default: 60,000 ms. */
    readonly sniffMs?: number;
}

/** When a node is put aside, with nothing left out. */
export interface EjectionSettings {
    readonly outliers: OutlierSettings;
    readonly statuses: ReadonlySet<number>;
}

/** The same, with nothing left out. */
export interface NodesSettings {
    readonly strategy: Strategy;
    readonly failuresMax: number;
    readonly deadMs: number;
    readonly deadMsMax: number;
    readonly ejection: EjectionSettings | undefined;
    readonly hedge: HedgeSettings | undefined;
    readonly sniff: (() => Promise<readonly NodeGiven[]>) | undefined;
    readonly sniffMs: number;
}

/** A restart takes about as long. */
const DEAD_MS = 1000;
/** Long enough not to be a load, short enough to notice within a minute that a node is back. */
const DEAD_MS_MAX = 60_000;
const SNIFF_MS = 60_000;
/** Envoy's numbers. */
const EJECTION = { failuresMax: 5, ejectionMs: 30_000, ejectionMsMax: 300_000, partMax: 0.5 };
/** What a server says that cannot; 501 is said by one that can. */
const EJECTION_STATUSES = [500, 502, 503, 504];
/** A twentieth more load buys the slowest twentieth of answers. */
const HEDGE_RATIO = 0.05;

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`
 */
export function nodesOptionsOf(given: unknown): NodesSettings {
    const options = objectOf("balance", given ?? {}, ["strategy", "failuresMax", "deadMs", "deadMsMax", "ejection", "hedge", "sniff", "sniffMs"]) as NodesOptions;
    const { strategy = "weighted", sniff } = options;
    if (!STRATEGIES.includes(strategy)) throw wrongOption("balance.strategy", strategy, `one of ${STRATEGIES.join(", ")}`);
    if (sniff !== undefined && typeof sniff !== "function") throw wrongOption("balance.sniff", sniff, "a function that comes to nodes: async () => [\"http://127.0.0.1:9200\"]");
    return {
        strategy,
        failuresMax: countOf("balance.failuresMax", options.failuresMax, 1),
        deadMs: durationOf("balance.deadMs", options.deadMs, DEAD_MS),
        deadMsMax: durationOf("balance.deadMsMax", options.deadMsMax, DEAD_MS_MAX),
        ejection: ejectionOf(options.ejection),
        hedge: hedgeOf(options.hedge),
        sniff,
        sniffMs: durationOf("balance.sniffMs", options.sniffMs, SNIFF_MS),
    };
}

function ejectionOf(given: unknown): EjectionSettings | undefined {
    if (given === undefined) return undefined;
    const options = objectOf("balance.ejection", given, ["failuresMax", "statuses", "ejectionMs", "ejectionMsMax", "partMax"]) as EjectionOptions;
    return {
        outliers: {
            consecutiveFailures: countOf("balance.ejection.failuresMax", options.failuresMax, EJECTION.failuresMax),
            ejectionUs: usOf(durationOf("balance.ejection.ejectionMs", options.ejectionMs, EJECTION.ejectionMs)),
            ejectionMaxUs: usOf(durationOf("balance.ejection.ejectionMsMax", options.ejectionMsMax, EJECTION.ejectionMsMax)),
            partMax: partOf("balance.ejection.partMax", options.partMax, EJECTION.partMax),
        },
        statuses: new Set(statusesOf("balance.ejection.statuses", options.statuses, EJECTION_STATUSES)),
    };
}

function hedgeOf(given: unknown): HedgeSettings | undefined {
    if (given === undefined) return undefined;
    const options = objectOf("balance.hedge", given, ["afterMs", "ratioMax"]) as Partial<HedgeOptions>;
    if (options.afterMs === undefined) throw wrongOption("balance.hedge.afterMs", options.afterMs, "milliseconds above 0: hedge: { afterMs: 200 }");
    return { afterMs: durationOf("balance.hedge.afterMs", options.afterMs, 0), ratioMax: partOf("balance.hedge.ratioMax", options.ratioMax, HEDGE_RATIO) };
}
