// Puts Leat's parts where files of `express` would be loaded. What a name resolves to is not touched: tools that hook modules
// tell a package by the path and look its version up beside it. Node loads CommonJS in this one place, also for `import`.
import Module = require("node:module");
import { packageFile } from "./package";
import { type partOf } from "./parts";

interface LoadedModule {
    exports: unknown;
    require(id: string): unknown;
}
type Extension = (module: LoadedModule, filename: string) => void;

interface Loader {
    prototype: { load: (this: LoadedModule, filename: string) => void };
    _extensions: Record<string, Extension>;
}
const { prototype, _extensions: extensions } = Module as unknown as Loader;

/** Loads Leat's part for every file that has one. */
export function mapFiles(): void {
    const load = prototype.load;
    prototype.load = function (filename) {
        const file = packageFile(filename);
        if (file === undefined) {
            load.call(this, filename);
            return;
        }
        const part = (require("./parts") as { partOf: typeof partOf }).partOf(file);
        if (part === undefined) {
            load.call(this, filename);
            return;
        }
        // All else that loading does is Node's; whatever is there for `.js` just now is what the next module gets.
        const read = extensions[".js"] as Extension;
        extensions[".js"] = (module) => {
            extensions[".js"] = read;
            // Somebody who requires it in a circle gets it as well.
            module.exports = part.exports((id) => module.require(id));
            for (const id of part.requires ?? []) module.require(id);
        };
        try {
            load.call(this, filename);
        } finally {
            extensions[".js"] = read;
        }
    };
}
