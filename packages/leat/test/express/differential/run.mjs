// Runs cases on a subject, in one process for each version of Express, and returns what each showed.
import { spawn } from "node:child_process";
import http from "node:http";
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

    async function share(mine, version) {
        let host;
        for (const name of mine) {
            host ??= await Host.start(command(subject, version, folder));
            const start = performance.now();
            try {
                results.set(name, { ...(await play(host, name)), ms: performance.now() - start });
            } catch (error) {
                results.set(name, { log: [`the process ended: ${error.message}; ${await host.stop()}`], connections: [], unmet: [], ms: performance.now() - start });
                host = undefined;
            }
        }
        await host?.stop();
    }
}

async function play(host, name) {
    const entry = table.get(name);
    const { where } = await host.order("play", { name });
    const until = async (text) => (await host.order("until", { text })).met;
    const seen = where === null ? { connections: [], unmet: [] } : await exchange(where, entry, requestsOf(entry), until);
    const { log } = await host.order("end", {});
    return { log, ...seen };
}

/** A subject's process. */
class Host {
    #child;
    #port;
    #agent = new http.Agent({ keepAlive: true });
    #stderr = "";

    static async start([program, ...args]) {
        const host = new Host();
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined };
        host.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
        host.#child.stderr.on("data", (bytes) => void (host.#stderr = (host.#stderr + bytes).slice(-STDERR_MAX)));
        host.#port = await host.#started();
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
        return new Promise((resolve, reject) => {
            const req = http.request({ host: "127.0.0.1", port: this.#port, path: `/${what}`, method: "POST", agent: this.#agent, timeout: ORDER_MS }, (res) => {
                let text = "";
                res.on("data", (bytes) => void (text += bytes));
                res.on("error", reject);
                res.on("end", () => {
                    const answer = JSON.parse(text);
                    if (answer.broken === undefined) resolve(answer);
                    else reject(new Error(answer.broken));
                });
            });
            req.on("timeout", () => req.destroy(new Error(`no answer to ${what}`)));
            req.on("error", reject);
            req.end(JSON.stringify(body));
        });
    }

    /** Ends the process and gives its last words. */
    async stop() {
        this.#agent.destroy();
        const over = this.#child.exitCode === null && this.#child.signalCode === null ? new Promise((resolve) => void this.#child.once("close", resolve)) : undefined;
        this.#child.kill("SIGKILL");
        await over;
        return this.#stderr.trim().split("\n").slice(-3).join(" ");
    }
}
