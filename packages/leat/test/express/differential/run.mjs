// Runs cases on a subject, in one process for each version of Express, and returns what each showed.
import { spawn } from "node:child_process";
import net from "node:net";
import { replyEnd } from "../../differential/replies.mjs";
import { exchange } from "./client.mjs";
import { command } from "./subjects.mjs";
import { VERSIONS, requestsOf, table } from "./table.mjs";

const START_MS = 20_000;
const ORDER_MS = 30_000;
const STDERR_MAX = 64 * 1024;

/** A Map from name to result (`log`, `connections`, `unmet`, and `ms` that it took) for the cases `names` on `subject`. */
export async function run(names, subject, folder) {
    const results = new Map();
    await Promise.all(VERSIONS.map((version) => share(names.filter((name) => table.get(name).version === version), version)));
    return results;

    /** One order ends a case and begins the next, since the orders are most of what a case costs. */
    async function share(mine, version) {
        const started = () => Host.start(command(subject, version, folder));
        let host;
        let open;
        for (const name of [...mine, undefined]) {
            if (name === undefined && open === undefined) break;
            host ??= await started();
            try {
                const { log, where } = await host.order("turn", { name });
                if (open !== undefined) results.set(open.name, { log, ...open.seen });
                open = name === undefined ? undefined : { name, seen: await seen(host, name, where) };
            } catch {
                await host.stop();
                // Which of the two it was shows when each has a process for itself.
                for (const each of [open?.name, name]) if (each !== undefined) results.set(each, await alone(each, started));
                host = open = undefined;
            }
        }
        await host?.stop();
    }
}

/** What a client sees of a case that listens at `where`, and how long that took. */
async function seen(host, name, where) {
    const start = performance.now();
    const entry = table.get(name);
    const until = async (text) => (await host.order("until", { text })).met;
    const { connections, unmet } = where === null ? { connections: [], unmet: [] } : await exchange(where, entry, requestsOf(entry), until);
    return { connections, unmet, ms: performance.now() - start };
}

/** A case that may end its process has that for a result. */
async function alone(name, started) {
    const host = await started();
    let shown = { connections: [], unmet: [], ms: 0 };
    try {
        const { where } = await host.order("turn", { name });
        shown = await seen(host, name, where);
        const { log } = await host.order("turn", {});
        return { log, ...shown };
    } catch (error) {
        return { ...shown, log: [`the process ended: ${error.message}; ${await host.stop()}`] };
    } finally {
        await host.stop();
    }
}

/** A subject's process. */
class Host {
    #child;
    #port;
    #socket;
    #waiting;
    #timer;
    #stderr = "";

    static async start([program, ...args]) {
        const host = new Host();
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined };
        host.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
        host.#child.stderr.on("data", (bytes) => void (host.#stderr = (host.#stderr + bytes).slice(-STDERR_MAX)));
        host.#port = await host.#started();
        host.#connect();
        return host;
    }

    #started() {
        return new Promise((resolve, reject) => {
            const failed = (why) => reject(new Error(`${this.#child.spawnargs.join(" ")}: ${why}\n${this.#stderr}`));
            const timer = setTimeout(() => failed("does not start"), START_MS);
            let text = "";
            this.#child.stdout.on("data", (bytes) => {
                text += bytes;
                const found = /^control (\d+)\n/m.exec(text);
                if (found === null) return;
                clearTimeout(timer);
                resolve(Number(found[1]));
            });
            this.#child.once("close", (code, signal) => failed(`ended with ${signal ?? code}`));
        });
    }

    order(what, body) {
        const text = JSON.stringify(body);
        return new Promise((resolve, reject) => {
            this.#waiting = { resolve, reject };
            this.#timer = setTimeout(() => this.#socket.destroy(new Error(`no answer to ${what} of ${text}`)), ORDER_MS);
            this.#socket.write(`POST /${what} HTTP/1.1\r\nHost: subject\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
        });
    }

    /** Node's own client costs more than the rest of a case. */
    #connect() {
        this.#socket = net.connect({ host: "127.0.0.1", port: this.#port, noDelay: true });
        let text = "";
        const answered = (error, answer) => {
            clearTimeout(this.#timer);
            const waiting = this.#waiting;
            this.#waiting = undefined;
            if (error === undefined) waiting?.resolve(answer);
            else waiting?.reject(error);
        };
        this.#socket.on("data", (bytes) => {
            text += bytes.toString("latin1");
            const end = replyEnd(text, 0);
            if (end === -1) return;
            const answer = JSON.parse(Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4, end), "latin1").toString());
            text = text.slice(end);
            if (answer.broken === undefined) answered(undefined, answer);
            else answered(new Error(answer.broken));
        });
        this.#socket.on("error", (error) => answered(error));
        this.#socket.on("close", () => answered(new Error("the connection to the subject was closed")));
    }

    /** Ends the process and gives its last words. */
    async stop() {
        this.#socket.destroy();
        const over = this.#child.exitCode === null && this.#child.signalCode === null ? new Promise((resolve) => void this.#child.once("close", resolve)) : undefined;
        this.#child.kill("SIGKILL");
        await over;
        return this.#stderr.trim().split("\n").slice(-3).join(" ");
    }
}
