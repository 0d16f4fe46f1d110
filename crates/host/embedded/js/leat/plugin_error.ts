// What the host is told of an error of a plug-in's.

/** With its stack, where it has one. */
export function textOf(error: unknown): string {
    try {
        if (error instanceof Error) {
            const stack: unknown = error.stack;
            return typeof stack === "string" ? stack : String(error);
        }
        return typeof error === "object" && error !== null ? `an object was thrown: ${Object.keys(error).join(", ")}` : String(error);
    } catch {
        // A getter, a proxy or `toString` of it throws.
        return "what was thrown can't be shown";
    }
}
