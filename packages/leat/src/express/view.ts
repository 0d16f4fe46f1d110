import { statSync, type Stats } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { debugOf, loadEngine } from "./libraries";
import { type RenderCallback } from "./types";

const debug = debugOf("express:view");

type Engine = (path: string | undefined, options: object, callback: RenderCallback) => void;

export interface ViewOptions {
    defaultEngine: string | undefined;
    root: string | string[] | undefined;
    engines: Record<string, unknown>;
}

/** A template: the file that a name stands for, and the engine that renders it. */
export interface View {
    defaultEngine: string | undefined;
    ext: string;
    name: string;
    root: string | string[] | undefined;
    engine: Engine;
    path: string | undefined;
    lookup(name: string): string | undefined;
    render(options: object, callback: RenderCallback): void;
    resolve(folder: string, file: string): string | undefined;
}

export type ViewConstructor = new (name: string, options?: ViewOptions) => View;

/** The class of views. With `alwaysLater`, a program hears of an engine that calls back at once in a later tick. */
export function viewClass(alwaysLater: boolean): ViewConstructor {
    // A function, since programs of all ages inherit from it.
    const View = function View(this: View, name: string, given?: ViewOptions): void {
        const options = given ?? ({} as ViewOptions);
        this.defaultEngine = options.defaultEngine;
        this.ext = extname(name);
        this.name = name;
        this.root = options.root;
        if (!this.ext && !this.defaultEngine) throw new Error("No default engine was specified and no extension was provided.");
        let file = name;
        if (!this.ext) {
            const engine = this.defaultEngine as string;
            this.ext = engine[0] === "." ? engine : `.${engine}`;
            file += this.ext;
        }
        if (!options.engines[this.ext]) {
            const module = this.ext.slice(1);
            debug('require "%s"', module);
            const engine = (loadEngine(module) as { __express?: unknown }).__express;
            if (typeof engine !== "function") throw new Error(`Module "${module}" does not provide a view engine.`);
            options.engines[this.ext] = engine;
        }
        this.engine = options.engines[this.ext] as Engine;
        this.path = this.lookup(file);
    } as unknown as ViewConstructor;

    Object.assign(View.prototype, {
        /** The file of `name` in the first root that has it. */
        lookup(this: View, name: string): string | undefined {
            debug('lookup "%s"', name);
            for (const root of ([] as (string | undefined)[]).concat(this.root)) {
                const place = resolve(root as string, name);
                const path = this.resolve(dirname(place), basename(place));
                if (path) return path;
            }
            return undefined;
        },

        render(this: View, options: object, callback: RenderCallback): void {
            debug('render "%s"', this.path);
            if (!alwaysLater) {
                this.engine(this.path, options, callback);
                return;
            }
            let returned = false;
            this.engine(this.path, options, function (this: unknown, ...args: [unknown, string?]) {
                if (returned) {
                    callback.apply(this, args);
                    return;
                }
                process.nextTick(() => callback.apply(this, args));
            });
            returned = true;
        },

        /** `folder/file`, or the index file of the folder of that name. */
        resolve(this: View, folder: string, file: string): string | undefined {
            const direct = join(folder, file);
            if (isFile(direct)) return direct;
            const index = join(folder, basename(file, this.ext), `index${this.ext}`);
            return isFile(index) ? index : undefined;
        },
    });
    return View;
}

function isFile(path: string): boolean {
    debug('stat "%s"', path);
    let stats: Stats;
    try {
        stats = statSync(path);
    } catch {
        return false;
    }
    return stats.isFile();
}
