// A suite is defined once and runs once per target; afterwards the replies of both runs are compared field by field.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after as afterAll, test } from "node:test";
import { startApp } from "./app.mjs";
import { Peer } from "./peer.mjs";
import { launches, targets } from "./targets.mjs";

// Express reports what handlers throw to stderr, except in tests.
process.env.NODE_ENV = "test";

const TEST_MS = 15_000;
const END_MS = 5_000;

// What a test leaves open may not keep the process: the engine's handles count like Node's.
afterAll(() => {
    setTimeout(() => {
        console.error(`still open ${END_MS} ms after the last test: ${process.getActiveResourcesInfo()}`);
        process.exit(1);
    }, END_MS).unref();
});

/**
 * Calls `define({ name, http, it })` for every target. `it(what, body)` makes a test; its body gets `{ listen, peer, after }`:
 * `listen(server)` starts a server on a free port and gives a `Peer` for it, `peer(port)` is for one that listens already.
 */
export function suite(title, define) {
    compared(title, targets, (target, it) => define({ name: target.name, http: target.http, it }));
}

/**
 * The same for an app that creates its server itself: `path` runs as a child process, once plainly and once under
 * `leat/register`; `define({ name, it })`, and the body of a test gets `{ start }`, which gives a `Peer` for a new child.
 */
export function appSuite(title, path, define) {
    compared(title, launches, (launch, it) => define({ name: launch.name, it: (what, body) => it(what, (context) => body({ ...context, start: () => startApp(launch, path, context) })) }));
}

function compared(title, kinds, define) {
    const runs = kinds.map((kind) => {
        const replies = new Map();
        define(kind, (what, body) => {
            const log = [];
            replies.set(what, log);
            test(`${title} on ${kind.name}: ${what}`, () => run(body, kind, log));
        });
        return replies;
    });
    const [reference, ...others] = runs;
    others.forEach((replies, at) => {
        test(`${title} on ${kinds[at + 1].name}: the same replies as ${kinds[0].name}`, () => {
            for (const [what, log] of replies) assert.deepEqual(sorted(log), sorted(reference.get(what)), what);
        });
    });
}

async function run(body, kind, log) {
    const ends = [];
    const after = (end) => ends.unshift(end);
    const peer = (port) => {
        const made = new Peer(port, log);
        after(() => made.close());
        return made;
    };
    const listen = async (server) => {
        if (kind.http) assert.ok(server instanceof kind.http.Server, "the server is not of the target's class");
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        after(() => closed(server));
        return peer(server.address().port);
    };
    try {
        await within(TEST_MS, "the test", body({ listen, peer, after }));
    } finally {
        for (const end of ends) await within(END_MS, "its end", end());
    }
}

/** A test that hangs must still clean up, or it takes all that follow with it; hence no `timeout` of the runner's. */
async function within(ms, what, promise) {
    let timer;
    const overdue = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not come to an end in ${ms} ms`)), ms);
    });
    await Promise.race([promise, overdue]).finally(() => clearTimeout(timer));
}

/** Closes the server as a program would; a connection that outlives it keeps the test from ending. */
async function closed(server) {
    if (!server.listening) return;
    const gone = once(server, "close");
    server.close();
    server.closeAllConnections();
    await gone;
}

/** Requests that run beside each other are answered in any order. */
function sorted(log) {
    return [...log].sort((a, b) => (a.request < b.request ? -1 : a.request > b.request ? 1 : 0));
}
