// What the host is told of an error of a plug-in's.

/** With its stack, where it has one. */
export function textOf(error: unknown): string {
    if (error instanceof Error) return error.stack ?? String(error);
    return typeof error === "object" && error !== null ? `an object was thrown: ${Object.keys(error).join(", ")}` : String(error);
}
