// node:process, and the global of that name. It is made when it is first touched, and what it has of streams, the environment
// and the system only when that is touched.
import EventEmitter from "node:events";
import { coded, codes } from "../leat/errors";
import { exitNow, known, type Listening, uncaught, VERSION } from "../leat/lifecycle";
import { nextTick } from "../leat/turn";

interface Native {
    readonly pid: number;
    readonly arch: string;
    readonly leat: string;
    readonly quickjs: string;
    cwd(): string;
    chdir(to: string): void;
    environment(): Record<string, string>;
    arguments(): string[];
    ids(): [uid: number, euid: number, gid: number, egid: number, ppid: number];
    umask(mask: number): number;
    kill(pid: number, signal: number): number;
    listen(signal: number): () => void;
    memory(): [used: number, allocated: number, buffers: number];
    procFile(name: string): string | undefined;
    monotonic(): [seconds: number, nanoseconds: number];
    exit(code: number): never;
    /** The process is not the program's own. */
    readonly isGuest: boolean;
}

const native_ = native("process") as Native;
const { cwd, monotonic, procFile } = native_;
const began = monotonic();

const process = Object.create(Object.create(EventEmitter.prototype, { constructor: { value: function process() {}, configurable: true, writable: true } })) as Record<
    string | symbol,
    unknown
> &
    Listening &
    EventEmitter & { _signal(number: number): void; emitWarning: typeof emitWarning; noDeprecation?: boolean; throwDeprecation?: boolean };

/** A property that is worked out when it is first read. */
function late(name: string, make: () => unknown): void {
    const put = (value: unknown): void => void Object.defineProperty(process, name, { value, writable: true, configurable: true, enumerable: true });
    Object.defineProperty(process, name, {
        configurable: true,
        enumerable: true,
        get() {
            const value = make();
            put(value);
            return value;
        },
        set: put,
    });
}

function checkNumber(value: unknown, name: string): asserts value is number {
    if (typeof value !== "number") throw new codes.ERR_INVALID_ARG_TYPE(name, "number", value);
}

/** What an exit code may be: a whole number, or text that is one. */
function checkedCode(code: unknown, name: string): void {
    if (code === undefined || code === null) return;
    let value = code;
    if (typeof code === "string" && code !== "") value = Number.isNaN(Number(code)) ? code : Number(code);
    if (typeof value !== "number") throw new codes.ERR_INVALID_ARG_TYPE(name, "number", code);
    if (!Number.isInteger(value)) throw new codes.ERR_OUT_OF_RANGE(name, "an integer", value);
}

let exitCode: number | string | null | undefined;

Object.defineProperty(process, "exitCode", {
    configurable: true,
    enumerable: true,
    get: () => exitCode,
    set(code: number | string | null | undefined) {
        checkedCode(code, "code");
        exitCode = code;
    },
});

function exit(code?: number | string | null): never {
    checkedCode(code, "code");
    return exitNow(code === undefined || code === null ? undefined : Number(code));
}

function hrtime(time?: [number, number]): [number, number] {
    const now = monotonic();
    if (time === undefined) return now;
    if (!Array.isArray(time)) throw new codes.ERR_INVALID_ARG_TYPE("time", "Array", time);
    if (time.length !== 2) throw new codes.ERR_OUT_OF_RANGE("time", "2", (time as unknown[]).length);
    const seconds = now[0] - time[0];
    const nanoseconds = now[1] - time[1];
    return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1e9] : [seconds, nanoseconds];
}
hrtime.bigint = (): bigint => {
    const [seconds, nanoseconds] = monotonic();
    return BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
};

function uptime(): number {
    const now = monotonic();
    return now[0] - began[0] + (now[1] - began[1]) / 1e9;
}

/** Bytes of a page of memory. */
const PAGE_BYTES = 4096;

function rss(): number {
    return Number(procFile("statm")?.split(" ")[1] ?? 0) * PAGE_BYTES;
}

function memoryUsage(): Record<string, number> {
    const [used, allocated, buffers] = native_.memory();
    return { rss: rss(), heapTotal: allocated, heapUsed: used, external: buffers, arrayBuffers: buffers };
}
memoryUsage.rss = rss;

/** Ticks of the system's processor time, 100 a second on Linux, in microseconds. */
const TICK_US = 10_000;

/** The fields of `/proc/self/stat` behind the program's name, which may have spaces. */
function stat(): string[] {
    const text = procFile("stat") ?? "";
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function cpuUsage(before?: { user: number; system: number }): { user: number; system: number } {
    if (before !== undefined) {
        if (before === null || typeof before !== "object") throw new codes.ERR_INVALID_ARG_TYPE("prevValue", "object", before);
        for (const name of ["user", "system"] as const) {
            const value = before[name];
            if (typeof value !== "number") throw new codes.ERR_INVALID_ARG_TYPE(`prevValue.${name}`, "number", value);
            if (!(value >= 0)) throw new codes.ERR_INVALID_ARG_VALUE(`prevValue.${name}`, value);
        }
    }
    const fields = stat();
    const user = Number(fields[11] ?? 0) * TICK_US;
    const system = Number(fields[12] ?? 0) * TICK_US;
    return before === undefined ? { user, system } : { user: user - before.user, system: system - before.system };
}

function resourceUsage(): Record<string, number> {
    const fields = stat();
    const { user, system } = cpuUsage();
    const status = procFile("status") ?? "";
    const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return {
        userCPUTime: user,
        systemCPUTime: system,
        maxRSS: field("VmHWM"),
        sharedMemorySize: 0,
        unsharedDataSize: 0,
        unsharedStackSize: 0,
        minorPageFault: Number(fields[7] ?? 0),
        majorPageFault: Number(fields[9] ?? 0),
        swappedOut: 0,
        fsRead: 0,
        fsWrite: 0,
        ipcSent: 0,
        ipcReceived: 0,
        signalsCount: 0,
        voluntaryContextSwitches: field("voluntary_ctxt_switches"),
        involuntaryContextSwitches: field("nonvoluntary_ctxt_switches"),
    };
}

function umask(mask?: number | string): number {
    if (mask === undefined) return native_.umask(-1);
    let value = mask;
    if (typeof value === "string") {
        if (!/^[0-7]+$/.test(value)) throw new codes.ERR_INVALID_ARG_VALUE("mask", mask, "must be a 32-bit unsigned integer or an octal string");
        value = Number.parseInt(value, 8);
    }
    checkNumber(value, "mask");
    refuseGuest("umask");
    return native_.umask(value & 0o777);
}

function chdir(directory: string): void {
    if (typeof directory !== "string") throw new codes.ERR_INVALID_ARG_TYPE("directory", "string", directory);
    refuseGuest("chdir");
    native_.chdir(directory);
}

/** What changes the process for everybody in it, as in a worker of Node's. */
function refuseGuest(name: string): void {
    if (native_.isGuest) throw coded(new TypeError(`process.${name}() is not supported in plug-ins`), "ERR_WORKER_UNSUPPORTED_OPERATION");
}

function signalNumbers(): Readonly<Record<string, number>> {
    return (require("../leat/signals") as { signals: Readonly<Record<string, number>> }).signals;
}

function kill(pid: number, signal: string | number = "SIGTERM"): true {
    // eslint-disable-next-line eqeqeq -- as Node compares: text that is a number is one.
    if (pid != (pid | 0)) throw new codes.ERR_INVALID_ARG_TYPE("pid", "number", pid);
    const number = typeof signal === "number" ? signal : signalNumbers()[signal];
    if (number === undefined) throw coded(new TypeError(`Unknown signal: ${signal}`), "ERR_UNKNOWN_SIGNAL");
    const errno = native_.kill(pid | 0, number);
    if (errno !== 0) {
        const { errnos } = require("../leat/errnos") as { errnos: Readonly<Record<string, number>> };
        const code = Object.keys(errnos).find((name) => errnos[name] === errno) ?? "EINVAL";
        throw Object.assign(new Error(`kill ${code}`), { errno: -errno, code, syscall: "kill" });
    }
    return true;
}

function emitWarning(warning: string | Error, type?: unknown, code?: unknown, above?: unknown): void {
    let detail: string | undefined;
    if (type !== null && typeof type === "object" && !Array.isArray(type)) {
        const options = type as { type?: string; code?: string; ctor?: unknown; detail?: string };
        above = options.ctor;
        code = options.code;
        if (typeof options.detail === "string") detail = options.detail;
        type = options.type ?? "Warning";
    } else if (typeof type === "function") {
        above = type;
        code = undefined;
        type = "Warning";
    }
    if (type !== undefined && typeof type !== "string") throw new codes.ERR_INVALID_ARG_TYPE("type", "string", type);
    if (typeof code === "function") {
        above = code;
        code = undefined;
    } else if (code !== undefined && typeof code !== "string") throw new codes.ERR_INVALID_ARG_TYPE("code", "string", code);
    let error: Error & { code?: string; detail?: string };
    if (typeof warning === "string") {
        error = new Error(warning);
        error.name = (type as string | undefined) || "Warning";
        if (code !== undefined) error.code = code as string;
        if (detail !== undefined) error.detail = detail;
        Error.captureStackTrace(error, (above as typeof emitWarning | undefined) ?? emitWarning);
    } else if (warning instanceof Error) error = warning;
    else throw new codes.ERR_INVALID_ARG_TYPE("warning", ["string", "Error"], warning);
    if (error.name === "DeprecationWarning") {
        if (process.noDeprecation) return;
        if (process.throwDeprecation) {
            nextTick(() => {
                throw error;
            });
            return;
        }
    }
    nextTick(() => void process.emit("warning", error));
}

/** Node's streams for descriptors 1 and 2 (`leat:stdio`). */
function stdio(): { output(descriptor: 1 | 2): unknown; input(): unknown } {
    return require("../leat/stdio") as { output(descriptor: 1 | 2): unknown; input(): unknown };
}

/** The environment: what is put into it becomes text. */
function environment(): object {
    return new Proxy(native_.environment(), {
        set(target, name, value: unknown) {
            if (typeof name === "symbol" || typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
            target[name] = String(value);
            return true;
        },
        defineProperty(target, name, descriptor) {
            if (!("value" in descriptor)) throw coded(new TypeError("'process.env' does not accept an accessor(getter/setter) descriptor"), "ERR_INVALID_OBJECT_DEFINE_PROPERTY");
            return Reflect.defineProperty(target, name, { ...descriptor, value: String(descriptor.value) });
        },
    });
}

const methods: Record<string, unknown> = {
    nextTick,
    exit,
    reallyExit: (code?: number) => native_.exit(code ?? 0),
    abort: () => native_.exit(134),
    emitWarning,
    cwd,
    chdir,
    hrtime,
    uptime,
    memoryUsage,
    cpuUsage,
    resourceUsage,
    constrainedMemory: () => 0,
    availableMemory: () => (require("node:os") as { freemem(): number }).freemem(),
    umask,
    kill,
    getuid: () => native_.ids()[0],
    geteuid: () => native_.ids()[1],
    getgid: () => native_.ids()[2],
    getegid: () => native_.ids()[3],
    getgroups: () => [native_.ids()[2]],
    getActiveResourcesInfo: () => [],
    setUncaughtExceptionCaptureCallback(callback: ((error: unknown) => void) | null) {
        if (callback !== null && typeof callback !== "function") throw new codes.ERR_INVALID_ARG_TYPE("fn", ["Function", "null"], callback);
        if (callback !== null && known.captured !== null) {
            throw coded(new Error("`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active"), "ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET");
        }
        known.captured = callback;
    },
    hasUncaughtExceptionCaptureCallback: () => known.captured !== null,
    setSourceMapsEnabled() {},
    binding(name: string): never {
        throw coded(new Error(`No such module: ${name}`), "ERR_INVALID_MODULE");
    },
    dlopen(_: unknown, path: string): never {
        throw coded(
            new Error(`leat run has no native addons (${path}): run the program on Node.js with \`node --import leat/register\``),
            "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
        );
    },
    loadEnvFile(path = ".env") {
        const { readFileSync } = require("node:fs") as typeof import("node:fs");
        const { parseEnv } = require("node:util") as { parseEnv(text: string): Record<string, string> };
        const env = process["env"] as Record<string, string>;
        for (const [name, value] of Object.entries(parseEnv(readFileSync(path, "utf8")))) if (!(name in env)) env[name] = value;
    },
    getBuiltinModule(name: string) {
        const bare = name.startsWith("node:") ? name.slice(5) : name;
        try {
            return require(`node:${bare}`) as unknown;
        } catch {
            return undefined;
        }
    },
    _tickCallback() {},
    _rawDebug: (...args: unknown[]) => (native("process") as { write(to: number, text: string): void }).write(2, `${args.map(String).join(" ")}\n`),
    _getActiveHandles: () => [],
    _getActiveRequests: () => [],
    _fatalException: (error: unknown) => uncaught(error),
    assert(value: unknown, message?: string) {
        if (!value) throw coded(new Error(message ?? "assertion error"), "ERR_ASSERTION");
    },
};
for (const name in methods) process[name] = methods[name];

Object.assign(process, {
    title: "leat",
    version: VERSION,
    arch: native_.arch,
    platform: "linux",
    pid: native_.pid,
    execArgv: [],
    debugPort: 9229,
});
Object.defineProperty(process, "ppid", { configurable: true, enumerable: true, get: () => native_.ids()[4] });
Object.defineProperty(process, Symbol.toStringTag, { configurable: true, value: "process" });
process._exiting = false;

let paths: string[] | undefined;
/** This binary, the name it was called by, the program, and its arguments. */
const given = (): string[] => (paths ??= native_.arguments());

late("argv", () => {
    const [binary, , ...rest] = given();
    return [binary, ...rest];
});
late("argv0", () => given()[1]);
late("execPath", () => given()[0]);
late("env", environment);
late("release", () => ({ name: "node", lts: "Jod" }));
late("versions", () => ({ node: VERSION.slice(1), leat: native_.leat, quickjs: native_.quickjs, modules: "127" }));
late("features", () => ({
    inspector: false,
    debug: false,
    uv: false,
    ipv6: true,
    tls_alpn: true,
    tls_sni: true,
    tls_ocsp: false,
    tls: true,
    cached_builtins: true,
    require_module: true,
    typescript: "strip",
}));
late("config", () => ({ target_defaults: {}, variables: {} }));
late("report", () => ({}));
late("allowedNodeEnvironmentFlags", () => new Set<string>());
late("stdout", () => stdio().output(1));
late("stderr", () => stdio().output(2));
late("stdin", () => stdio().input());

known.process = process;

/** Prints a warning as Node does. */
function showWarning(warning: Error & { code?: string; detail?: string }): void {
    const env = process["env"] as Record<string, string | undefined>;
    if (env["NODE_NO_WARNINGS"] === "1") return;
    if (warning.name === "DeprecationWarning" && process.noDeprecation) return;
    const traced = process["traceProcessWarnings"] === true || (warning.name === "DeprecationWarning" && process["traceDeprecation"] === true);
    const what = traced && warning.stack !== undefined ? warning.stack : String(warning);
    let text = `(node:${native_.pid}) ${warning.code === undefined ? "" : `[${warning.code}] `}${what}\n`;
    if (typeof warning.detail === "string") text += `${warning.detail}\n`;
    (process["stderr"] as { write(text: string): void }).write(text);
}

/** What stops listening to a signal, by its number. */
const listening = new Map<number, () => void>();

process._signal = (number: number) => {
    for (const [name, other] of Object.entries(signalNumbers())) if (other === number) process.emit(name, name, number);
};
Object.defineProperty(process, "_signal", { enumerable: false });

const isSignal = (name: unknown): name is string => typeof name === "string" && name.startsWith("SIG");

process.on("warning", showWarning);
process.on("newListener", (name: unknown) => {
    if (!isSignal(name)) return;
    const number = signalNumbers()[name];
    if (number === undefined || listening.has(number)) return;
    if (name === "SIGKILL" || name === "SIGSTOP") {
        throw Object.assign(new Error("uv_signal_start EINVAL"), { errno: -22, code: "EINVAL", syscall: "uv_signal_start" });
    }
    listening.set(number, native_.listen(number));
});
process.on("removeListener", (name: unknown) => {
    if (!isSignal(name) || process.listenerCount(name) > 0) return;
    const number = signalNumbers()[name];
    if (number === undefined) return;
    listening.get(number)?.();
    listening.delete(number);
});

module.exports = process;
