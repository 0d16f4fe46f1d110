// Which HTTP server the tests run: leat/http, Node's own as the reference with LEAT_SUBJECT=node:http, or that of `leat run` with
// LEAT_SUBJECT=embedded. Every child process and worker inherits the choice.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const subject = process.env.LEAT_SUBJECT ?? "leat/http";
export const onLeat = subject !== "node:http";
/** What programs load for it. */
export const specifier = subject === "embedded" ? "node:http" : subject;
export const http = require(specifier);

const [major, minor] = process.versions.node.split(".").map(Number);

/** Whether this Node has at least the given version. */
export const nodeIs = (wantedMajor, wantedMinor = 0) => major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);

/** net.Server's `reusePort` came with Node 22.12 and 23.1; Leat has it everywhere. */
export const hasReusePort = onLeat || nodeIs(23, 1) || (major === 22 && minor >= 12);

/** The engine's metrics by name, summed over lanes; nothing on node:http. */
export function engine() {
    const metrics = {};
    if (!onLeat) return metrics;
    const { addon } = require("../dist/native/load.js");
    for (const [, name, value] of addon().metrics().matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm)) metrics[name] = (metrics[name] ?? 0) + Number(value);
    return metrics;
}

const OPEN = ["leat_lane_exchanges", "leat_lane_connections", "leat_lane_queue_bytes"];

/** What the engine has open, by metric: all are zero when nobody asks. */
export function openInEngine() {
    const metrics = engine();
    return Object.fromEntries(Object.keys(metrics).filter((name) => OPEN.includes(name)).map((name) => [name, metrics[name]]));
}
