// Servers in cluster workers, whose port belongs to the primary.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { Connection } from "../load/connection.mjs";
import { load } from "../load/generate.mjs";
import { ask, led, outcome, tally } from "./led.mjs";

const program = new URL("forked.mjs", import.meta.url);

/** Forks `count` workers one after the other; resolves to the ports that they listen on. */
async function forked(child, count, options) {
    const ports = [];
    for (let i = 0; i < count; i += 1) {
        child.send({ do: "fork", options });
        const { address, family, port } = await child.message("listening");
        assert.deepEqual([address, family], ["127.0.0.1", "IPv4"]);
        const announced = await child.message("cluster listening");
        assert.deepEqual([announced.address, announced.addressType], ["127.0.0.1", 4]);
        ports.push(port);
    }
    return ports;
}

async function leaves(child) {
    child.send({ do: "leave" });
    const ended = await child.exit;
    assert.equal(ended.stderr, "");
    assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null });
}

for (const policy of ["rr", "none"]) {
    test(`two workers share the port of listen(0) and its connections, policy ${policy}`, async (t) => {
        const child = await led(t, program, { env: { NODE_CLUSTER_SCHED_POLICY: policy } });
        const [port, same] = await forked(child, 2);
        assert.equal(same, port);
        const counts = {};
        for (let i = 0; i < 4; i += 1) {
            for (const [name, count] of Object.entries(tally(await ask(port, 10)))) counts[name] = (counts[name] ?? 0) + count;
        }
        t.diagnostic(JSON.stringify(counts));
        assert.equal((counts[1] ?? 0) + (counts[2] ?? 0), 40);
        // Without round robin the operating system gives them to whoever wakes first.
        if (policy === "rr") for (const name of ["1", "2"]) assert.ok(counts[name] >= 8, `worker ${name} answered ${counts[name]} of 40`);
        const result = await load({ port, connections: 30, requests: 3000, patterns: ["/{id}", "POST /{id}"] });
        assert.deepEqual(result.wrong, []);
        await leaves(child);
    });
}

test("a kept connection stays with its worker", async (t) => {
    const child = await led(t, program);
    const [port] = await forked(child, 2);
    for (let i = 0; i < 4; i += 1) {
        const connection = await Connection.open(port);
        const threads = [];
        for (let j = 0; j < 5; j += 1) threads.push((await outcome(connection.get("/hello"))).thread);
        assert.equal(new Set(threads).size, 1);
        connection.destroy();
    }
    await leaves(child);
});

for (const [how, end, expected] of [
    ["is killed", (child, name) => child.send({ do: "kill", name, signal: "SIGKILL" }), { code: null, signal: "SIGKILL", voluntary: false }],
    ["exits in a handler", async (child, name, port) => {
        const gone = (async () => {
            for (;;) {
                const connection = await Connection.open(port);
                if ((await outcome(connection.get("/hello"))).thread === String(name)) return outcome(connection.get("/exit"));
                connection.destroy();
            }
        })();
        assert.match((await gone).ended, /^(FIN|ECONNRESET)$/);
    }, { code: 5, signal: null, voluntary: false }],
]) {
    test(`a worker that ${how} is replaced by another, and the port stays`, async (t) => {
        const child = await led(t, program);
        const [port] = await forked(child, 2);
        const waiting = await Promise.all(Array.from({ length: 8 }, () => Connection.open(port)));
        const replies = waiting.map((connection) => outcome(connection.get("/slow")));
        await child.several("pending", replies.length);
        await end(child, 1, port);
        const { name, code, signal, voluntary } = await child.message("exit");
        assert.deepEqual({ name, code, signal, voluntary: voluntary ?? false }, { name: 1, ...expected });
        assert.deepEqual(tally(await ask(port, 10)), { 2: 10 });
        child.send({ do: "tell", name: 2, act: "answer" });
        for (const result of await Promise.all(replies)) {
            if (result.status === 200) assert.equal(result.thread, "2");
            else assert.match(result.ended, /^(FIN|ECONNRESET)$/);
        }
        for (const connection of waiting) connection.destroy();

        assert.deepEqual(await forked(child, 1), [port]);
        assert.deepEqual(Object.keys(tally(await ask(port, 20))), ["2", "3"]);
        await leaves(child);
    });
}

test("disconnect() closes a worker's server and lets its requests finish", async (t) => {
    const child = await led(t, program);
    const [port] = await forked(child, 2);
    const waiting = [];
    const replies = [];
    // One after the other, round robin is exact.
    for (let i = 0; i < 4; i += 1) {
        waiting.push(await Connection.open(port));
        replies.push(outcome(waiting[i].get("/slow")));
        await child.message("pending");
    }
    child.send({ do: "disconnect", name: 1 });
    assert.deepEqual(tally(await ask(port, 10)), { 2: 10 });
    for (const name of [1, 2]) child.send({ do: "tell", name, act: "answer" });
    const answered = await Promise.all(replies);
    assert.deepEqual(tally(answered), { 1: 2, 2: 2 });
    for (const { body } of answered) assert.equal(body, "late");
    for (const connection of waiting) connection.destroy();
    assert.equal((await child.message("closed")).name, 1);
    assert.equal((await child.message("disconnect")).name, 1);
    const { name, code, voluntary } = await child.message("exit");
    assert.deepEqual({ name, code, voluntary }, { name: 1, code: 0, voluntary: true });
    await leaves(child);
});

test("server.close() in a worker leaves the port to the other", async (t) => {
    const child = await led(t, program);
    const [port] = await forked(child, 2);
    child.send({ do: "tell", name: 1, act: "close" });
    assert.equal((await child.message("closed")).name, 1);
    assert.deepEqual(tally(await ask(port, 20)), { 2: 20 });
    child.send({ do: "tell", name: 2, act: "close" });
    assert.equal((await child.message("closed")).name, 2);
    await assert.rejects(Connection.open(port), { code: "ECONNREFUSED" });
    await leaves(child);
});

test("a port that is taken is EADDRINUSE in the worker", async (t) => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    t.after(() => holder.close());
    const { port } = holder.address();
    const child = await led(t, program);
    child.send({ do: "fork", options: { port } });
    const { code, message } = await child.message("failed");
    assert.equal(code, "EADDRINUSE");
    assert.match(message, new RegExp(`EADDRINUSE.*127\\.0\\.0\\.1:${port}`));
    await leaves(child);
});

test("an exclusive port belongs to one worker", async (t) => {
    const child = await led(t, program);
    child.send({ do: "fork", options: { exclusive: true } });
    const { port } = await child.message("listening");
    assert.deepEqual(tally(await ask(port, 6)), { 1: 6 });
    child.send({ do: "fork", options: { exclusive: true, port } });
    const { code, name } = await child.message("failed");
    assert.deepEqual([name, code], [2, "EADDRINUSE"]);
    // disconnect() does not know of it.
    child.send({ do: "tell", name: 1, act: "close" });
    await child.message("closed");
    await leaves(child);
});
