// How a program ends: errors that nobody caught, rejections that nobody handled, 'beforeExit', 'exit' and its code.
import { ending, failures } from "./turn";

interface Native {
    readonly pid: number;
    /** The program goes on after an error that nobody caught (`--on-error log`). */
    readonly goesOn: boolean;
    /** Such errors are kept for whoever asks, and not printed. */
    readonly keeps: boolean;
    keep(text: string): void;
    exit(code: number): never;
    ended(code: number): void;
    /** Says a message on standard error, or in the log of a process that has one. */
    tell(text: string): void;
    sourceLine(path: string, line: number): string | undefined;
}

/** What this module needs of `process`, once the program has touched it. */
export interface Listening {
    exitCode: number | string | null | undefined;
    _exiting?: boolean;
    listenerCount(event: string): number;
    emit(event: string, ...args: unknown[]): boolean;
}

type Origin = "uncaughtException" | "unhandledRejection";

const { exit, ended, goesOn, keep, keeps, tell, sourceLine } = native("process") as Native;

/** `process`, and the callback that takes errors in place of its events; both only once there are any. */
export const known: { process: Listening | undefined; captured: ((error: unknown) => void) | null } = { process: undefined, captured: null };

/** Codes of Node's for how a program ended. */
const FAILED = 1;
const HANDLER_FAILED = 7;

/** `exitCode`, as a number. */
function codeOf(value: unknown, otherwise: number): number {
    if (value === undefined || value === null) return otherwise;
    return Number(value) | 0;
}

/** Tells listeners of 'exit'; gives the code that they left. */
function leave(code: number, asked: boolean): number {
    const { process } = known;
    if (process === undefined) return code;
    if (asked) process.exitCode = code;
    if (process._exiting) return codeOf(process.exitCode, code);
    process._exiting = true;
    ending.now = true;
    process.emit("exit", code);
    return codeOf(process.exitCode, code);
}

/** `process.exit`: does not return. */
export function exitNow(code: number | undefined): never {
    let left = codeOf(code ?? known.process?.exitCode, 0);
    try {
        left = leave(left, code !== undefined);
    } catch (error) {
        show(error);
        left = FAILED;
    }
    return exit(left);
}

/** Nothing is left to do: 'exit', and its code. Microtasks of listeners still run, as on Node; nothing else does. */
export function runExit(): void {
    let code = FAILED;
    try {
        code = leave(codeOf(known.process?.exitCode, 0), false);
    } catch (error) {
        show(error);
        ended(code);
        return;
    }
    void Promise.resolve().then(() => ended(codeOf(known.process?.exitCode, code)));
}

/** Nothing is left to do, unless a listener finds something. */
export function runBeforeExit(): void {
    const { process } = known;
    if (process !== undefined && !process._exiting) process.emit("beforeExit", codeOf(process.exitCode, 0));
}

/** The line of the source that `stack` begins with, and a caret under it, as Node shows them. */
function excerpt(stack: string): string {
    // Errors of syntax have theirs.
    if (/^(?:file:\/\/)?\/[^\n]*:\d+\n/.test(stack)) return "";
    const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
    const place = /(?:\(|at )((?:file:\/\/)?\/[^():]+):(\d+):(\d+)\)?$/.exec(frames.find((line) => !line.endsWith("(<anonymous>)")) ?? "");
    if (place === null) return "";
    const file = place[1] as string;
    const line = sourceLine(file.replace(/^file:\/\//, ""), Number(place[2]));
    if (line === undefined) return "";
    const until = line.slice(0, Number(place[3]) - 1);
    // Where it was thrown, or made: QuickJS points behind `new`.
    const at = (/\bthrow\b/.exec(until) ?? /\bnew\s+$/.exec(until) ?? { index: until.length }).index;
    const indent = line.slice(0, at).replace(/[^\t]/g, " ");
    return `${file}:${place[2]}\n${line}\n${indent}^\n\n`;
}

/** Whether the stack says all that Node would print of an error. */
function isPlain(error: Error): boolean {
    return Object.keys(error).length === 0 && !Object.hasOwn(error, "cause") && !Object.hasOwn(error, "errors");
}

function inspect(value: unknown): string {
    return (require("node:util") as { inspect(value: unknown): string }).inspect(value);
}

/** Prints an error that nobody caught, or keeps it as a line of a log has it. */
function show(error: unknown): void {
    let text: string;
    try {
        if (error instanceof Error || (typeof error === "object" && error !== null && typeof (error as Error).stack === "string")) {
            const stack = String((error as Error).stack);
            text = (keeps ? "" : excerpt(stack)) + (isPlain(error as Error) ? stack : inspect(error));
        } else if (typeof error === "object" && error !== null) {
            text = `Uncaught:\n${inspect(error)}`;
        } else {
            text = `Uncaught:\n${String(error)}`;
        }
    } catch {
        text = "Uncaught: an error that can't be printed";
    }
    if (keeps) keep(text.trimEnd());
    else tell(`${text}\n\nLeat (JavaScript of Node.js ${VERSION})`);
}

/** The version of Node that programs are told of. */
export const VERSION = "v22.20.0";

/** An error that nobody caught: listeners have it, or it ends the program. */
export function uncaught(error: unknown, origin: Origin = "uncaughtException"): void {
    const { process, captured } = known;
    try {
        if (process !== undefined) process.emit("uncaughtExceptionMonitor", error, origin);
        if (captured !== null) {
            captured(error);
            return;
        }
        if (process?.emit("uncaughtException", error, origin)) return;
    } catch (again) {
        show(again);
        if (goesOn) return;
        ended(HANDLER_FAILED);
        return;
    }
    show(error);
    if (goesOn) return;
    let code = FAILED;
    try {
        code = leave(FAILED, true);
    } catch {
        // The error that came first is the one that counts.
    }
    exit(code);
}

interface Rejection {
    readonly promise: object;
    readonly reason: unknown;
}

let pending: Rejection[] = [];
let late: object[] = [];
const reported = new WeakSet<object>();

/** A promise was rejected without a handler, or got one after that. */
export function rejected(promise: object, reason: unknown, handled: boolean): void {
    if (!handled) {
        pending.push({ promise, reason });
        return;
    }
    const at = pending.findIndex((rejection) => rejection.promise === promise);
    if (at >= 0) pending.splice(at, 1);
    else if (reported.delete(promise)) late.push(promise);
}

/** Tells of promises that are still without a handler when microtasks have run. */
export function runRejections(): void {
    const handledLate = late;
    late = [];
    for (const promise of handledLate) known.process?.emit("rejectionHandled", promise);
    while (pending.length > 0) {
        const { promise, reason } = pending.shift() as Rejection;
        reported.add(promise);
        try {
            if (known.process?.emit("unhandledRejection", reason, promise)) continue;
        } catch (error) {
            uncaught(error);
            continue;
        }
        uncaught(reason instanceof Error ? reason : unhandled(reason), "unhandledRejection");
    }
}

class UnhandledPromiseRejection extends Error {}

/** What is thrown for a reason that is no error. */
function unhandled(reason: unknown): Error {
    const shown = typeof reason === "object" && reason !== null ? Object.prototype.toString.call(reason).replace("[object Object]", "#<Object>") : String(reason);
    const error = new UnhandledPromiseRejection(
        "This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise " +
            `which was not handled with .catch(). The promise rejected with the reason "${shown}".`,
    );
    error.name = "UnhandledPromiseRejection";
    return Object.assign(error, { code: "ERR_UNHANDLED_REJECTION" });
}

failures.uncaught = uncaught;
