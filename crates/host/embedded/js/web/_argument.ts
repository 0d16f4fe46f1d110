/** What an argument of the wrong type is, as Node says it. */
export function described(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    if (typeof value === "function") return `function ${value.name}`;
    if (typeof value === "object") return value.constructor?.name ? `an instance of ${value.constructor.name}` : "an object";
    return `type ${typeof value} (${typeof value === "string" ? `'${value}'` : String(value)})`;
}
