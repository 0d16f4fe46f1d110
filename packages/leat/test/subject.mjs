// Which HTTP server the tests run: leat/http, or Node's own as the reference with LEAT_SUBJECT=node:http. Every child
// process and worker inherits the choice.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const subject = process.env.LEAT_SUBJECT ?? "leat/http";
export const onLeat = subject !== "node:http";
export const http = require(subject);

const [major, minor] = process.versions.node.split(".").map(Number);

/** Whether this Node has at least the given version. */
export const nodeIs = (wantedMajor, wantedMinor = 0) => major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);

/** net.Server's `reusePort` came with Node 22.12 and 23.1; Leat has it everywhere. */
export const hasReusePort = onLeat || nodeIs(23, 1) || (major === 22 && minor >= 12);

/** Gauges of the engine: what is open or waits. */
const OPEN = /^\w*(exchanges|connections|waiting|queued)\w*[{ ]/;

/** What the engine counts as open, by metric; nothing on node:http. */
export function openInEngine() {
    if (!onLeat) return {};
    const { addon } = require("../dist/native/load.js");
    return Object.fromEntries(addon().metrics().split("\n").filter((line) => OPEN.test(line)).map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}
