// What one request may cost: an endless loop costs that request, running out of memory costs the world, and the process lives.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import test from "node:test";
import { ask, folder, metric, start } from "./started.mjs";

const SERVER = `
const http = require("node:http");
const leak = [];
const paths = {
    "/loop": () => { for (;;); },
    "/caught": () => { for (;;) try { for (;;); } catch {} },
    "/finally": () => { try { for (;;); } finally { for (;;); } },
    "/regex": () => /^(a+)+$/.test("a".repeat(40) + "b"),
    "/promise": () => { Promise.resolve().then(() => { for (;;); }); },
    "/tick": () => { process.nextTick(() => { for (;;); }); },
    "/ticks": () => { const again = () => process.nextTick(again); again(); },
    "/leak": () => { for (;;) leak.push({ a: [1, 2, 3] }); },
    "/texts": () => { for (let i = 0; ; i += 1) leak.push("x".repeat(100000) + i); },
    "/big": () => { try { "x".repeat(500e6) + "y"; return "fits"; } catch (error) { return error.message; } },
    "/wait": () => undefined,
    "/garbage": () => { for (let i = 0; i < 20000; i += 1) { const a = {}; a.a = a; } return "collected"; },
};
http.createServer((request, response) => {
    const made = paths[request.url]?.();
    if (!(request.url in paths) || typeof made === "string") response.end(made ?? "alive");
}).listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

/** A port that nobody listens on now. */
function free() {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

async function server(t, ...args) {
    const metrics = await free();
    const program = start(t, folder(t, { "app.cjs": SERVER }), ["app.cjs", "--metrics", String(metrics), ...args]);
    return { ...program, at: await program.port(), metrics };
}

test("what never ends costs its request", async (t) => {
    const { at, metrics, seen } = await server(t, "--request-timeout", "200");
    const endless = ["/loop", "/caught", "/finally", "/regex", "/promise", "/tick", "/ticks"];
    for (const path of endless) {
        const { status, text } = await ask(at, path);
        assert.deepEqual([path, status, JSON.parse(text).code], [path, 503, "lane.turn_time"]);
        assert.deepEqual(await ask(at), { status: 200, text: "alive" }, path);
    }
    assert.ok((await metric(metrics, 'leat_run_turns_interrupted_total{worker="0"}')) >= endless.length);
    assert.match(seen.stderr, /ran for more than 200 ms and was stopped[^]*app\.cjs:6/);
});

const LATER = `
const express = require("express");
const fs = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
const kept = [];
const spin = () => { for (;;); };
const app = express();
app.get("/await", async (request, response) => { await sleep(5); spin(); response.json({}); });
app.get("/timer", (request, response) => { setTimeout(() => { spin(); response.json({}); }, 5); });
app.get("/immediate", (request, response) => { setImmediate(() => setImmediate(() => { spin(); response.json({}); })); });
app.get("/file", (request, response) => { fs.readFile(__filename, () => { spin(); response.json({}); }); });
app.get("/nested", async (request, response, next) => { try { await (async () => { await sleep(5); spin(); })(); response.json({}); } catch (error) { next(error); } });
// As on-finished listens.
app.get("/socket", async (request, response) => { request.socket.on("close", () => response.end()); await sleep(5); spin(); });
app.get("/begun", async (request, response) => { response.write("begun"); await sleep(5); spin(); });
app.post("/body", express.json(), async (request, response) => { await sleep(5); spin(); response.json(request.body); });
app.get("/late", async (request, response) => { await sleep(800); response.end("late"); });
app.get("/kept", (request, response) => { kept.push(response); });
app.get("/release", (request, response) => { for (const one of kept.splice(0)) one.end("released"); response.end("alive"); });
app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

test("what never ends in a later turn costs its request at once, and no other", async (t) => {
    const program = start(t, folder(t, { "app.cjs": LATER }), ["app.cjs", "--request-timeout", "100"]);
    const at = await program.port();
    const kept = ask(at, "/kept");
    for (const path of ["/await", "/timer", "/immediate", "/file", "/nested", "/socket"]) {
        const late = ask(at, "/late");
        const { status, text } = await ask(at, path);
        assert.deepEqual([path, status, text === "" ? "" : JSON.parse(text).code], [path, 503, "lane.turn_time"]);
        assert.deepEqual([path, await late], [path, { status: 200, text: "late" }]);
    }
    const post = await ask(at, "/body", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    assert.deepEqual([post.status, JSON.parse(post.text).code], [503, "lane.turn_time"]);
    // What has begun can only break off.
    assert.deepEqual(await ask(at, "/begun"), { status: 0, text: "ECONNRESET" });
    assert.deepEqual(await ask(at, "/release"), { status: 200, text: "alive" });
    assert.deepEqual(await kept, { status: 200, text: "released" });
});

test("a world that runs out of memory is made anew on the same socket", async (t) => {
    const { at, metrics } = await server(t, "--memory", "30MB");
    for (const [path, times] of [["/leak", 1], ["/texts", 2]]) {
        const waiting = ask(at, "/wait");
        await ask(at);
        const [lost, answered] = await Promise.all([ask(at, path), waiting]);
        for (const { status, text } of [lost, answered]) assert.deepEqual([path, status, JSON.parse(text).code], [path, 503, "lane.gone"]);
        assert.deepEqual(await ask(at), { status: 200, text: "alive" });
        assert.equal(await metric(metrics, 'leat_run_worlds_rebuilt_total{worker="0"}'), times);
    }
});

test("one value that never fits is an error that can be caught", async (t) => {
    const { at, metrics } = await server(t, "--memory", "30MB");
    assert.deepEqual(await ask(at, "/big"), { status: 200, text: "out of memory" });
    assert.equal(await metric(metrics, 'leat_run_worlds_rebuilt_total{worker="0"}'), 0);
});

test("bytes from outside that never fit are an error too, and nobody waits for them for ever", async (t) => {
    const script = `
        const { randomBytes } = require("node:crypto");
        const { promises, writeFileSync } = require("node:fs");
        for (let at = 0; at < 4; at += 1) writeFileSync("large", Buffer.alloc(10e6), { flag: "a" });
        const random = () => new Promise((done, failed) => randomBytes(40e6, (error, bytes) => (error ? failed(error) : done(bytes))));
        (async () => {
            for (const read of [random, () => promises.readFile("large")]) {
                console.log(await read().then((bytes) => bytes.length, (error) => error.message));
            }
        })();`;
    const { ended } = start(t, folder(t, { "script.cjs": script }), ["script.cjs", "--memory", "30MB"]);
    const { code, stdout } = await ended;
    assert.deepEqual([code, stdout], [0, "out of memory\nout of memory\n"]);
});

test("garbage is collected between turns, and its pauses are counted", async (t) => {
    const { at, metrics } = await server(t, "--gc-threshold", "1MB");
    for (let i = 0; i < 10; i += 1) assert.equal((await ask(at, "/garbage")).text, "collected");
    assert.ok((await metric(metrics, 'leat_run_collection_seconds_count{worker="0"}')) > 0);
    assert.ok((await metric(metrics, 'leat_run_collection_max_seconds{worker="0"}')) > 0);
    assert.ok((await metric(metrics, 'leat_run_heap_bytes{worker="0"}')) < 20e6);
});

test("worlds that run out of memory one after the other end the process", async (t) => {
    const { at, ended } = await server(t, "--memory", "30MB");
    for (let i = 0; i < 5; i += 1) await ask(at, "/leak");
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(stderr, /giving up/);
});

test("a program that does not listen may run for long, and ends when it is out of memory", async (t) => {
    const script = `
        setTimeout(() => {
            const until = Date.now() + 300;
            while (Date.now() < until);
            console.log("computed");
            const all = [];
            for (;;) all.push({ a: [1, 2, 3] });
        }, 1);`;
    const { ended } = start(t, folder(t, { "script.cjs": script }), ["script.cjs", "--request-timeout", "50", "--memory", "20MB"]);
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stdout], [1, "computed\n"]);
    assert.match(stderr, /out of memory before it listened/);
});
