import { type Dialect } from "./dialect";
import { type Application, type RenderCallback } from "./types";
import { type View as AnyView, type ViewConstructor } from "./view";

/** Renders view `name` of `app`, with its locals and `options`. */
export function render(dialect: Dialect, app: Application, name: string, options: unknown, callback?: RenderCallback): void {
    let given = (dialect.version === 5 ? options || {} : options) as { _locals?: object };
    let done = callback as RenderCallback;
    if (typeof options === "function") {
        done = options as RenderCallback;
        given = {};
    }
    const merged = dialect.merge(app.locals, given._locals, given);
    merged["cache"] ??= app.enabled("view cache");
    let view = merged["cache"] ? (app.cache[name] as AnyView | undefined) : undefined;
    if (!view) {
        const View = app.get("view") as ViewConstructor;
        view = new View(name, { defaultEngine: app.get("view engine") as string, root: app.get("views") as string, engines: app.engines });
        if (!view.path) {
            const { root } = view;
            const places =
                Array.isArray(root) && root.length > 1
                    ? `directories "${root.slice(0, -1).join('", "')}" or "${root.at(-1) as string}"`
                    : `directory "${root as string}"`;
            done(Object.assign(new Error(`Failed to lookup view "${name}" in views ${places}`), { view }));
            return;
        }
        if (merged["cache"]) app.cache[name] = view;
    }
    try {
        view.render(merged, done);
    } catch (error) {
        done(error);
    }
}
