// node:console, and the global of that name.
import { codeOf, codes } from "../leat/errors";
import { formatValues } from "../leat/format";
import { known } from "../leat/lifecycle";

interface Stream {
    write(text: string, done?: () => void): unknown;
    isTTY?: boolean;
    getColorDepth?(): number;
    once?(event: string, listener: () => void): unknown;
    removeListener?(event: string, listener: () => void): unknown;
}

interface ProcessNative {
    write(to: number, text: string): void;
    isTerminal(descriptor: number): boolean;
    monotonic(): [seconds: number, nanoseconds: number];
}

interface Options {
    stdout: Stream;
    stderr?: Stream;
    ignoreErrors?: boolean;
    colorMode?: boolean | "auto";
    inspectOptions?: object;
    groupIndentation?: number;
}

type Values = readonly unknown[];

const { write, isTerminal, monotonic } = native("process") as ProcessNative;

const notWritable = (name: string): Error =>
    new (codeOf("ERR_CONSOLE_WRITABLE_STREAM", TypeError, (stream: string) => `Console expects a writable stream instance for ${stream}`))(name);

/** Spaces that `groupIndentation` may be at most, as in Node. */
const INDENTATION_MAX = 1000;

/** Descriptor 1 or 2, unless the program touched the stream of it: then that stream. */
class Standard implements Stream {
    readonly #descriptor: 1 | 2;
    #colors: boolean | undefined;
    constructor(descriptor: 1 | 2) {
        this.#descriptor = descriptor;
    }

    write(text: string): void {
        const name = this.#descriptor === 1 ? "stdout" : "stderr";
        const process = known.process as unknown as Record<string, Stream> | undefined;
        if (process === undefined || Object.getOwnPropertyDescriptor(process, name)?.get !== undefined) write(this.#descriptor, text);
        else (process[name] as Stream).write(text);
    }

    get isTTY(): boolean {
        return isTerminal(this.#descriptor);
    }

    getColorDepth(): number {
        const { env } = globalThis.process;
        this.#colors ??= env["NO_COLOR"] === undefined && env["NODE_DISABLE_COLORS"] === undefined && env["TERM"] !== "dumb";
        return this.#colors ? 4 : 1;
    }
}

function hasColors(stream: Stream): boolean {
    return stream.isTTY === true && (stream.getColorDepth === undefined || stream.getColorDepth() > 2);
}

function elapsed(since: readonly [number, number]): string {
    const now = monotonic();
    const ms = (now[0] - since[0]) * 1000 + (now[1] - since[1]) / 1e6;
    if (ms >= 3_600_000 || ms >= 60_000) {
        const hours = Math.floor(ms / 3_600_000);
        const minutes = Math.floor((ms % 3_600_000) / 60_000);
        const seconds = ((ms % 60_000) / 1000).toFixed(3).padStart(6, "0");
        return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds.slice(0, 2)} (h:mm:ss)` : `${minutes}:${seconds} (m:ss.mmm)`;
    }
    if (ms >= 1000) return `${(ms / 1000).toFixed(3)}s`;
    return `${Number(ms.toFixed(3))}ms`;
}

class State {
    readonly out: Stream;
    readonly err: Stream;
    readonly ignoresErrors: boolean;
    readonly colorMode: boolean | "auto";
    readonly inspectOptions: object | undefined;
    readonly indentation: number;
    indent = "";
    readonly counts = new Map<string, number>();
    readonly times = new Map<string, [number, number]>();

    constructor(options: Options) {
        const { stdout, stderr = stdout, ignoreErrors = true, colorMode = "auto", inspectOptions, groupIndentation = 2 } = options;
        if (typeof stdout?.write !== "function") throw notWritable("stdout");
        if (typeof stderr?.write !== "function") throw notWritable("stderr");
        if (typeof colorMode !== "boolean" && colorMode !== "auto") throw new codes.ERR_INVALID_ARG_VALUE("colorMode", colorMode);
        if (typeof groupIndentation !== "number") throw new codes.ERR_INVALID_ARG_TYPE("groupIndentation", "number", groupIndentation);
        if (!Number.isInteger(groupIndentation)) throw new codes.ERR_OUT_OF_RANGE("groupIndentation", "an integer", groupIndentation);
        if (groupIndentation < 0 || groupIndentation > INDENTATION_MAX) {
            throw new codes.ERR_OUT_OF_RANGE("groupIndentation", `>= 0 && <= ${INDENTATION_MAX}`, groupIndentation);
        }
        if (inspectOptions !== undefined && (inspectOptions === null || typeof inspectOptions !== "object")) {
            throw new codes.ERR_INVALID_ARG_TYPE("options.inspectOptions", "object", inspectOptions);
        }
        this.out = stdout;
        this.err = stderr;
        this.ignoresErrors = ignoreErrors;
        this.colorMode = colorMode;
        this.inspectOptions = inspectOptions;
        this.indentation = groupIndentation;
    }

    format(stream: Stream, values: Values): string {
        const colors = this.colorMode === "auto" ? hasColors(stream) : this.colorMode;
        if (this.inspectOptions !== undefined) return formatValues(values, { colors, ...this.inspectOptions });
        return formatValues(values, colors && !values.every((value) => typeof value === "string") ? { colors } : undefined);
    }

    print(stream: Stream, values: Values): void {
        let text = this.format(stream, values);
        if (this.indent !== "") text = this.indent + (text.includes("\n") ? text.replaceAll("\n", `\n${this.indent}`) : text);
        text += "\n";
        if (!this.ignoresErrors || stream.once === undefined || stream.removeListener === undefined) {
            stream.write(text);
            return;
        }
        const ignore = (): void => {};
        stream.once("error", ignore);
        try {
            stream.write(text, ignore);
        } catch (error) {
            // A program that calls itself without end is told.
            if (error instanceof RangeError) throw error;
        } finally {
            stream.removeListener("error", ignore);
        }
    }
}

const states = new WeakMap<object, State>();
const warn = (text: string): void => globalThis.process.emitWarning(text);
const labelled = (label: unknown): string => `${(label ?? "default") as string}`;

/** The methods of consoles, each with the state of the console that it is of. */
const methods = {
    log(state: State, values: Values): void {
        state.print(state.out, values);
    },
    warn(state: State, values: Values): void {
        state.print(state.err, values);
    },
    dir(state: State, [value, options]: Values): void {
        const { inspect } = require("../leat/inspect") as typeof import("node:util");
        const colors = state.colorMode === "auto" ? hasColors(state.out) : state.colorMode;
        state.print(state.out, [inspect(value, { customInspect: false, colors, ...state.inspectOptions, ...(options as object | undefined) })]);
    },
    time(state: State, [label]: Values): void {
        const name = labelled(label);
        if (state.times.has(name)) warn(`Label '${name}' already exists for console.time()`);
        else state.times.set(name, monotonic());
    },
    timeEnd(state: State, [label]: Values): void {
        const name = labelled(label);
        const since = state.times.get(name);
        if (since === undefined) warn(`No such label '${name}' for console.timeEnd()`);
        else state.print(state.out, ["%s: %s", name, elapsed(since)]);
        state.times.delete(name);
    },
    timeLog(state: State, [label, ...values]: Values): void {
        const name = labelled(label);
        const since = state.times.get(name);
        if (since === undefined) warn(`No such label '${name}' for console.timeLog()`);
        else state.print(state.out, ["%s: %s", name, elapsed(since), ...values]);
    },
    trace(state: State, values: Values): void {
        const error: { name: string; message: string; stack?: string } = { name: "Trace", message: state.format(state.err, values) };
        Error.captureStackTrace(error, shared["trace"]);
        state.print(state.err, [error.stack]);
    },
    assert(state: State, [condition, ...values]: Values): void {
        if (condition) return;
        const [first, ...rest] = values;
        state.print(state.err, [`Assertion failed${values.length === 0 ? "" : `: ${String(first)}`}`, ...rest]);
    },
    clear(state: State): void {
        if (state.out.isTTY === true && globalThis.process.env["TERM"] !== "dumb") state.out.write("\u001b[1;1H\u001b[0J");
    },
    count(state: State, [label]: Values): void {
        const name = labelled(label);
        const count = (state.counts.get(name) ?? 0) + 1;
        state.counts.set(name, count);
        state.print(state.out, [`${name}: ${count}`]);
    },
    countReset(state: State, [label]: Values): void {
        const name = labelled(label);
        if (!state.counts.delete(name)) warn(`Count for '${name}' does not exist`);
    },
    group(state: State, values: Values): void {
        if (values.length > 0) state.print(state.out, values);
        state.indent += " ".repeat(state.indentation);
    },
    groupEnd(state: State): void {
        state.indent = state.indent.slice(0, Math.max(state.indent.length - state.indentation, 0));
    },
    table(state: State, [data, only]: Values): void {
        if (data === null || typeof data !== "object") {
            state.print(state.out, [data]);
            return;
        }
        if (only !== undefined && !Array.isArray(only)) throw new codes.ERR_INVALID_ARG_TYPE("properties", "Array", only);
        const { table } = require("../leat/table") as { table(data: unknown, only?: readonly string[]): string };
        state.print(state.out, [table(data, only as readonly string[] | undefined)]);
    },
};

const aliases: Record<string, keyof typeof methods> = {
    debug: "log",
    info: "log",
    dirxml: "log",
    error: "warn",
    groupCollapsed: "group",
};

type Method = (this: object, ...values: unknown[]) => void;
const shared: Record<string, Method> = {};
for (const name of [...Object.keys(methods), ...Object.keys(aliases)]) {
    const run = methods[(aliases[name] ?? name) as keyof typeof methods] as (state: State, values: Values) => void;
    shared[name] = {
        [name](this: object, ...values: unknown[]): void {
            run(states.get(this) ?? standard, values);
        },
    }[name] as Method;
}

/** Only inspectors show these. */
for (const name of ["profile", "profileEnd", "timeStamp"]) shared[name] = () => {};

/** Gives `console` methods of its own that need no `this`, as Node's. */
function furnish(console: Record<PropertyKey, unknown>): void {
    for (const [name, method] of Object.entries(shared)) {
        const bound = method.bind(console);
        Object.defineProperty(bound, "name", { value: name });
        console[name] = bound;
    }
}

function Console(this: object, options: Options | Stream, stderr?: Stream, ignoreErrors?: boolean): object {
    if (new.target === undefined) return Reflect.construct(Console, [options, stderr, ignoreErrors]) as object;
    const given = !options || typeof (options as Stream).write === "function" ? { stdout: options as Stream, stderr, ignoreErrors } : options;
    states.set(this, new State(given as Options));
    furnish(this as Record<PropertyKey, unknown>);
    return this;
}
for (const [name, method] of Object.entries(shared)) Object.defineProperty(Console.prototype, name, { value: method, writable: true, configurable: true });

const standard = new State({ stdout: new Standard(1), stderr: new Standard(2), ignoreErrors: false });
const console = {} as Record<PropertyKey, unknown>;
states.set(console, standard);
furnish(console);
Object.defineProperties(console, {
    [Symbol.toStringTag]: { value: "console", configurable: true },
    Console: { value: Console, writable: true, configurable: true, enumerable: true },
    _stdout: { get: () => globalThis.process.stdout, configurable: true },
    _stderr: { get: () => globalThis.process.stderr, configurable: true },
});
Object.defineProperty(Console, Symbol.hasInstance, {
    value: (instance: unknown) => instance === console || (typeof instance === "object" && instance !== null && states.has(instance)),
});

module.exports = console;
