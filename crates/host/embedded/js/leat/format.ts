// What `console.log` and `util.format` make of values that need no `inspect`: that is loaded for the others.

interface Inspecting {
    formatWithOptions(options: object, ...values: unknown[]): string;
}

const full = (): Inspecting => require("./inspect") as Inspecting;

/** `util.formatWithOptions`. Text, numbers and the like cost no more than putting them together. */
export function formatValues(values: readonly unknown[], options?: object): string {
    const [first] = values;
    if (typeof first === "string" && (values.length === 1 || !first.includes("%")) && options === undefined) {
        if (values.length === 1) return first;
    } else if (options !== undefined || typeof first === "string") return full().formatWithOptions(options ?? {}, ...values);
    let out = "";
    let between = "";
    for (const value of values) {
        switch (typeof value) {
            case "string":
                out += between + value;
                break;
            case "number":
                out += between + (Object.is(value, -0) ? "-0" : String(value));
                break;
            case "boolean":
            case "undefined":
                out += between + String(value);
                break;
            case "bigint":
                out += `${between}${value}n`;
                break;
            default:
                if (value !== null) return full().formatWithOptions({}, ...values);
                out += `${between}null`;
        }
        between = " ";
    }
    return out;
}
