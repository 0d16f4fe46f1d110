import { addon } from "./load";

/** The engine's counters, of all lanes of this process, in Prometheus' text format. */
export function engineMetrics(): string {
    return addon().metrics();
}
