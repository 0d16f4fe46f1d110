// What a call came to, in one line: its value, or the name, code and words of what it threw.
export function tried(call) {
    try {
        return short(call());
    } catch (error) {
        return worded(error);
    }
}

export const worded = (error) => (error instanceof Error ? `${error.constructor.name} ${error.code ?? "-"}: ${error.message}` : String(error));

/** Messages and sockets by their class, and whatever else as it prints. */
const short = (value) => (value !== null && typeof value === "object" ? value.constructor.name : String(value));
