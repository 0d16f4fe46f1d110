// `assert.AssertionError` and its messages.
import { inspect } from "./inspect";

interface Options {
    readonly message?: unknown;
    readonly actual?: unknown;
    readonly expected?: unknown;
    readonly operator?: string;
    readonly stackStartFn?: unknown;
    readonly generated?: string;
}

/** What stands above the values, by operator. */
const heads: Record<string, string> = {
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    strictEqual: "Expected values to be strictly equal:",
    strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
    deepEqual: "Expected values to be loosely deep-equal:",
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
    notIdentical: "Values have same structure but are not reference-equal:",
    notDeepEqualUnequal: "Expected values not to be loosely deep-equal:",
};

/** Characters of two values that stand on one line. */
const SHORT_MAX = 12;
/** Lines that are compared; more are shown as they are. */
const LINES_MAX = 1000;
/** Lines of a value that is shown whole. */
const SHOWN_MAX = 50;
/** Characters of a value that loose comparisons show. */
const LOOSE_MAX = 512;

function shown(value: unknown): string {
    return inspect(value, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, showHidden: false, showProxy: false, sorted: true, getters: true });
}

/** The lines of two texts with `+` and `-` where they differ, and the lines around those. */
function difference(actual: readonly string[], expected: readonly string[]): string {
    const table: Uint16Array[] = Array.from({ length: actual.length + 1 }, () => new Uint16Array(expected.length + 1));
    const cell = (row: number, column: number): number => table[row]?.[column] ?? 0;
    for (let row = actual.length - 1; row >= 0; row--) {
        for (let column = expected.length - 1; column >= 0; column--) {
            const same = actual[row] === expected[column];
            (table[row] as Uint16Array)[column] = same ? cell(row + 1, column + 1) + 1 : Math.max(cell(row + 1, column), cell(row, column + 1));
        }
    }
    const lines: string[] = [];
    let row = 0;
    let column = 0;
    while (row < actual.length || column < expected.length) {
        if (row < actual.length && column < expected.length && actual[row] === expected[column]) {
            lines.push(`  ${actual[row]}`);
            row++;
            column++;
        } else if (row < actual.length && (column >= expected.length || cell(row + 1, column) >= cell(row, column + 1))) lines.push(`+ ${actual[row++]}`);
        else lines.push(`- ${expected[column++]}`);
    }
    return lines.join("\n");
}

function compared(actual: unknown, expected: unknown, operator: string): string {
    const isValue = (value: unknown): boolean => (typeof value !== "object" || value === null) && typeof value !== "function";
    const one = shown(actual).split("\n");
    const other = shown(expected).split("\n");
    const key = operator === "strictEqual" && !isValue(actual) && !isValue(expected) ? "strictEqualObject" : operator;
    if (one.join("\n") === other.join("\n")) {
        if (operator === "strictEqual" || !isValue(actual)) return `${heads["notIdentical"]}\n\n${one.join("\n")}\n`;
    }
    if (one.length === 1 && other.length === 1 && one[0] !== other[0] && isValue(actual) && isValue(expected)) {
        const length = (one[0] as string).length + (other[0] as string).length;
        if (length <= SHORT_MAX && (actual !== 0 || expected !== 0)) return `${heads[operator]}\n\n${one[0]} !== ${other[0]}\n`;
    }
    if (one.length > LINES_MAX || other.length > LINES_MAX) return `${heads[key]}\n\n${one.slice(0, SHOWN_MAX).join("\n")}\n...\n`;
    return `${heads[key]}\n+ actual - expected\n\n${difference(one, other)}`;
}

function unequal(actual: unknown, operator: string): string {
    const isObject = (typeof actual === "object" && actual !== null) || typeof actual === "function";
    const head = operator === "notStrictEqual" && isObject ? heads["notStrictEqualObject"] : heads[operator];
    const lines = shown(actual).split("\n");
    if (lines.length > SHOWN_MAX) lines.splice(SHOWN_MAX - 4, Infinity, "...");
    return lines.length === 1 ? `${head}${(lines[0] as string).length > 5 ? "\n\n" : " "}${lines[0]}` : `${head}\n\n${lines.join("\n")}\n`;
}

function loose(actual: unknown, expected: unknown, operator: string): string {
    const cut = (text: string): string => (text.length > LOOSE_MAX ? `${text.slice(0, LOOSE_MAX - 3)}...` : text);
    const one = cut(shown(actual));
    const other = cut(shown(expected));
    if (operator === "deepEqual") return `${heads["deepEqual"]}\n\n${one}\n\nshould loosely deep-equal\n\n${other}`;
    if (operator === "notDeepEqual" && one === other) return `${heads["notDeepEqual"]}\n\n${one}`;
    if (operator === "notDeepEqual") return `${heads["notDeepEqualUnequal"]}\n\n${one}\n\nshould not loosely deep-equal\n\n${other}`;
    return `${one} ${operator} ${other}`;
}

function told({ actual, expected, operator = "" }: Options): string {
    switch (operator) {
        case "deepStrictEqual":
        case "strictEqual":
            return compared(actual, expected, operator);
        case "notDeepStrictEqual":
        case "notStrictEqual":
            return unequal(actual, operator);
        default:
            return loose(actual, expected, operator);
    }
}

export class AssertionError extends Error {
    readonly generatedMessage: boolean;
    readonly code = "ERR_ASSERTION";
    readonly actual: unknown;
    readonly expected: unknown;
    readonly operator: string | undefined;

    constructor(options: Options) {
        if (options === null || typeof options !== "object") {
            const { codes } = require("./errors") as typeof import("./errors");
            throw new codes.ERR_INVALID_ARG_TYPE("options", "Object", options);
        }
        const { message, actual, expected, operator, stackStartFn, generated } = options;
        super(message === undefined || message === null ? (generated ?? told(options)) : String(message));
        this.generatedMessage = message === undefined || message === null;
        Object.defineProperty(this, "name", { value: "AssertionError [ERR_ASSERTION]", enumerable: false, writable: true, configurable: true });
        this.actual = actual;
        this.expected = expected;
        this.operator = operator;
        Error.captureStackTrace(this, (stackStartFn ?? AssertionError) as () => void);
        // The code shows on the stack, and in the name no more.
        void this.stack;
        this.name = "AssertionError";
    }

    override toString(): string {
        return `${this.name} [${this.code}]: ${this.message}`;
    }

    [Symbol.for("nodejs.util.inspect.custom")](_depth: number, options: object): string {
        return inspect(this, { ...options, customInspect: false, depth: 0 });
    }
}
