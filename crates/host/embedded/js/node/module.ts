// node:module, and with it `require`: the graph of CommonJS modules. Paths, packages and sources are the native side's.

interface ModulesNative {
    /** A file's path or a built-in's name; null if there is nothing. */
    resolve(request: string, from: string, extensions: readonly string[]): string | null;
    builtin(name: string): unknown;
    isBuiltin(request: string): string | undefined;
    /** Whether Node.js has such a built-in, or this host. */
    isNodes(request: string): boolean;
    names(): string[];
    /** The function around a module's source; null if the file is an ES module. Reads the file if it is given no source. */
    compile(filename: string, source?: string): Compiled | null;
    /** The namespace of an ES module, which runs now. */
    namespace(filename: string, from: string): object;
    read(filename: string): string;
    /** What Leat has for a file of `express`: a built-in's name, and of which member it is. */
    part(filename: string): [name: string, member: string] | null;
    path(url: string): string | null;
    refuseAddon(filename: string, from: string): never;
    strip(source: string): string;
    findMap(filename: string): string | null;
    onImport(load: (filename: string) => unknown): void;
}
type Compiled = (this: unknown, exports: unknown, require: Require, module: LoadedModule, filename: string, dirname: string) => unknown;
type Extension = (module: LoadedModule, filename: string) => void;
interface ResolveOptions {
    paths?: string[];
}
interface Require {
    (id: string): unknown;
    resolve: { (request: string, options?: ResolveOptions): string; paths(request: string): string[] | null };
    main: LoadedModule | undefined;
    extensions: Record<string, Extension>;
    cache: Record<string, LoadedModule>;
}
interface LoadedModule {
    id: string;
    path: string;
    exports: unknown;
    filename: string | null;
    loaded: boolean;
    children: LoadedModule[];
    paths?: string[];
    parent?: LoadedModule | null | undefined;
    require(id: string): unknown;
    load(filename: string): void;
    _compile(source: string, filename: string): unknown;
}
interface ModuleClass {
    (this: LoadedModule, id?: string, parent?: LoadedModule | null): void;
    new (id?: string, parent?: LoadedModule | null): LoadedModule;
    prototype: LoadedModule;
    [name: string]: unknown;
    _cache: Record<string, LoadedModule>;
    _extensions: Record<string, Extension>;
    _load(request: string, parent?: LoadedModule | null, isMain?: boolean): unknown;
    _resolveFilename(request: string, parent?: LoadedModule | null, isMain?: boolean, options?: ResolveOptions): string;
}

const own = native("modules") as ModulesNative;
const { cwd } = native("process") as { cwd(): string };
const DEFAULT_EXTENSIONS = 3;
const parents = new WeakMap<LoadedModule, LoadedModule | null | undefined>();
/** Files by folder and request: each is resolved once. */
const resolved: Record<string, string> = Object.create(null) as Record<string, string>;
const pathsOf = new Map<string, string[]>();

function dirname(path: string): string {
    const at = path.lastIndexOf("/");
    return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

function failure(Class: ErrorConstructor, code: string, message: string): Error & { code: string } {
    const error = new Class(message) as Error & { code: string };
    error.code = code;
    return error;
}

function updateChildren(parent: LoadedModule | null | undefined, child: LoadedModule, scan: boolean): void {
    const children = parent?.children;
    if (children && !(scan && children.includes(child))) children.push(child);
}

const Module = function (this: LoadedModule, id = "", parent?: LoadedModule | null) {
    this.id = id;
    this.path = dirname(id);
    this.exports = {};
    parents.set(this, parent);
    updateChildren(parent, this, false);
    this.filename = null;
    this.loaded = false;
    this.children = [];
} as unknown as ModuleClass;

Object.defineProperty(Module, "name", { value: "Module" });
Module._cache = Object.create(null) as Record<string, LoadedModule>;
Module["_pathCache"] = Object.create(null);
Module._extensions = Object.create(null) as Record<string, Extension>;
Module["globalPaths"] = [];
Module["Module"] = Module;
let main: LoadedModule | undefined;

Object.defineProperty(Module.prototype, "constructor", { configurable: true, get: () => Module });
Object.defineProperty(Module.prototype, "parent", {
    configurable: true,
    get(this: LoadedModule) {
        return parents.get(this);
    },
    set(this: LoadedModule, parent: LoadedModule) {
        parents.set(this, parent);
    },
});
Object.defineProperty(Module.prototype, "isPreloading", { configurable: true, get: () => false });

function nodeModulePaths(from: string): string[] {
    let known = pathsOf.get(from);
    if (known === undefined) {
        known = [];
        for (let folder = from; ; folder = dirname(folder)) {
            if (!folder.endsWith("/node_modules")) known.push(folder === "/" ? "/node_modules" : `${folder}/node_modules`);
            if (folder === "/" || !folder.startsWith("/")) break;
        }
        pathsOf.set(from, known);
    }
    return known.slice();
}
Module["_nodeModulePaths"] = nodeModulePaths;

function isRelative(request: string): boolean {
    return request === "." || request === ".." || request.startsWith("./") || request.startsWith("../");
}

function lookupPaths(request: string, parent?: LoadedModule | null): string[] | null {
    if (own.isBuiltin(request) !== undefined) return null;
    if (!isRelative(request)) return parent?.paths ? parent.paths.slice() : [];
    return [parent?.filename ? dirname(parent.filename) : "."];
}
Module["_resolveLookupPaths"] = lookupPaths;

/** The file that a module's requests are relative to. */
function placeOf(parent: LoadedModule | null | undefined): string {
    if (parent?.filename) return parent.filename;
    if (parent?.paths?.[0]) return `${dirname(parent.paths[0])}/noop.js`;
    return `${cwd()}/noop.js`;
}

function extensions(): string[] {
    const names = Object.keys(Module._extensions);
    return names.length === DEFAULT_EXTENSIONS ? [] : names;
}

Module._resolveFilename = function (request, parent, _isMain, options) {
    if (options?.paths !== undefined) {
        if (!Array.isArray(options.paths)) throw failure(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.paths' is invalid. Received ${String(options.paths)}`);
        for (const path of options.paths) {
            const from = path.startsWith("/") ? path : `${cwd()}/${path}`;
            const found = own.resolve(request, `${from}/noop.js`, extensions());
            if (found !== null) return found;
        }
    } else {
        const found = own.resolve(request, placeOf(parent), extensions());
        if (found !== null) return found.startsWith("node:") && !request.startsWith("node:") ? request : found;
    }
    const requireStack: string[] = [];
    for (let cursor = parent; cursor; cursor = parents.get(cursor)) requireStack.push(cursor.filename || cursor.id);
    let message = `Cannot find module '${request}'`;
    if (requireStack.length > 0) message += `\nRequire stack:\n- ${requireStack.join("\n- ")}`;
    throw Object.assign(failure(Error, "MODULE_NOT_FOUND", message), { requireStack });
};

/** ES modules that run because they were required. */
const requiring = new Set<LoadedModule>();

/** The exports of a module that is loaded, or being loaded: of CommonJS, what is there so far. */
function ready(module: LoadedModule, filename: string, parent?: LoadedModule | null): unknown {
    if (requiring.has(module)) throw failure(Error, "ERR_REQUIRE_CYCLE_MODULE", `Cannot require() ES Module ${filename} in a cycle.${parent?.filename ? ` (from ${parent.filename})` : ""}`);
    return module.exports;
}

Module._load = function (request, parent, isMain) {
    let key: string | undefined;
    if (parent) {
        key = `${parent.path}\0${request}`;
        const known = resolved[key];
        if (known !== undefined) {
            const cached = Module._cache[known];
            if (cached !== undefined) {
                updateChildren(parent, cached, true);
                return ready(cached, known, parent);
            }
            delete resolved[key];
        }
    }
    const filename = Module._resolveFilename(request, parent, isMain);
    const cached = Module._cache[filename];
    if (cached !== undefined) {
        updateChildren(parent, cached, true);
        return ready(cached, filename, parent);
    }
    if (!filename.startsWith("/")) {
        const name = own.isBuiltin(filename);
        if (name !== undefined) return own.builtin(name);
        if (filename.startsWith("leat:")) return own.builtin(filename);
    }
    const module = new Module(filename, parent);
    if (isMain) {
        main = module;
        module.id = ".";
    }
    Module._cache[filename] = module;
    if (key !== undefined) resolved[key] = filename;
    let threw = true;
    try {
        module.load(filename);
        threw = false;
    } finally {
        if (threw) {
            delete Module._cache[filename];
            if (key !== undefined) delete resolved[key];
            const children = parent?.children;
            const at = children?.indexOf(module) ?? -1;
            if (at >= 0) children?.splice(at, 1);
        }
    }
    return module.exports;
};

function extensionOf(filename: string): string {
    const name = filename.slice(filename.lastIndexOf("/") + 1);
    for (let at = name.indexOf(".", 1); at > 0; at = name.indexOf(".", at + 1)) {
        const extension = name.slice(at);
        if (Module._extensions[extension]) return extension;
    }
    return ".js";
}

Module.prototype.load = function (filename) {
    this.filename = filename;
    this.paths = nodeModulePaths(dirname(filename));
    const part = own.part(filename);
    if (part !== null) {
        const whole = own.builtin(part[0]) as Record<string, unknown>;
        this.exports = part[1] === "" ? whole : whole[part[1]];
    } else {
        (Module._extensions[extensionOf(filename)] as Extension)(this, filename);
    }
    this.loaded = true;
};

Module.prototype.require = function (id) {
    if (typeof id !== "string") {
        const { inspect } = require("node:util") as { inspect(value: unknown): string };
        const kind = id === null || id === undefined ? String(id) : typeof id === "function" ? `function ${(id as { name: string }).name}` : typeof id === "object" ? `an instance of ${(id as object).constructor?.name ?? "Object"}` : `type ${typeof id} (${inspect(id)})`;
        throw failure(TypeError, "ERR_INVALID_ARG_TYPE", `The "id" argument must be of type string. Received ${kind}`);
    }
    if (id === "") throw failure(TypeError, "ERR_INVALID_ARG_VALUE", "The argument 'id' must be a non-empty string. Received ''");
    return Module._load(id, this, false);
};

function makeRequire(module: LoadedModule): Require {
    const require = function (id: string): unknown {
        return module.require(id);
    } as Require;
    const resolve = (request: string, options?: ResolveOptions): string => {
        if (typeof request !== "string") throw failure(TypeError, "ERR_INVALID_ARG_TYPE", `The "request" argument must be of type string. Received ${request === null ? "null" : typeof request === "undefined" ? "undefined" : `type ${typeof request} (${String(request)})`}`);
        return Module._resolveFilename(request, module, false, options);
    };
    require.resolve = Object.assign(resolve, { paths: (request: string) => lookupPaths(request, module) });
    require.main = main;
    require.extensions = Module._extensions;
    require.cache = Module._cache;
    return require;
}

function run(module: LoadedModule, compiled: Compiled, filename: string): unknown {
    return compiled.call(module.exports, module.exports, makeRequire(module), module, filename, dirname(filename));
}

/** An ES module that is required: its namespace, as Node gives it. */
function runModule(module: LoadedModule, filename: string): void {
    requiring.add(module);
    try {
        module.exports = own.namespace(filename, parents.get(module)?.filename ?? filename);
    } finally {
        requiring.delete(module);
    }
}

Module.prototype._compile = function (source, filename) {
    const compiled = own.compile(filename, source);
    return compiled === null ? runModule(this, filename) : run(this, compiled, filename);
};

Module._extensions[".js"] = (module, filename) => {
    // Who put its own `_compile` in front gets the source.
    if (module._compile !== compile) {
        module._compile(own.read(filename), filename);
        return;
    }
    const compiled = own.compile(filename);
    if (compiled === null) runModule(module, filename);
    else run(module, compiled, filename);
};
Module._extensions[".json"] = (module, filename) => {
    const text = own.read(filename);
    try {
        module.exports = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    } catch (error) {
        (error as Error).message = `${filename}: ${(error as Error).message}`;
        throw error;
    }
};
Module._extensions[".node"] = (module, filename) => own.refuseAddon(filename, parents.get(module)?.filename ?? filename);
const compile = Module.prototype._compile;

function createRequire(from: string | { href: string }): Require {
    let filename: string | null = typeof from === "string" ? from : typeof from?.href === "string" ? from.href : null;
    if (filename !== null && !filename.startsWith("/")) filename = own.path(filename);
    if (filename === null) {
        const { inspect } = require("node:util") as { inspect(value: unknown): string };
        throw failure(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received ${inspect(from)}`);
    }
    const file = filename.endsWith("/") ? `${filename}noop.js` : filename;
    const module = new Module(file);
    module.filename = file;
    module.paths = nodeModulePaths(module.path);
    return makeRequire(module);
}
Module["createRequire"] = createRequire;

let builtinModules: string[] | undefined;
Object.defineProperty(Module, "builtinModules", {
    enumerable: true,
    configurable: true,
    get: () => (builtinModules ??= own.names().flatMap((name) => (name.startsWith("node:") && !/^node:(test|sqlite|sea)/.test(name) ? [name.slice(5)] : []))),
});
Module["isBuiltin"] = (name: unknown) => typeof name === "string" && own.isNodes(name);
Module["wrapper"] = ["(function (exports, require, module, __filename, __dirname) { ", "\n});"];
Module["wrap"] = (script: string) => `(function (exports, require, module, __filename, __dirname) { ${script}\n});`;
Module["_debug"] = () => {};
Module["_initPaths"] = () => {};
Module["_preloadModules"] = () => {};
Module["_findPath"] = (request: string, paths: string[] | null) => {
    if (request.startsWith("/")) return own.resolve(request, "/noop.js", extensions()) ?? false;
    for (const path of paths ?? []) {
        const found = own.resolve(path.endsWith("/node_modules") ? `${path}/${request}` : `./${request}`, `${path}/noop.js`, extensions());
        if (found !== null) return found;
    }
    return false;
};
Module["syncBuiltinESMExports"] = () => {};
Module["stripTypeScriptTypes"] = (source: string, options?: { mode?: string }) => {
    if (options?.mode !== undefined && options.mode !== "strip") throw failure(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.mode' must be one of: 'strip'. Received '${options.mode}'`);
    return own.strip(String(source));
};
Module["findSourceMap"] = (path: string) => {
    const payload = own.findMap(path);
    return payload === null ? undefined : { payload: JSON.parse(payload) as unknown };
};
for (const name of ["register", "registerHooks"]) {
    Module[name] = () => {
        throw failure(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `module.${name}() is not there in Leat's own host; run the program on Node.js: node --import leat/register APP`);
    };
}
Object.defineProperty(Module, "_main", { get: () => main });
Module["runMain"] = (path?: string) => Module._load(path ?? (process.argv[1] as string), null, true);

own.onImport((filename) => Module._load(filename, undefined, false));

module.exports = Module;
