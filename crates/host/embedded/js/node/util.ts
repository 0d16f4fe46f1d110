// node:util. What it has of other modules is loaded when it is first used.
import { coded, codes } from "../leat/errors";
import { formatValues } from "../leat/format";
import { validateAbortSignal, validateFunction, validateNumber, validateString } from "../leat/validate";

type Anything = Record<PropertyKey, unknown>;
type Run = (...args: unknown[]) => unknown;
type Extracted = typeof import("node-inspect-extracted");

const inspecting = (): Extracted => require("../leat/inspect") as Extracted;

const custom = Symbol.for("nodejs.util.promisify.custom");
/** Names for what a callback gets beside its error; Node's own functions use it. */
const names = Symbol.for("nodejs.util.promisify.customArgs");

function promisify(original: Run): Run {
    validateFunction(original, "original");
    const own = (original as unknown as Anything)[custom];
    if (own) {
        validateFunction(own, "util.promisify.custom");
        return Object.defineProperty(own, custom, { value: own, enumerable: false, writable: false, configurable: true }) as Run;
    }
    const argumentNames = (original as unknown as Anything)[names] as readonly string[] | undefined;
    function promised(this: unknown, ...args: unknown[]): Promise<unknown> {
        return new Promise((resolve, reject) => {
            Reflect.apply(original, this, [
                ...args,
                (error: unknown, ...values: unknown[]) => {
                    if (error) reject(error);
                    else if (argumentNames !== undefined && values.length > 1) resolve(Object.fromEntries(argumentNames.map((name, at) => [name, values[at]])));
                    else resolve(values[0]);
                },
            ]);
        });
    }
    Object.setPrototypeOf(promised, Object.getPrototypeOf(original) as object);
    Object.defineProperty(promised, custom, { value: promised, enumerable: false, writable: false, configurable: true });
    return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original)) as Run;
}
promisify.custom = custom;

function callbackify(original: Run): Run {
    validateFunction(original, "original");
    function called(this: unknown, ...args: unknown[]): void {
        const callback = args.pop();
        validateFunction(callback, "last argument");
        const done = (...values: unknown[]): void => process.nextTick(() => Reflect.apply(callback as Run, this, values));
        (Reflect.apply(original, this, args) as Promise<unknown>).then(
            (value) => done(null, value),
            (reason: unknown) => done(reason || falsy(reason)),
        );
    }
    const descriptors = Object.getOwnPropertyDescriptors(original) as Record<string, PropertyDescriptor>;
    if (typeof descriptors["length"]?.value === "number") descriptors["length"].value++;
    if (typeof descriptors["name"]?.value === "string") descriptors["name"].value += "Callbackified";
    return Object.defineProperties(called, descriptors);
}

function falsy(reason: unknown): Error {
    return Object.assign(coded(new Error("Promise was rejected with falsy value"), "ERR_FALSY_VALUE_REJECTION"), { reason });
}

function inherits(constructor: Run & { super_?: unknown }, parent: Run): void {
    if (constructor === undefined || constructor === null) throw new codes.ERR_INVALID_ARG_TYPE("ctor", "Function", constructor);
    if (parent === undefined || parent === null) throw new codes.ERR_INVALID_ARG_TYPE("superCtor", "Function", parent);
    if (parent.prototype === undefined) throw new codes.ERR_INVALID_ARG_TYPE("superCtor.prototype", "Object", parent.prototype);
    Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf(constructor.prototype as object, parent.prototype as object);
}

const warned = new Set<string>();

function deprecate(original: Run, message: string, code?: string): Run {
    if (code !== undefined) validateString(code, "code");
    let told = false;
    function deprecated(this: unknown, ...args: unknown[]): unknown {
        if (!told && !(process as unknown as Anything)["noDeprecation"]) {
            told = true;
            if (code === undefined) process.emitWarning(message, "DeprecationWarning", deprecated);
            else if (!warned.has(code)) {
                warned.add(code);
                process.emitWarning(message, "DeprecationWarning", code, deprecated);
            }
        }
        return new.target ? (Reflect.construct(original, args, new.target) as unknown) : Reflect.apply(original, this, args);
    }
    Object.setPrototypeOf(deprecated, original);
    if (original.prototype) deprecated.prototype = original.prototype as object;
    return deprecated;
}

interface Debug {
    (...values: unknown[]): void;
    readonly enabled: boolean;
}

/** Whether NODE_DEBUG names `set`; `*` stands for anything. */
function isDebugged(set: string): boolean {
    const wanted = process.env["NODE_DEBUG"];
    if (!wanted) return false;
    return wanted.split(",").some((one) => new RegExp(`^${one.trim().replace(/[|\\{}()[\]^$+?.]/g, "\\$&").replaceAll("*", ".*")}$`, "i").test(set));
}

function debuglog(set: string, ready?: (debug: Run) => void): Debug {
    const label = set.toUpperCase();
    let enabled: boolean | undefined;
    const isEnabled = (): boolean => (enabled ??= isDebugged(set));
    let first = true;
    const debug = (...values: unknown[]): void => {
        if (first) {
            first = false;
            ready?.(debug as Run);
        }
        if (isEnabled()) process.stderr.write(`${label} ${process.pid}: ${formatValues(values)}\n`);
    };
    return Object.defineProperty(debug, "enabled", { get: isEnabled, configurable: true, enumerable: true }) as unknown as Debug;
}

interface StyleOptions {
    /** Only a stream that shows colours gets them. */
    readonly validateStream?: boolean;
    readonly stream?: { readonly isTTY?: boolean };
}

function styleText(style: string | readonly string[], text: string, options: StyleOptions = {}): string {
    validateString(text, "text");
    const { validateStream = true, stream = process.stdout } = options;
    const { NO_COLOR, NODE_DISABLE_COLORS, FORCE_COLOR } = process.env as Record<string, string | undefined>;
    const plain = validateStream && !FORCE_COLOR && (!stream.isTTY || NO_COLOR !== undefined || NODE_DISABLE_COLORS !== undefined);
    const { colors } = inspecting().inspect as unknown as { colors: Record<string, [number, number]> };
    let before = "";
    let after = "";
    for (const one of Array.isArray(style) ? (style as string[]) : [style as string]) {
        const codesOf = colors[one];
        if (codesOf === undefined) {
            const all = Object.keys(colors).map((name) => `'${name}'`).join(", ");
            throw new codes.ERR_INVALID_ARG_VALUE("style", one, `must be one of: ${all}`);
        }
        before += `\u001b[${codesOf[0]}m`;
        after = `\u001b[${codesOf[1]}m${after}`;
    }
    return plain ? text : before + text + after;
}

/** What of a line of an environment file is the value. */
function envValue(raw: string): string {
    const quote = raw[0];
    if (quote === '"' || quote === "'" || quote === "`") {
        const end = raw.indexOf(quote, 1);
        if (end > 0) return quote === '"' ? raw.slice(1, end).replaceAll("\\n", "\n") : raw.slice(1, end);
    }
    return (raw.split("#", 1)[0] as string).trim();
}

function parseEnv(content: string): Record<string, string> {
    validateString(content, "content");
    const found: Record<string, string> = {};
    const line = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*("[^"]*"|'[^']*'|`[^`]*`|[^\n]*)/gm;
    for (const [, name, raw] of content.replaceAll("\r\n", "\n").matchAll(line)) found[name as string] = envValue(raw as string);
    return found;
}

function getSystemErrorName(number: number): string | undefined {
    validateNumber(number, "err");
    if (number >= 0 || !Number.isSafeInteger(number)) throw new codes.ERR_OUT_OF_RANGE("err", "a negative integer", number);
    const { errnos } = require("../leat/errnos") as { errnos: Record<string, number> };
    return Object.keys(errnos).find((name) => errnos[name] === -number);
}

async function aborted(signal: AbortSignal, resource: object): Promise<void> {
    if (signal === undefined) throw new codes.ERR_INVALID_ARG_TYPE("signal", "AbortSignal", signal);
    validateAbortSignal(signal, "signal");
    if (resource === null || typeof resource !== "object") throw new codes.ERR_INVALID_ARG_TYPE("resource", "Object", resource);
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

function getCallSites(count = 10): object[] {
    const before = Error.prepareStackTrace;
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = Math.min(count, 200);
    Error.prepareStackTrace = (_, sites) =>
        sites.map((site) => ({
            functionName: site.getFunctionName() ?? "",
            scriptId: "0",
            scriptName: site.getFileName() ?? "",
            lineNumber: site.getLineNumber() ?? 0,
            column: site.getColumnNumber() ?? 0,
            columnNumber: site.getColumnNumber() ?? 0,
        }));
    const target: { stack?: unknown } = {};
    Error.captureStackTrace(target, getCallSites);
    const { stack } = target;
    Error.prepareStackTrace = before as NonNullable<typeof before>;
    Error.stackTraceLimit = limit;
    return stack as object[];
}

/** Functions that Node has and calls old. */
const old: Record<string, (value: unknown) => boolean> = {
    isArray: Array.isArray,
    isBoolean: (value) => typeof value === "boolean",
    isBuffer: (value) => (require("node:buffer") as typeof import("node:buffer")).Buffer.isBuffer(value),
    isDate: (value) => value instanceof Date,
    isError: (value) => value instanceof Error || Object.prototype.toString.call(value) === "[object Error]",
    isFunction: (value) => typeof value === "function",
    isNull: (value) => value === null,
    isNullOrUndefined: (value) => value === null || value === undefined,
    isNumber: (value) => typeof value === "number",
    isObject: (value) => value !== null && typeof value === "object",
    isPrimitive: (value) => value === null || (typeof value !== "object" && typeof value !== "function"),
    isRegExp: (value) => value instanceof RegExp,
    isString: (value) => typeof value === "string",
    isSymbol: (value) => typeof value === "symbol",
    isUndefined: (value) => value === undefined,
};

const util: Anything = {
    ...old,
    _extend: (target: object, source: object) => (source !== null && typeof source === "object" ? Object.assign(target, source) : target),
    _exceptionWithHostPort: (error: number, syscall: string, address: string, port: number) =>
        Object.assign(new Error(`${syscall} ${getSystemErrorName(error)} ${address}:${port}`), { errno: error, code: getSystemErrorName(error), syscall, address, port }),
    _errnoException: (error: number, syscall: string, original?: string) => {
        const code = getSystemErrorName(error);
        return Object.assign(new Error(`${syscall} ${code}${original ? ` ${original}` : ""}`), { errno: error, code, syscall });
    },
    aborted,
    callbackify,
    debug: debuglog,
    debuglog,
    deprecate,
    format: (...values: unknown[]) => formatValues(values),
    formatWithOptions(options: object, ...values: unknown[]) {
        if (typeof options !== "object" || options === null) throw new codes.ERR_INVALID_ARG_TYPE("inspectOptions", "object", options);
        return inspecting().formatWithOptions(options, ...values);
    },
    getCallSites,
    getSystemErrorMap: () =>
        new Map(Object.entries((require("../leat/errnos") as { errnos: Record<string, number> }).errnos).map(([name, number]) => [-number, [name, name]])),
    getSystemErrorName,
    inherits,
    isDeepStrictEqual: (one: unknown, other: unknown) =>
        (require("../leat/compare") as { isDeepEqual(one: unknown, other: unknown, strict: boolean): boolean }).isDeepEqual(one, other, true),
    parseEnv,
    promisify,
    styleText,
    stripVTControlCharacters(text: string) {
        validateString(text, "str");
        return inspecting().stripVTControlCharacters(text);
    },
    toUSVString: (text: unknown) => (String(text) as unknown as { toWellFormed(): string }).toWellFormed(),
};

/** A property that is loaded when it is first read. */
function late(name: string, load: () => unknown): void {
    const put = (value: unknown): void => void Object.defineProperty(util, name, { value, writable: true, configurable: true, enumerable: true });
    Object.defineProperty(util, name, {
        configurable: true,
        enumerable: true,
        get() {
            const value = load();
            put(value);
            return value;
        },
        set: put,
    });
}

late("inspect", () => inspecting().inspect);
late("types", () => require("../leat/types"));
late("parseArgs", () => (require("../leat/parse_args") as { parseArgs: unknown }).parseArgs);
for (const name of ["TextEncoder", "TextDecoder", "AbortController", "AbortSignal"]) late(name, () => (globalThis as unknown as Anything)[name]);

module.exports = util;
