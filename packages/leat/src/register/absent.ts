// A program without `express` among its packages gets Leat's Express 5 under that name.
import Module = require("node:module");
import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { absentHooks, type ResolveHook } from "./resolve";

type Resolve = (request: string, ...more: unknown[]) => string;

interface Resolver {
    _resolveFilename: Resolve;
    _findPath(request: string, paths: string[]): string | false;
    _nodeModulePaths(from: string): string[];
    /** Node 22.15, 23.5 and newer. */
    registerHooks?(hooks: { resolve: ResolveHook<unknown> }): void;
    /** Of the others; deprecated in the newest. */
    register(specifier: string, options: { data: string }): void;
}
const resolver = Module as unknown as Resolver;

/** Leat's own, where `import` finds it. */
const ENTRY = join(__dirname, "..", "express", "index.js");

/** Resolves `express` where it is not installed. */
export function mapAbsent(): void {
    const original = resolver._resolveFilename;
    resolver._resolveFilename = function (this: unknown, request, ...more) {
        if (request !== "express") return original.call(this, request, ...more);
        try {
            return original.call(this, request, ...more);
        } catch (error) {
            if ((error as { code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
            return ENTRY;
        }
    };
    // Hooks cost every import something, and before Node 22.15 a thread besides.
    if (isInstalled()) return;
    const url = pathToFileURL(ENTRY).href;
    if (resolver.registerHooks === undefined) resolver.register(pathToFileURL(join(__dirname, "resolve.js")).href, { data: url });
    else resolver.registerHooks({ resolve: absentHooks(url) });
}

/** Whether the program that this process runs has `express`. */
function isInstalled(): boolean {
    const [, program] = process.argv;
    let from = process.cwd();
    try {
        if (program !== undefined) from = dirname(realpathSync(resolve(program)));
    } catch {
        // It runs a text, with arguments.
    }
    return resolver._findPath("express", resolver._nodeModulePaths(from)) !== false;
}
