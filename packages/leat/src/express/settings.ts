// Settings that are compiled into functions when they are set: `etag`, `query parser` and `trust proxy`.
import * as querystring from "node:querystring";
import { type Application, type Dialect } from "./dialect";
import { type Settings } from "./types";
import { strongETag, weakETag } from "./etag";

type Compiler = (value: unknown, dialect: Dialect) => unknown;

/** By setting: the name of the function's setting, and what makes it. */
export const compilers: Record<string, { name: string; compile: Compiler } | undefined> = Object.assign(Object.create(null) as object, {
    etag: { name: "etag fn", compile: compileETag },
    "query parser": { name: "query parser fn", compile: compileQueryParser },
    "trust proxy": { name: "trust proxy fn", compile: compileTrust },
});

/**
 * The settings of an app, to be read in the place of `app.get`; undefined where a program has put methods in the place of ours, or
 * reading is more than that (Express 4).
 */
export function plainSettings({ ownApp, version }: Dialect, app: Application): Settings | undefined {
    return version === 5 && app.get === ownApp.get && app.set === ownApp.set ? app.settings : undefined;
}

/** `app.get(name)`, without the calls where nobody has put methods in their place. */
export function setting(dialect: Dialect, app: Application, name: string): unknown {
    const { ownApp } = dialect;
    return app.get === ownApp.get && app.set === ownApp.set ? dialect.readSetting(app.settings, name) : app.get(name);
}

/** `app.enabled(name)`, in the same way. */
export function isEnabled(dialect: Dialect, app: Application, name: string): boolean {
    const { ownApp } = dialect;
    return app.enabled === ownApp.enabled && app.set === ownApp.set ? Boolean(dialect.readSetting(app.settings, name)) : app.enabled(name);
}

function compileETag(value: unknown): unknown {
    if (typeof value === "function") return value;
    switch (value) {
        case true:
        case "weak":
            return weakETag;
        case false:
            return undefined;
        case "strong":
            return strongETag;
        default:
            throw new TypeError(`unknown value for etag function: ${value as string}`);
    }
}

function compileQueryParser(value: unknown, dialect: Dialect): unknown {
    if (typeof value === "function") return value;
    switch (value) {
        case true:
        case "simple":
            return querystring.parse;
        case false:
            return dialect.noQuery;
        case "extended":
            // Most requests have none, and an app that never sees one never loads the library.
            return (text: unknown) => (text === "" || text == null ? {} : dialect.libraries.qs().parse(text, dialect.extendedQuery));
        default:
            throw new TypeError(`unknown value for query parser function: ${value as string}`);
    }
}

function compileTrust(value: unknown, dialect: Dialect): unknown {
    if (typeof value === "function") return value;
    if (value === true) return () => true;
    if (typeof value === "number") return (_address: unknown, hop: number) => hop < value;
    // The default: no proxy, and no need of the library.
    if (value === false) return trustNone;
    const list = typeof value === "string" ? value.split(",").map((part) => part.trim()) : value;
    return dialect.libraries.proxyAddr().compile(list || []);
}

function trustNone(): boolean {
    return false;
}
