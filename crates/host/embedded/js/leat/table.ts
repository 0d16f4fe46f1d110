// `console.table`: rows and columns in a frame.
import { getStringWidth, inspect } from "./inspect";

type Row = Record<string, string>;

const INDEX = "(index)";
const ITERATION = "(iteration index)";
const KEY = "Key";
const VALUES = "Values";

function shown(value: unknown): string {
    const depth = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0;
    return inspect(value, { maxArrayLength: 3, breakLength: Infinity, colors: false, depth });
}

/** The frame around `rows`, whose first is the head. */
function frame(head: readonly string[], columns: readonly (readonly string[])[]): string {
    const widths = head.map((name, at) => Math.max(getStringWidth(name), ...(columns[at] ?? []).map((text) => getStringWidth(text))) + 2);
    const rule = (left: string, middle: string, right: string): string => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
    const line = (cells: readonly string[]): string =>
        `│${cells.map((cell, at) => ` ${cell}${" ".repeat((widths[at] as number) - getStringWidth(cell) - 1)}`).join("│")}│\n`;
    let out = `${rule("┌", "┬", "┐")}\n${line(head)}${rule("├", "┼", "┤")}\n`;
    const length = Math.max(0, ...columns.map((column) => column.length));
    for (let row = 0; row < length; row++) out += line(columns.map((column) => column[row] ?? ""));
    return out + rule("└", "┴", "┘");
}

/** The table of `data`; `undefined` if it is no object. */
export function table(data: unknown, only?: readonly string[]): string | undefined {
    if (data === null || typeof data !== "object") return undefined;
    if (data instanceof Map) {
        const entries = [...data];
        return frame([ITERATION, KEY, VALUES], [entries.map((_, at) => String(at)), entries.map(([key]) => shown(key)), entries.map(([, value]) => shown(value))]);
    }
    const isIterator = Object.prototype.toString.call(data).endsWith(" Iterator]");
    if (data instanceof Set || isIterator) {
        const values = [...(data as Iterable<unknown>)];
        return frame([ITERATION, VALUES], [values.map((_, at) => String(at)), values.map(shown)]);
    }
    const rows: Row[] = [];
    const plain: (string | undefined)[] = [];
    const indexes = Object.keys(data);
    const names = new Set<string>(only ?? []);
    for (const index of indexes) {
        const item = (data as Record<string, unknown>)[index];
        const row: Row = {};
        if (item === null || (typeof item !== "object" && typeof item !== "function")) plain.push(shown(item));
        else {
            plain.push(undefined);
            for (const name of only ?? Object.keys(item)) {
                names.add(name);
                if (Object.hasOwn(item, name)) row[name] = shown((item as Record<string, unknown>)[name]);
            }
        }
        rows.push(row);
    }
    const head = [INDEX, ...names];
    const columns = [indexes, ...[...names].map((name) => rows.map((row) => row[name] ?? ""))];
    if (plain.some((value) => value !== undefined)) {
        head.push(VALUES);
        columns.push(plain.map((value) => value ?? ""));
    }
    return frame(head, columns);
}
