// Starts the built gateway for a suite, finds out where it listens, and stops it again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const START_MS_MAX = 10_000;
const STOP_MS_MAX = 10_000;
const LOG_LINES_MAX = 200;

/** The binary that the suites run: `LEAT_BIN`, or the one that `cargo build` leaves. */
export const binary = process.env.LEAT_BIN ?? join(root, "target", "debug", "leat");

/**
 * Runs `leat gateway` with `config` (YAML text; files that it names stand in `folder`, made if it is not given) and waits
 * until `listeners` of them are ready. `ports` has the TCP ports in the order of the configuration, `panics` what panics said; `stop()` ends it.
 */
export async function start(config, { listeners = 1, folder = temporary() } = {}) {
    const path = join(folder.path, "leat.yaml");
    writeFileSync(path, config);
    const child = spawn(binary, ["gateway", path], { stdio: ["ignore", "ignore", "pipe"] });
    const killed = () => child.kill("SIGKILL");
    process.once("exit", killed);
    const log = [];
    const ports = [];
    const panics = [];

    const ready = new Promise((resolve, reject) => {
        const fail = (why) => reject(new Error(`${binary} gateway: ${why}\n${log.join("\n")}`));
        const timer = setTimeout(() => fail(`${ports.length} of ${listeners} listeners ready after ${START_MS_MAX} ms`), START_MS_MAX);
        child.once("error", (error) => fail(error.message));
        child.once("close", (code, signal) => {
            clearTimeout(timer);
            fail(`ended with ${signal ?? `code ${code}`} before it was ready`);
        });
        createInterface({ input: child.stderr }).on("line", (line) => {
            if (log.push(line) > LOG_LINES_MAX) log.shift();
            if (line.includes("panicked at")) panics.push(line);
            const port = listeningPort(line);
            if (port !== undefined) ports.push(port);
            if (ports.length >= listeners) {
                clearTimeout(timer);
                resolve();
            }
        });
    });

    const stop = async () => {
        if (child.exitCode === null && child.signalCode === null) {
            const gone = once(child, "close");
            child.kill("SIGTERM");
            const timer = setTimeout(killed, STOP_MS_MAX);
            await gone;
            clearTimeout(timer);
        }
        process.off("exit", killed);
        folder.remove();
    };
    try {
        await ready;
    } catch (error) {
        killed();
        await stop();
        throw error;
    }
    return { ports, log, panics, stop, alive: () => child.exitCode === null && child.signalCode === null };
}

/** The port in a "listening" line of Leat's log, human or JSON; undefined for every other line. */
export function listeningPort(line) {
    let address;
    if (line.startsWith("{")) {
        try {
            const record = JSON.parse(line);
            if (record.event === "listening") address = record.address;
        } catch {
            return undefined;
        }
    } else if (!/\badmin listening\b/.test(line)) {
        address = /\blistening\b.*?((?:\[[0-9a-f:]+\]|[\w.-]+):\d+)/.exec(line)?.[1];
    }
    const port = /:(\d+)$/.exec(address ?? "")?.[1];
    return port === undefined ? undefined : Number(port);
}

/** A temporary folder: its `path`, and `remove()`. */
export function temporary() {
    const path = mkdtempSync(join(tmpdir(), "leat-"));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
