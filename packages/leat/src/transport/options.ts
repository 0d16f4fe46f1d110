// What a transport is made with, checked once. What is left of it cannot be wrong.
import { getHeapStatistics } from "node:v8";
import { type Gauges } from "../middleware/meter";
import { type Middleware } from "../middleware/middleware";
import { type Slot } from "../middleware/slot";
import { type BodyLimits } from "./call";
import { type Clock, type Random, systemClock, systemRandom } from "./clock";
import { type Connection } from "./connection/connection";
import { wrongOption } from "./error";
import { countOf, durationOf, flagOf, objectOf } from "./given";
import { nodeOf, type NodeGiven, type NodeSpec } from "./nodes/spec";
import { type NodesOptions, nodesOptionsOf, type NodesSettings } from "./nodes/settings";

/** How a transport is made. */
export interface TransportOptions<S extends Slot = never> {
    /** Where calls go: one origin or several, `"http://127.0.0.1:9200"` or `{ url, weight }`. */
    readonly nodes: NodeGiven | readonly NodeGiven[];
    /** In the order that `leat/middleware` gives them; what is made of two parts is given as a list of them. Default: none. */
    readonly middleware?: readonly (Middleware | readonly Middleware[])[];
    /** What sends. Default: undici, with `connections` of them to a node. */
    readonly connection?: Connection;
    /** How a node is chosen, and when one is left alone. */
    readonly balance?: NodesOptions;
    /** A call with all its tries, waits and its body, in milliseconds. `Infinity` for no end. Default: 30,000. */
    readonly timeoutMs?: number;
    /** One try with its body. Default: `Infinity`; the call ends it. */
    readonly tryTimeoutMs?: number;
    /** Limits of a response's body. Defaults: 64 MiB raw and decoded, and a ratio of 100. */
    readonly limits?: Partial<BodyLimits>;
    /** Headers of each call; those of the call stand in their place. Names in lower case. */
    readonly headers?: Readonly<Record<Lowercase<string>, string | readonly string[]>>;
    /** Which statuses are thrown as `response.status`: from 400 on with `true`. Default: none, a status is a result. */
    readonly throwStatus?: boolean | ((status: number) => boolean);
    /** Whole numbers of JSON that a double cannot hold become bigint. Default: false. */
    readonly bigint?: boolean;
    /** Slots of your own that `request` is given with `set`. */
    readonly provides?: readonly S[];
    /** Freezes what middleware see and refuses undeclared use: see `leat/middleware`. Default: false. */
    readonly development?: boolean;
    /**
     * Measures each hook of each middleware: `measured()` tells. `true` for milliseconds, and bytes of the heap, of which a collection
     * takes away; or gauges of your own. It costs two readings of each gauge a hook, some microseconds with `true`. Default: false.
     */
    readonly measure?: boolean | Gauges;
    /** For tests. Default: this process's. */
    readonly clock?: Clock;
    /** For tests. Default: `Math.random`'s. */
    readonly random?: Random;
}

/** A call takes no longer than a person waits. */
const TIMEOUT_MS = 30_000;
/** More is no answer to hold in memory; read it as a stream, or say so. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** JSON that repeats itself comes to 10 to 30; what is made to explode to 1,000. */
const RATIO_MAX = 100;

/** What was given, and nothing that cannot be. */
export interface Settings {
    readonly nodes: readonly NodeSpec[];
    readonly middleware: readonly Middleware[];
    readonly connection: Connection | undefined;
    readonly balance: NodesSettings;
    readonly timeoutMs: number;
    readonly tryTimeoutMs: number;
    readonly limits: BodyLimits;
    readonly headers: Readonly<Record<string, string | readonly string[]>> | undefined;
    readonly throws: (status: number) => boolean;
    readonly bigint: boolean;
    readonly provides: readonly Slot[];
    readonly development: boolean;
    readonly measure: Gauges | undefined;
    readonly clock: Clock;
    readonly random: Random;
}

const KNOWN = ["nodes", "middleware", "connection", "balance", "timeoutMs", "tryTimeoutMs", "limits", "headers", "throwStatus", "bigint", "provides", "development", "measure", "clock", "random"];

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`
 */
export function settingsOf(given: unknown): Settings {
    const options = objectOf("the options of Transport", given, KNOWN) as Partial<TransportOptions<Slot>>;
    const nodes: readonly unknown[] = Array.isArray(options.nodes) ? options.nodes : [options.nodes];
    if (nodes.length === 0) throw wrongOption("nodes", nodes, 'at least one origin: nodes: "http://127.0.0.1:9200"');
    const limits = objectOf("limits", options.limits ?? {}, ["rawBytesMax", "decodedBytesMax", "ratioMax"]) as Partial<BodyLimits>;
    return {
        nodes: nodes.map((node, at) => nodeOf(Array.isArray(options.nodes) ? `nodes[${at}]` : "nodes", node)),
        middleware: middlewareOf(options.middleware),
        connection: connectionOf(options.connection),
        balance: nodesOptionsOf(options.balance),
        timeoutMs: durationOf("timeoutMs", options.timeoutMs, TIMEOUT_MS),
        tryTimeoutMs: durationOf("tryTimeoutMs", options.tryTimeoutMs, Infinity),
        limits: {
            rawBytesMax: countOf("limits.rawBytesMax", limits.rawBytesMax, BODY_BYTES_MAX),
            decodedBytesMax: countOf("limits.decodedBytesMax", limits.decodedBytesMax, BODY_BYTES_MAX),
            ratioMax: durationOf("limits.ratioMax", limits.ratioMax, RATIO_MAX, "a number above 0, or Infinity"),
        },
        headers: options.headers,
        throws: throwsOf(options.throwStatus),
        bigint: flagOf("bigint", options.bigint, false),
        provides: providesOf(options.provides),
        development: flagOf("development", options.development, false),
        measure: gaugesOf(options.measure),
        clock: clockOf(options.clock),
        random: randomOf(options.random),
    };
}

/** The compiler looks at each of them. */
function middlewareOf(given: unknown): readonly Middleware[] {
    if (given === undefined) return [];
    if (Array.isArray(given)) return (given as (Middleware | Middleware[])[]).flat();
    throw wrongOption("middleware", given, "an array of middleware: [retry(), compression()]");
}

function connectionOf(given: unknown): Connection | undefined {
    if (given === undefined) return undefined;
    if (typeof given === "object" && given !== null && typeof (given as Partial<Connection>).send === "function" && typeof (given as Partial<Connection>).close === "function") return given as Connection;
    throw wrongOption("connection", given, "a connection, with send and close: connection: undici({ connections: 50 })");
}

function throwsOf(given: unknown): (status: number) => boolean {
    if (given === undefined || given === false) return () => false;
    if (given === true) return (status) => status >= 400;
    if (typeof given === "function") return given as (status: number) => boolean;
    throw wrongOption("throwStatus", given, "true, false, or a function: (status) => status >= 500");
}

function providesOf(given: unknown): readonly Slot[] {
    if (given === undefined) return [];
    if (Array.isArray(given)) return given as readonly Slot[];
    throw wrongOption("provides", given, 'an array of slots: [slot("tenant").of()]');
}

const GAUGES: Gauges = { clock: () => performance.now(), bytes: () => getHeapStatistics().used_heap_size };

function gaugesOf(given: unknown): Gauges | undefined {
    if (given === undefined || given === false) return undefined;
    if (given === true) return GAUGES;
    const { clock, bytes } = (given ?? {}) as Partial<Gauges>;
    if (typeof clock === "function" && (bytes === undefined || typeof bytes === "function")) return given as Gauges;
    throw wrongOption("measure", given, "true, or gauges: { clock: () => performance.now(), bytes: … }");
}

function clockOf(given: Partial<Clock> | null | undefined): Clock {
    if (given === undefined) return systemClock;
    if (given !== null && typeof given.nowMs === "function" && typeof given.timeMs === "function" && typeof given.after === "function") return given as Clock;
    throw wrongOption("clock", given, "a clock, with nowMs, timeMs and after: new VirtualClock()");
}

function randomOf(given: unknown): Random {
    if (given === undefined) return systemRandom;
    if (typeof given === "function") return given as Random;
    throw wrongOption("random", given, "a function that draws whole numbers below 2^32");
}
