// The nodes of a transport, and which of them is next.
import { type Clock, type Random } from "../clock";
import { TransportError } from "../error";
import { Outliers } from "../policy/balance/outliers";
import { betterOfTwo, requestLoad } from "../policy/balance/two_choices";
import { RoundRobin } from "../policy/balance/round_robin";
import { Weighted } from "../policy/balance/weighted";
import { Node, type NodeStats } from "./node";
import { type NodesSettings } from "./settings";
import { nodeOf, type NodeSpec } from "./spec";

/** More would be a mistake of whoever lists them. */
const NODES_MAX = 4096;

export class Nodes {
    readonly #settings: NodesSettings;
    readonly #clock: Clock;
    readonly #random: Random;
    #nodes: readonly Node[] = [];
    readonly #roundRobin = new RoundRobin();
    readonly #weighted = new Weighted();
    #sniffsAtMs = -Infinity;
    #isSniffing = false;
    /** Why the last sniff came to nothing. */
    sniffError: unknown = undefined;

    constructor(specs: readonly NodeSpec[], settings: NodesSettings, clock: Clock, random: Random) {
        this.#settings = settings;
        this.#clock = clock;
        this.#random = random;
        this.set(specs);
    }

    /** Puts others in place of the nodes. One that was there already keeps what is known of it, but for ejections. */
    set(specs: readonly NodeSpec[]): void {
        if (specs.length === 0 || specs.length > NODES_MAX) throw new TransportError("options.invalid", `${specs.length} nodes; there are 1 to ${NODES_MAX}`);
        const before = new Map(this.#nodes.map((node) => [keyOf(node.spec), node]));
        const after = new Map<string, Node>();
        for (const spec of specs) after.set(keyOf(spec), before.get(keyOf(spec)) ?? new Node(spec, this.#settings, this.#clock.nowMs()));
        const isSame = before.size === after.size && [...after.keys()].every((key) => before.has(key));
        this.#nodes = [...after.values()];
        const { ejection } = this.#settings;
        if (ejection === undefined || isSame) return;
        // Answers are counted anew where others are compared.
        const outliers = new Outliers(ejection.outliers, after.size);
        this.#nodes.forEach((node, at) => node.compare(outliers, at));
    }

    /**
     * The next node: of those that can be used, one that is not `avoided` if there is another one. If all are dead, the one that is
     * the first to be tried again: a call is better tried than refused.
     */
    pick(avoided: Node | undefined): Node {
        const nodes = this.#nodes;
        const { sniff } = this.#settings;
        if (nodes.length === 1 && sniff === undefined) return nodes[0] as Node;
        const nowMs = this.#clock.nowMs();
        if (sniff !== undefined && nowMs >= this.#sniffsAtMs && !this.#isSniffing) void this.#sniff(sniff);
        if (nodes.length === 1) return nodes[0] as Node;
        return this.#among(nodes, nowMs, avoided) ?? (avoided?.isUsable(nowMs) === true && nodes.includes(avoided) ? avoided : soonest(nodes));
    }

    stats(): readonly NodeStats[] {
        const nowMs = this.#clock.nowMs();
        return this.#nodes.map((node) => node.stats(nowMs));
    }

    #among(nodes: readonly Node[], nowMs: number, avoided: Node | undefined): Node | undefined {
        const isUsable = (node: Node): boolean => node !== avoided && node.isUsable(nowMs);
        const { strategy } = this.#settings;
        let at: number | undefined;
        if (strategy === "round_robin") at = this.#roundRobin.pick(nodes.length, (index) => isUsable(nodes[index] as Node));
        else if (strategy === "weighted") at = this.#weighted.pick(nodes.length, (index) => (isUsable(nodes[index] as Node) ? (nodes[index] as Node).spec.weight : 0));
        else {
            const usable = nodes.filter(isUsable);
            const loadOf = strategy === "least_request" ? ({ inFlight, spec }: Node) => requestLoad(inFlight, spec.weight) : (node: Node) => node.loadUs(nowMs);
            const position = betterOfTwo(usable.length, (index) => loadOf(usable[index] as Node), this.#random);
            return position === undefined ? undefined : usable[position];
        }
        return at === undefined ? undefined : nodes[at];
    }

    /** Calls go on meanwhile, to the nodes that are known. A sniff that fails changes nothing, and the next is at its time. */
    async #sniff(sniff: () => Promise<readonly unknown[]>): Promise<void> {
        this.#isSniffing = true;
        try {
            const found = await sniff();
            if (!Array.isArray(found)) throw new TypeError("sniff came to no array of nodes");
            this.set(found.map((node: unknown, at) => nodeOf(`sniffed[${at}]`, node)));
            this.sniffError = undefined;
        } catch (error) {
            this.sniffError = error;
        } finally {
            this.#isSniffing = false;
            this.#sniffsAtMs = this.#clock.nowMs() + this.#settings.sniffMs;
        }
    }
}

function keyOf({ origin, prefix, weight }: NodeSpec): string {
    return `${origin}${prefix} ${weight}`;
}

function soonest(nodes: readonly Node[]): Node {
    return nodes.reduce((best, node) => (node.deadUntilMs < best.deadUntilMs ? node : best));
}
