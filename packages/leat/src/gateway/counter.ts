// Counters that plug-ins keep.

/** What a counter is called and has besides. */
export interface CounterOptions<L extends string = never> {
    /** What it counts, for those who read the page. Default: nothing is said. */
    readonly help?: string;
    /** Names of its labels, 4 at most. */
    readonly labels?: readonly L[];
}

/** A number that only grows. The gateway shows it on its page of metrics as `leat_plugin_NAME_total`; elsewhere nobody reads it. */
export interface Counter<L extends string = never> {
    readonly name: string;
    /**
     * Adds a whole number, 1 by default, with a value for each label.
     * @throws {TypeError} a number that is none, or a label without a value
     */
    add(by?: number, ...labels: [L] extends [never] ? [] : [labels: Readonly<Record<L, string>>]): void;
}

/**
 * Makes a counter, once, beside the middleware that counts: `const refused = counter("refused", { labels: ["tenant"] })`, and
 * `refused.add(1, { tenant })`. The same name with the same labels is the same counter.
 *
 * @throws {TypeError} a name, or one of a label, that is not lower-case letters, digits and `_`; more than 4 labels
 */
export function counter<const L extends string = never>(name: string, options: CounterOptions<L> = {}): Counter<L> {
    const labels = checkCounter(name, options);
    return { name, add: (by = 1, ...values) => void valuesOf(name, labels, by, values[0]) };
}

const LABELS_MAX = 4;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** What a counter is given, looked at as every host does; says the names of its labels. */
export function checkCounter(name: string, { labels = [] }: CounterOptions<string>): readonly string[] {
    for (const each of [name, ...labels]) {
        if (!NAME.test(each)) throw new TypeError(`"${each}" is no name of a counter or of a label: lower-case letters, digits and _, 64 at most`);
    }
    if (name.endsWith("_total")) throw new TypeError(`the counter "${name}" is shown with _total behind its name; leave it out`);
    if (labels.length > LABELS_MAX || new Set(labels).size < labels.length) throw new TypeError(`the counter "${name}" has ${labels.length} labels: ${LABELS_MAX} at most, and each once`);
    return labels;
}

/** What is added, looked at as every host does; says the values of the labels in their order. */
export function valuesOf(name: string, labels: readonly string[], by: number, values: Readonly<Record<string, string>> = {}): readonly string[] {
    if (!Number.isSafeInteger(by) || by < 0) throw new TypeError(`the counter "${name}" grows by whole numbers, not by ${String(by)}`);
    return labels.map((label) => {
        const value: unknown = values[label];
        if (typeof value !== "string") throw new TypeError(`the counter "${name}" takes a text for its label "${label}"`);
        return value;
    });
}
