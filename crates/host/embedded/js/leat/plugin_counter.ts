// Counters of plug-ins, which the host adds up over its cores.
import { checkCounter, type Counter, type CounterOptions, valuesOf } from "../../../../../packages/leat/src/gateway/counter";

const own = native("plugins") as {
    /** The number of a counter, the same for the same name; -1 where there are too many. */
    counter(name: string, help: string, labels: readonly string[]): number;
    count(counter: number, by: number, values: readonly string[]): void;
};

/** As `counter` of the package; a counter too many counts nothing, which the log says. */
export function counter<const L extends string = never>(name: string, options: CounterOptions<L> = {}): Counter<L> {
    const labels = checkCounter(name, options);
    const number = own.counter(name, options.help ?? "", labels);
    return { name, add: (by = 1, ...values) => own.count(number, by, valuesOf(name, labels, by, values[0])) };
}
