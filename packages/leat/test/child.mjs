// A program of the tests as a child process: its lines, its messages and its end, each waited for with a limit.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { leat } from "../../../crates/host/embedded/test/binary.mjs";
import { within } from "./within.mjs";

const LIFE_MS_MAX = 60_000;

/** What runs programs: this Node.js, or `leat run`. */
const runner = (execArgv) => (process.env.LEAT_SUBJECT === "embedded" ? [leat, "run"] : [process.execPath, ...execArgv]);

/**
 * Starts `node [execArgv] file [args]`. `ipc` opens a channel: the child's `process.send` becomes `message()`. It is
 * killed after `lifeMs` whatever happens, so a hang shows as the signal SIGKILL.
 */
export function start(file, args = [], { execArgv = [], env = {}, ipc = false, lifeMs = LIFE_MS_MAX } = {}) {
    const started = performance.now();
    const [program, ...before] = runner(execArgv);
    const child = spawn(program, [...before, file instanceof URL ? fileURLToPath(file) : file, ...args.map(String)], {
        env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
        stdio: ["ignore", "pipe", "pipe", ...(ipc ? ["ipc"] : [])],
    });
    const watchdog = setTimeout(() => child.kill("SIGKILL"), lifeMs);
    const out = { stdout: "", stderr: "" };
    const seen = { line: [], message: [] };
    const waiting = [];

    function offer(kind, value) {
        const at = waiting.findIndex((wait) => wait.kind === kind && wait.wants(value));
        if (at === -1) seen[kind].push(value);
        else waiting.splice(at, 1)[0].resolve(value);
    }
    function next(kind, wants, name) {
        const at = seen[kind].findIndex(wants);
        if (at !== -1) return Promise.resolve(seen[kind].splice(at, 1)[0]);
        const wait = { kind, wants, name };
        const come = new Promise((resolve, reject) => Object.assign(wait, { resolve, reject }));
        waiting.push(wait);
        return within(come, name).finally(() => {
            if (waiting.includes(wait)) waiting.splice(waiting.indexOf(wait), 1);
        });
    }

    let rest = "";
    child.stdout.on("data", (chunk) => {
        out.stdout += chunk;
        const lines = (rest + chunk).split("\n");
        rest = lines.pop();
        for (const line of lines) offer("line", line);
    });
    child.stderr.on("data", (chunk) => (out.stderr += chunk));
    if (ipc) child.on("message", (message) => offer("message", message));

    /** Resolves to { code, signal, ms, stdout, stderr } when the process is gone and its pipes are read. */
    const exit = new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => {
            clearTimeout(watchdog);
            const ended = { code, signal, ms: performance.now() - started, ...out };
            for (const wait of waiting.splice(0)) wait.reject(new Error(`the child ended before ${wait.name}: ${JSON.stringify(ended, undefined, 1)}`));
            resolve(ended);
        });
    });

    return {
        exit,
        pid: child.pid,
        get stderr() {
            return out.stderr;
        },
        get running() {
            return child.exitCode === null && child.signalCode === null;
        },
        /** The next line that starts with `prefix` and a space, without them. */
        line: async (prefix) => (await next("line", (line) => line === prefix || line.startsWith(`${prefix} `), `a line "${prefix}"`)).slice(prefix.length + 1),
        /** The next message whose `is` is `kind`, of `name` if one is given. */
        message: (kind, name) => next("message", (message) => message.is === kind && (name === undefined || message.name === name), `a message "${kind}"`),
        /** The next `count` messages of a kind, one after the other. */
        async several(kind, count) {
            const come = [];
            while (come.length < count) come.push(await this.message(kind));
            return come;
        },
        /** All messages of a kind that came so far. */
        messages: (kind) => seen.message.filter((message) => message.is === kind),
        send: (message) => child.send(message),
        kill: (signal = "SIGKILL") => child.kill(signal),
    };
}
