// A plan as a table to read.
import { HOOKS, type Middleware } from "./middleware";
import { type Slot } from "./slot";

const TITLES = ["#", "name", "scope", "runs", "reads", "writes", "placed by"];

/** One line for each middleware, outermost first, and one for the sender. */
export function explain(sorted: readonly Middleware[]): string {
    const rows = sorted.map((each, at) => [String(at + 1), each.name, each.scope, runs(each), slots(each.reads), slots(each.writes), placed(each)]);
    const table = [TITLES, ...rows, [String(sorted.length + 1), "(send)", "attempt", "", "", "", ""]];
    const widths = TITLES.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
    return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n");
}

function runs({ code, repeats }: Middleware): string {
    if (code.around !== undefined) return repeats ? "around, repeats" : "around";
    return HOOKS.filter((hook) => code[hook] !== undefined).join(" ");
}

function slots(of: readonly Slot[]): string {
    return of.length === 0 ? "-" : of.map(({ name }) => name).join(" ");
}

function placed({ before, after }: Middleware): string {
    const constraints = [...before.map((name) => `before ${name}`), ...after.map((name) => `after ${name}`)];
    return constraints.length === 0 ? "the list" : constraints.join(", ");
}
