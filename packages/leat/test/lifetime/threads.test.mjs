// Servers in worker_threads: each thread ends as it would anyhow, whatever its server is doing, and hurts no other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../load/connection.mjs";
import { load } from "../load/generate.mjs";
import { hasReusePort, subject } from "../subject.mjs";
import { ask, led, outcome, tally } from "./led.mjs";

const program = new URL("threads.mjs", import.meta.url);
const BLOCK_MS = 2000;
// What no request may take longer than, beyond the time that a thread is blocked.
const HANG_MS_MAX = 5000;
const reuse = { skip: !hasReusePort && "this Node has no reusePort" };

async function spawn(child, name, options = {}) {
    child.send({ do: "spawn", name, options });
    const { port } = await child.message("listening");
    return port;
}

async function leaves(child) {
    child.send({ do: "leave" });
    const ended = await child.exit;
    assert.equal(ended.stderr, "");
    assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null });
}

/** A dead thread's request: an answer that says why there is none, or the end of its connection. */
function refusedOrEnded(result) {
    if (result.ended !== undefined) return assert.match(result.ended, /^(FIN|ECONNRESET)$/);
    assert.equal(result.status, 503);
    assert.notEqual(result.body, "", "a refusal has a reason");
}

/** Nobody listens on `port` any more, or whoever does says that there is no thread. */
async function nobodyServes(port) {
    const connection = await Connection.open(port).catch((error) => error);
    if (connection instanceof Error) return assert.equal(connection.code, "ECONNREFUSED");
    refusedOrEnded(await outcome(connection.get("/hello")));
    connection.destroy();
}

test("a thread ends by itself when its server is closed", async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "one");
    assert.deepEqual(tally(await ask(port, 10)), { one: 10 });
    child.send({ do: "tell", name: "one", act: "close" });
    await child.message("closed");
    assert.deepEqual((await child.message("exit")).code, 0);
    await assert.rejects(Connection.open(port), { code: "ECONNREFUSED" });
    await leaves(child);
});

test("a thread ends by itself when its server is unref'ed", async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "one");
    child.send({ do: "tell", name: "one", act: "unref" });
    assert.deepEqual((await child.message("exit")).code, 0);
    await nobodyServes(port);
    await leaves(child);
});

test("a thread with an open connection stays until it ends", async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "one");
    const connection = await Connection.open(port);
    const reply = connection.get("/slow");
    await child.message("pending");
    child.send({ do: "tell", name: "one", act: "close" });
    // An answer from the thread is proof that it lives after close().
    child.send({ do: "tell", name: "one", act: "answer" });
    assert.equal((await reply).body, "late");
    connection.end();
    assert.deepEqual((await child.message("exit")).code, 0);
    await leaves(child);
});

test("terminate() in the middle of a load, again and again", async (t) => {
    const child = await led(t, program);
    const stable = await spawn(child, "stable");
    const other = load({ port: stable, connections: 20, requests: 6000, patterns: ["/{id}"] });
    for (let round = 0; round < 4; round += 1) {
        const name = `round ${round}`;
        const port = await spawn(child, name);
        const doomed = load({ port, connections: 50, requests: 100_000, patterns: ["/{id}", "POST /{id}"], untilGone: true });
        await child.message("busy", name);
        child.send({ do: "terminate", name });
        assert.equal((await child.message("exit")).code, 1);
        assert.ok((await doomed).answered < 100_000);
    }
    assert.deepEqual((await other).wrong, []);
    assert.deepEqual(tally(await ask(stable, 10)), { stable: 10 });
    child.send({ do: "tell", name: "stable", act: "close" });
    assert.equal((await child.message("exit")).code, 0);
    await leaves(child);
});

test("terminate() while long replies are under way: what arrives of them is theirs", async (t) => {
    const child = await led(t, program);
    for (let round = 0; round < 5; round += 1) {
        const name = `round ${round}`;
        const letter = String.fromCharCode(97 + round);
        const port = await spawn(child, name);
        const connections = await Promise.all(Array.from({ length: 10 }, () => Connection.open(port)));
        let foreign = 0;
        const begun = connections.map(({ socket }) => new Promise((resolve) => {
            let head = "";
            socket.removeAllListeners("data");
            socket.on("data", (chunk) => {
                // The reader is slow: most of the reply waits in the server.
                if (!head.includes("\r\n\r\n")) {
                    head += chunk.toString("latin1");
                    socket.pause();
                    return resolve();
                }
                for (const byte of chunk) if (byte !== letter.charCodeAt(0)) foreign += 1;
            });
            socket.on("end", () => socket.end());
            socket.write(`GET /long/${letter} HTTP/1.1\r\nhost: test\r\n\r\n`);
        }));
        await Promise.all(begun);
        child.send({ do: "terminate", name });
        assert.equal((await child.message("exit")).code, 1);
        for (const { socket } of connections) socket.resume();
        for (const { closed } of connections) assert.match(await closed, /^(FIN|ECONNRESET)$/);
        assert.equal(foreign, 0, `${foreign} bytes are not of the reply`);
    }
    await leaves(child);
});

test("terminate() of a thread in a busy loop, with requests waiting for it", async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "one");
    const connections = await Promise.all(Array.from({ length: 20 }, () => Connection.open(port)));
    child.send({ do: "tell", name: "one", act: "block", value: HANG_MS_MAX * 2 });
    await child.message("blocking");
    const waiting = connections.map((connection) => outcome(connection.get("/hello")));
    child.send({ do: "terminate", name: "one" });
    assert.equal((await child.message("exit")).code, 1);
    for (const reply of waiting) refusedOrEnded(await reply);
    for (const connection of connections) connection.destroy();
    await leaves(child);
});

for (const [how, message, code] of [["throws in a handler", "/throw", 1], ["exits in a handler", "/exit", 5], ["throws between requests", "throw", 1], ["exits between requests", "exit", 6]]) {
    test(`a thread that ${how} is gone alone`, async (t) => {
        const child = await led(t, program);
        const stable = await spawn(child, "stable");
        const port = await spawn(child, "doomed");
        const waiting = await Connection.open(port);
        const pending = outcome(waiting.get("/slow"));
        const idle = await Connection.open(port);
        assert.equal((await idle.get("/hello")).status, 200);
        await child.message("pending");

        if (message.startsWith("/")) {
            const connection = await Connection.open(port);
            refusedOrEnded(await outcome(connection.get(message)));
        } else child.send({ do: "tell", name: "doomed", act: message });
        if (code === 1) {
            const error = await child.message("error");
            assert.equal(error.message, "thrown in doomed");
            assert.match(error.stack, /^Error: thrown in doomed\n {4}at [^]*threads\.mjs/);
        }
        assert.equal((await child.message("exit")).code, code);
        refusedOrEnded(await pending);
        const left = await outcome(idle.get("/hello"));
        refusedOrEnded(left);
        for (const connection of [waiting, idle]) connection.destroy();
        assert.deepEqual(tally(await ask(stable, 10)), { stable: 10 });
        child.send({ do: "tell", name: "stable", act: "close" });
        await leaves(child);
    });
}

test("with the last thread of a port gone, nobody waits for an answer", async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "one");
    await ask(port, 1);
    child.send({ do: "terminate", name: "one" });
    await child.message("exit");
    for (let i = 0; i < 5; i += 1) await nobodyServes(port);
    const again = await spawn(child, "two", { port });
    assert.equal(again, port, "the port is free for another thread");
    assert.deepEqual(tally(await ask(port, 5)), { two: 5 });
    child.send({ do: "tell", name: "two", act: "close" });
    await leaves(child);
});

/** Who holds a port, and who then asks for it. */
const conflicts = [
    ["main", {}, "thread", {}],
    ["thread", {}, "main", {}],
    ["thread", {}, "other thread", {}],
    ["main", {}, "main too", {}],
    ["main", { module: "node:http" }, "main too", {}],
    ["main", {}, "main too", { module: "node:http" }],
    ["main", { module: "node:http" }, "thread", {}],
    ["thread", {}, "main", { module: "node:http" }],
    ...(hasReusePort ? [["thread", { reusePort: true }, "other thread", {}], ["thread", {}, "other thread", { reusePort: true }]] : []),
];
const named = ([holder, { module = subject, reusePort }]) => `${module} on ${holder}${reusePort ? " with reusePort" : ""}`;
for (const [holder, held, asker, asked] of conflicts) {
    test(`EADDRINUSE: ${named([asker, asked])} after ${named([holder, held])}`, async (t) => {
        const child = await led(t, program);
        const kind = (name) => (name.startsWith("main") ? "listen" : "spawn");
        child.send({ do: kind(holder), name: holder, options: held });
        const { port } = await child.message("listening");
        child.send({ do: kind(asker), name: asker, options: { ...asked, port } });
        const failed = await child.message("failed");
        assert.deepEqual([failed.name, failed.code, failed.syscall], [asker, "EADDRINUSE", "listen"]);
        assert.equal(failed.message, `listen EADDRINUSE: address already in use 127.0.0.1:${port}`);
        assert.deepEqual(tally(await ask(port, 5)), { [holder]: 5 });
    });
}

test("threads with reusePort share the connections of one port", reuse, async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "a", { reusePort: true });
    for (const name of ["b", "c"]) await spawn(child, name, { reusePort: true, port });
    const counts = {};
    for (let i = 0; i < 10; i += 1) {
        for (const [name, count] of Object.entries(tally(await ask(port, 30)))) counts[name] = (counts[name] ?? 0) + count;
    }
    t.diagnostic(JSON.stringify(counts));
    assert.deepEqual(Object.keys(counts).sort(), ["a", "b", "c"]);
    for (const [name, count] of Object.entries(counts)) assert.ok(count >= 40, `${name} answered ${count} of 300`);

    // One of them leaves in good order: nothing is refused meanwhile or after.
    child.send({ do: "tell", name: "b", act: "close" });
    await child.message("exit");
    const rest = tally(await ask(port, 30));
    assert.deepEqual(Object.keys(rest).sort(), ["a", "c"]);
    for (const name of ["a", "c"]) child.send({ do: "tell", name, act: "close" });
    await leaves(child);
});

test("a blocked thread holds up its own requests only", reuse, async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "free", { reusePort: true });
    await spawn(child, "blocked", { reusePort: true, port });
    const kept = await Promise.all(Array.from({ length: 20 }, () => Connection.open(port)));
    const before = await Promise.all(kept.map((connection) => outcome(connection.get("/hello"))));
    assert.deepEqual(Object.keys(tally(before)).sort(), ["blocked", "free"]);

    child.send({ do: "tell", name: "blocked", act: "block", value: BLOCK_MS });
    await child.message("blocking");
    const started = performance.now();
    const timed = async (connection) => ({ ...await outcome(connection.get("/hello")), ms: performance.now() - started });
    const [again, fresh] = await Promise.all([Promise.all(kept.map(timed)), ask(port, 40)]);
    for (const result of [...again, ...fresh]) {
        if (result.status !== 200) refusedOrEnded(result);
        assert.ok(result.ms < BLOCK_MS + HANG_MS_MAX, `a request took ${Math.round(result.ms)} ms`);
    }
    const free = [...again, ...fresh].filter(({ thread }) => thread === "free");
    assert.ok(free.length >= 15, `the other thread answered ${free.length} of 60`);
    for (const { ms } of free) assert.ok(ms < BLOCK_MS * 0.75, `a request of the other thread took ${Math.round(ms)} ms`);
    assert.ok(tally(await ask(port, 40)).blocked > 0, "the blocked thread takes part again");
    for (const connection of kept) connection.destroy();
    for (const name of ["free", "blocked"]) child.send({ do: "tell", name, act: "close" });
    await leaves(child);
});

test("a thread that dies leaves its port to the others, and none of its requests hangs", reuse, async (t) => {
    const child = await led(t, program);
    const port = await spawn(child, "stays", { reusePort: true });
    await spawn(child, "dies", { reusePort: true, port });
    const kept = await Promise.all(Array.from({ length: 20 }, () => Connection.open(port)));
    const owners = (await Promise.all(kept.map((connection) => outcome(connection.get("/hello"))))).map(({ thread }) => thread);
    const half = kept.map((connection, at) => (at % 2 === 0 ? outcome(connection.get("/slow")) : undefined));
    await child.several("pending", half.filter(Boolean).length);

    child.send({ do: "terminate", name: "dies" });
    await child.message("exit");
    assert.deepEqual(tally(await ask(port, 50)), { stays: 50 });
    const idle = await Promise.all(kept.map((connection, at) => (at % 2 === 1 ? outcome(connection.get("/hello")) : undefined)));
    child.send({ do: "tell", name: "stays", act: "answer" });
    for (const [at, owner] of owners.entries()) {
        const result = await (half[at] ?? idle[at]);
        if (result.status === 200) assert.equal(result.thread, "stays");
        else {
            assert.equal(owner, "dies", `a request of the thread that stays: ${JSON.stringify(result)}`);
            refusedOrEnded(result);
        }
    }
    for (const connection of kept) connection.destroy();
    child.send({ do: "tell", name: "stays", act: "close" });
    await leaves(child);
});
