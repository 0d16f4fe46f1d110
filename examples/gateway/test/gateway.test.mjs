// The example does what its README says: the configuration as it is, but for the ports.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { binary, start, temporary } from "../../../conformance/gateway.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
const options = { timeout: 60_000 };
const WELL_MS_MAX = 10_000;
const KEY = { "x-api-key": "mill-key" };

/** The service by `leat run` on a free port until the test ends. */
async function service(t, name) {
    const child = spawn(binary, ["run", "orders.js"], { cwd: folder, env: { ...process.env, NAME: name, PORT: "0" }, stdio: ["ignore", "pipe", "inherit"] });
    t.after(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const over = once(child, "exit");
        child.kill("SIGKILL");
        await over;
    });
    const [line] = await once(createInterface(child.stdout), "line", { signal: AbortSignal.timeout(10_000) });
    return { child, origin: /http:\S+/.exec(line)[0] };
}

/** The gateway before two servers and one with the new version. */
async function gateway(t) {
    const [one, two, beta] = [await service(t, "one"), await service(t, "two"), await service(t, "new")];
    const home = temporary();
    cpSync(join(folder, "plugins"), join(home.path, "plugins"), { recursive: true });
    cpSync(join(folder, "package.json"), join(home.path, "package.json"));
    const text = readFileSync(join(folder, "leat.yaml"), "utf8")
        .replace("127.0.0.1:18110", "127.0.0.1:0")
        .replace("admin: 127.0.0.1:18111\n", "")
        .replace("http://127.0.0.1:18112", one.origin)
        .replace("http://127.0.0.1:18113", two.origin)
        .replace("http://127.0.0.1:18114", beta.origin);
    const running = await start(text, { folder: home });
    t.after(running.stop);
    const base = `http://127.0.0.1:${running.ports[0]}`;
    const ask = (path, { headers, ...more } = {}) => fetch(`${base}${path}`, { ...more, headers: { ...KEY, ...headers } });
    return { base, ask, one };
}

test("a partner gets in, is told to the service, and nobody else does", options, async (t) => {
    const { base, ask } = await gateway(t);
    const reply = await ask("/orders");
    assert.equal(reply.headers.get("x-version"), "stable");
    assert.equal((await reply.json()).partner, "mill");
    const stranger = await fetch(`${base}/orders`, { headers: { "x-partner": "mill" } });
    assert.deepEqual([stranger.status, (await stranger.json()).code], [401, "auth.missing"]);
    assert.equal(await (await fetch(`${base}/healthz`)).text(), "ok\n");
});

test("who asks for the new version gets it", options, async (t) => {
    const { ask } = await gateway(t);
    const reply = await ask("/orders", { headers: { "x-beta": "1" } });
    assert.deepEqual([(await reply.json()).from, reply.headers.get("x-version")], ["new", "beta"]);
});

test("an order without a number of the client's own never reaches the service", options, async (t) => {
    const { ask } = await gateway(t);
    const order = (headers) => ask("/orders", { method: "POST", body: '{"item":"flour"}', headers: { "content-type": "application/json", "x-beta": "1", ...headers } });
    const refused = await order({});
    assert.equal(refused.status, 400);
    assert.match((await refused.json()).error, /idempotency-key/);
    assert.deepEqual(await (await order({ "idempotency-key": "7" })).json(), { from: "new", number: 1, item: "flour" });
});

test("more than a partner may is told so", options, async (t) => {
    const { ask } = await gateway(t);
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => ask("/orders")))).map((reply) => reply.status);
    assert.ok(statuses.includes(429) && statuses.filter((status) => status === 200).length >= 5, `${statuses}`);
    assert.ok(statuses.every((status) => status === 200 || status === 429), `${statuses}`);
});

test("what a server fails at is asked again, and a server that dies is not missed", options, async (t) => {
    const { ask, one } = await gateway(t);
    for (let turn = 0; turn < 6; turn++) {
        const reply = await ask("/orders/stock");
        assert.deepEqual([reply.status, await reply.json()], [200, { flour: 12 }]);
        await pause(25);
    }
    one.child.kill("SIGKILL");
    const end = Date.now() + WELL_MS_MAX;
    let inARow = 0;
    while (inARow < 8 && Date.now() < end) {
        const reply = await ask("/orders");
        assert.equal(reply.status, 200);
        inARow = (await reply.json()).from === "two" ? inARow + 1 : 0;
        await pause(25);
    }
    assert.equal(inARow, 8);
});
