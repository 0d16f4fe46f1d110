// The hook that finds `express` for `import` where it is not installed. Old versions of Node run this file in a thread of its own.

interface Found {
    url: string;
    format?: string | null;
    shortCircuit?: boolean;
}
/** `T` is what comes of a resolution: a promise in a thread of hooks. */
export type ResolveHook<T> = (specifier: string, context: unknown, next: (specifier: string, context: unknown) => T) => T | Found;

let leats = "";

/** Called in the thread of hooks with the `data` of `register`. */
export function initialize(url: string): void {
    leats = url;
}

/** The hook in the thread of hooks. */
export async function resolve(...[specifier, context, next]: Parameters<ResolveHook<Promise<Found>>>): Promise<Found> {
    try {
        return await next(specifier, context);
    } catch (error) {
        return found(specifier, leats, error);
    }
}

/** The hook in the program's own thread. */
export function absentHooks(url: string): ResolveHook<unknown> {
    return (specifier, context, next) => {
        try {
            return next(specifier, context);
        } catch (error) {
            return found(specifier, url, error);
        }
    };
}

function found(specifier: string, url: string, error: unknown): Found {
    if (specifier !== "express" || (error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return { url, format: "commonjs", shortCircuit: true };
}
