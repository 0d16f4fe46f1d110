// A program that is led by messages: what the tests of threads and of cluster have in common.
import { start } from "../child.mjs";
import { Connection, Cut } from "../load/connection.mjs";

const LIFE_MS_MAX = 30_000;

/** Starts `file`; it is killed when the test is over. `message(kind, name)` awaits one of a thread or worker. */
export async function led(t, file, options = {}) {
    const child = start(file, [], { ipc: true, lifeMs: LIFE_MS_MAX, ...options });
    t.after(() => child.kill());
    await child.message("ready");
    return child;
}

/** Resolves to what became of a request: a reply's thread, status and body, or how the connection ended. */
export async function outcome(reply) {
    try {
        const { status, body, headers } = await reply;
        return { status, body, thread: headers["x-thread"], headers };
    } catch (error) {
        if (!(error instanceof Cut)) throw error;
        return { ended: error.code };
    }
}

/** `count` fresh connections with one request each, all at once; resolves to their outcomes, with the time each took. */
export function ask(port, count, path = "/hello") {
    return Promise.all(Array.from({ length: count }, async () => {
        const started = performance.now();
        const connection = await Connection.open(port);
        const result = await outcome(connection.get(path));
        connection.destroy();
        return { ...result, ms: performance.now() - started };
    }));
}

/** How many of the outcomes each thread answered. */
export function tally(outcomes) {
    const counts = {};
    for (const { thread, ended } of outcomes) counts[thread ?? ended] = (counts[thread ?? ended] ?? 0) + 1;
    return counts;
}
