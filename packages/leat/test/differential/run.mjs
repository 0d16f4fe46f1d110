// Runs cases on a target, spread over a few processes, and returns what each showed.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isLed, lastWords, led } from "./led.mjs";

const HOST = fileURLToPath(new URL("./host.mjs", import.meta.url));
const PROCESSES = 2;
const WIDTH = 6;
const HOST_MS = 90_000;
const STDERR_MAX = 64 * 1024;

/** A Map from name to result for the cases `names` of `table` on `target`; `certificate` holds the paths `cert` and `key`. */
export async function run(table, names, target, certificate) {
    const results = new Map();
    const by = (kind) => names.filter((name) => kind(table.get(name)));
    const together = by((entry) => !entry.serial && !entry.dies);
    const serial = by((entry) => entry.serial && !entry.dies);
    const dying = by((entry) => entry.dies);

    const shares = Array.from({ length: PROCESSES }, (_, at) => together.filter((_, index) => index % PROCESSES === at));
    const suspects = (await Promise.all(shares.map(batch))).flat();
    await alone([...serial, ...suspects], true);
    await alone(dying, false);
    return results;

    /** Plays `share` several at a time; returns those that were under way when a process died. */
    async function batch(share) {
        const suspects = [];
        let left = share;
        while (left.length > 0) {
            const { died, under } = await host(left, { width: WIDTH, guarded: false });
            if (died !== null && under.length === 0) throw new Error(`${target} does not start: ${died}`);
            if (died !== null) suspects.push(...under);
            left = left.filter((name) => !results.has(name) && !suspects.includes(name));
        }
        return suspects;
    }

    /** One process for all, one case at a time; a case that ends the process has that for a result. */
    async function alone(share, guarded) {
        let left = share;
        while (left.length > 0) {
            const { died, under } = await host(guarded ? left : left.slice(0, 1), { width: 1, guarded });
            if (died !== null) results.set(under[0] ?? left[0], { log: [`the process ended: ${died.replace(/:\d{4,5}\b/, ":(port)")}`], connections: [], unmet: [], lucky: false });
            left = left.filter((name) => !results.has(name));
        }
    }

    function host(share, { width, guarded }) {
        if (isLed(target)) return led(share, { width, guarded }, target, certificate, results);
        return new Promise((resolve) => {
            const child = fork(HOST, [target, certificate.cert, certificate.key], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
            let stderr = "";
            const under = new Set();
            let done = false;
            const limit = setTimeout(() => child.kill("SIGKILL"), HOST_MS);
            child.stderr.on("data", (bytes) => void (stderr = (stderr + bytes).slice(-STDERR_MAX)));
            child.on("message", (message) => {
                if (message.began !== undefined) under.add(message.began);
                if (message.name !== undefined) {
                    under.delete(message.name);
                    results.set(message.name, message.result);
                }
                if (message.done) done = true;
            });
            child.on("close", (code, signal) => {
                clearTimeout(limit);
                resolve({ died: done ? null : `${signal ?? code}; ${lastWords(stderr)}`, under: [...under] });
            });
            child.send({ names: share, width, guarded });
        });
    }
}
