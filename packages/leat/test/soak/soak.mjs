// A long run against one server: everything that clients do, well or badly, and afterwards memory, descriptors, handles and
// the engine's counts must be back at what they were. `node soak.mjs [--requests N] [--seed N]`.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { start } from "../child.mjs";
import { subject } from "../subject.mjs";
import { doomed, kinds, throwing } from "./kinds.mjs";

const { values } = parseArgs({ options: { requests: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } } });
const REQUESTS = Number(values.requests);
assert.ok(Number.isSafeInteger(REQUESTS) && REQUESTS >= 1000, "--requests is a whole number of at least 1000");

// A machine that does less than a thousand requests a second is broken.
const SECONDS_MAX = 30 + REQUESTS / 1000;
const ACTORS = 50;
const SLICES = 5;
// The first requests fill caches, code and pools; what is there after them is the start.
const WARM = Math.max(5000, REQUESTS / 20);
const REQUESTS_PER_THROW = 500;
const REQUESTS_PER_THREAD = 5000;
const IDLE_POLLS_MAX = 100;
const IDLE_POLL_MS = 50;
const OP_MS_MAX = 15_000;
/** How much more than at the start may be there: an allocator keeps some, a leak of 50 bytes a request is over it at a million. */
const GROWTH_MB_MAX = { rss: 40, heap: 8, buffers: 8 };

/** Mulberry32: the same seed gives the same run, as far as clients decide it. */
function generator(seed) {
    let state = seed >>> 0;
    return (below) => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) % below;
    };
}

const random = generator(Number(values.seed));
const wheel = Object.entries(kinds).flatMap(([name, [weight]]) => Array(weight).fill(name));
const deadline = performance.now() + SECONDS_MAX * 1000;
// V8 lets the space for young objects grow by 100 MB and more under load, which would hide everything else.
const execArgv = ["--expose-gc", "--max-semi-space-size=4"];
const child = start(new URL("server.mjs", import.meta.url), [], { ipc: true, execArgv, lifeMs: (SECONDS_MAX + 60) * 1000 });
const { port } = await child.message("port");
const total = { requests: 0, throws: 0, threads: 0, kinds: {} };

async function thread() {
    const name = `thread ${total.threads}`;
    total.threads += 1;
    child.send({ do: "thread", name });
    const { port: own } = await child.message("thread", name);
    return doomed(own, async () => {
        child.send({ do: "terminate", name });
        assert.equal((await child.message("gone", name)).code, 1);
    });
}

/** One thing that a client does, with a limit: a hang is a failure that names its kind. */
async function one() {
    let name = wheel[random(wheel.length)];
    let act = () => kinds[name][1](port, random);
    if (total.requests >= (total.throws + 1) * REQUESTS_PER_THROW) {
        [name, act] = ["throwing", () => throwing(port)];
        total.throws += 1;
    } else if (total.requests >= (total.threads + 1) * REQUESTS_PER_THREAD) [name, act] = ["thread", thread];
    const timer = setTimeout(() => fail(new Error(`${name} took more than ${OP_MS_MAX} ms`)), OP_MS_MAX);
    try {
        const requests = await act();
        total.requests += requests;
        total.kinds[name] = (total.kinds[name] ?? 0) + requests;
    } catch (error) {
        fail(new Error(`${name}: ${error.message}`, { cause: error }));
    } finally {
        clearTimeout(timer);
    }
}

function fail(error) {
    child.kill();
    console.error(error);
    process.exit(1);
}

async function run(requests) {
    const until = total.requests + requests;
    await Promise.all(Array.from({ length: ACTORS }, async () => {
        while (total.requests < until) {
            if (performance.now() > deadline) fail(new Error(`${total.requests} requests in ${SECONDS_MAX} s; all should have been done`));
            await one();
        }
    }));
}

const busy = ({ connections, engine }) => connections > 0 || Object.values(engine).some((count) => count > 0);

/** What the server holds when nobody asks: counts may lag behind the clients by some turns. */
async function measure() {
    let held;
    for (let i = 0; i < IDLE_POLLS_MAX; i += 1) {
        child.send({ do: "measure" });
        held = await child.message("measured");
        if (!busy(held)) break;
        await pause(IDLE_POLL_MS);
    }
    const mb = (bytes) => (bytes / 1024 / 1024).toFixed(1);
    console.log(`${String(total.requests).padStart(8)} requests: rss ${mb(held.rss)} heap ${mb(held.heap)} buffers ${mb(held.buffers)} MB, ${held.descriptors} descriptors, ${held.handles} handles, ${held.connections} connections ${JSON.stringify(held.engine)}`);
    return held;
}

console.log(`${subject} on Node ${process.versions.node}, seed ${values.seed}`);
const started = performance.now();
await run(WARM);
const before = await measure();
let after;
for (let slice = 0; slice < SLICES; slice += 1) {
    await run(REQUESTS / SLICES);
    after = await measure();
}
const seconds = (performance.now() - started) / 1000;
console.log(`${total.requests} requests in ${seconds.toFixed(0)} s: ${JSON.stringify(total.kinds)}`);

child.send({ do: "leave" });
const ended = await child.exit;
const wrong = [];
for (const [key, mb] of Object.entries(GROWTH_MB_MAX)) {
    const grown = (after[key] - before[key]) / 1024 / 1024;
    if (grown > mb) wrong.push(`${key} grew by ${grown.toFixed(1)} MB, at most ${mb}`);
}
for (const key of ["descriptors", "handles"]) if (after[key] !== before[key]) wrong.push(`${key}: ${before[key]} at the start, ${after[key]} at the end`);
if (after.connections !== 0) wrong.push(`${after.connections} connections are open`);
for (const [name, count] of Object.entries(after.engine)) if (count !== 0) wrong.push(`${name} is ${count}`);
if (after.uncaught.soak !== total.throws || Object.keys(after.uncaught).length !== 1) wrong.push(`${total.throws} handlers threw, the process was told ${JSON.stringify(after.uncaught)}`);
if (ended.code !== 0 || ended.stderr !== "") wrong.push(`the server ended with ${ended.code ?? ended.signal}: ${ended.stderr}`);
for (const line of wrong) console.error(line);
process.exitCode = wrong.length === 0 ? 0 : 1;
