// What a plug-in's file exports, as middleware.
import { type Middleware } from "./plan";
import { bypassing } from "./plugin_bypass";

/** A plug-in's file, what it exports, and how it is used. */
export interface Given {
    readonly name: string;
    readonly file: string;
    readonly exports: unknown;
    /** What a function that makes middleware gets. */
    readonly options?: unknown;
    /** Requests go on without what it throws. */
    readonly bypass: boolean;
}

/** The middleware of one file. */
export function middlewareOf({ name, file, exports, options, bypass }: Given): readonly Middleware[] {
    const found = (exports as { readonly default?: unknown } | null | undefined)?.default ?? exports;
    if (typeof found !== "function" && options !== undefined) {
        throw new TypeError(`${file}: it gets options, and exports no function that takes them; write export default (options) => middleware({ … })`);
    }
    const made: unknown = typeof found === "function" ? (found as (options: unknown) => unknown)(options ?? {}) : found;
    const list: readonly unknown[] = Array.isArray(made) ? made : [made];
    if (list.length === 0 || !list.every(isMiddleware)) {
        const [what, returns] = typeof found === "function" ? ["its function returns", "export default (options) => "] : ["it exports", "export default "];
        throw new TypeError(`${file}: ${what} no middleware; write ${returns}middleware({ name: "…", scope: "call", onRequest(context) { … } }), or an array of such, with import { middleware } from "leat/middleware"`);
    }
    return bypass ? (list as readonly Middleware[]).map((one) => bypassing(one, name)) : (list as readonly Middleware[]);
}

function isMiddleware(value: unknown): value is Middleware {
    return typeof (value as Partial<Middleware> | null | undefined)?.code === "object";
}
