// What is counted, as text for Prometheus: the engine's numbers, and the pauses of this thread's garbage collector.
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { threadId } from "node:worker_threads";
import { engineMetrics } from "../native/metrics";

/** Upper bounds of the histogram's buckets, in milliseconds; those of the text are seconds. */
const BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000];

/** What the collector did, by Node's number for it. */
const KINDS = new Map<number, string>([
    [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
    [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
    [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
    [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak_callbacks"],
]);

/** The pauses of one kind. `buckets` has one more than there are bounds, for what is above all of them. */
interface Pauses {
    buckets: number[];
    sumMs: number;
}

const pauses = new Map<string, Pauses>([...KINDS.values()].map((kind) => [kind, { buckets: new Array<number>(BOUNDS_MS.length + 1).fill(0), sumMs: 0 }]));

let observer: PerformanceObserver | undefined;

/**
 * The metrics of this process in Prometheus' text format (`text/plain; version=0.0.4`): the engine's, of all threads, and
 * the pauses of the calling thread's garbage collector from the first call on. A call asks the engine's thread and waits
 * for its answer; nothing is counted per request for it.
 */
export function metrics(): string {
    observe();
    return engineMetrics() + pausesText();
}

/** Begins to watch. Node tells of a pause in a later turn of the event loop. */
function observe(): void {
    if (observer !== undefined) return;
    observer = new PerformanceObserver((list) => {
        list.getEntries().forEach(count);
    });
    observer.observe({ entryTypes: ["gc"] });
}

function count(entry: PerformanceEntry): void {
    const { detail } = entry as PerformanceEntry & { detail: { kind: number } };
    const found = pauses.get(KINDS.get(detail.kind) ?? "");
    if (found === undefined) return;
    const bucket = BOUNDS_MS.findIndex((bound) => entry.duration <= bound);
    const at = bucket === -1 ? BOUNDS_MS.length : bucket;
    found.buckets[at] = (found.buckets[at] ?? 0) + 1;
    found.sumMs += entry.duration;
}

function pausesText(): string {
    const name = "leat_gc_pause_seconds";
    let out = `# HELP ${name} Pauses of a JavaScript thread for its garbage collector, from the first call of metrics() on.\n# TYPE ${name} histogram\n`;
    for (const [kind, { buckets, sumMs }] of pauses) {
        const labels = `thread="${threadId}",kind="${kind}"`;
        let total = 0;
        buckets.forEach((pausesHere, at) => {
            total += pausesHere;
            const bound = BOUNDS_MS[at];
            out += `${name}_bucket{${labels},le="${bound === undefined ? "+Inf" : bound / 1000}"} ${total}\n`;
        });
        out += `${name}_sum{${labels}} ${sumMs / 1000}\n${name}_count{${labels}} ${total}\n`;
    }
    return out;
}
