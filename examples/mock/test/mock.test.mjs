// The example does what its README says, for clients of two protocols: the files as they are, on free ports.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http2 from "node:http2";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { binary } from "../../../conformance/gateway.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
const options = { timeout: 60_000 };

/** The mock until the test ends: where it answers, and its admin address. */
async function mock(t) {
    const child = spawn(binary, ["mock", "--proto", "protos", "--rules", "rules", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], {
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
    });
    t.after(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const over = once(child, "exit");
        child.kill("SIGKILL");
        await over;
    });
    const found = {};
    for await (const line of createInterface({ input: child.stderr })) {
        const { event, address } = JSON.parse(line);
        if (event === "listening") found.base = `http://${address}`;
        if (event === "admin_listening") found.admin = `http://${address}`;
        if (found.base !== undefined && found.admin !== undefined) return found;
    }
    throw new Error("the mock ended before it listened");
}

/** A unary call by Connect: its status and its message or error. */
async function ask({ base }, method, message, headers = {}) {
    const reply = await fetch(`${base}/shop.v1.Orders/${method}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(message),
    });
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

test("rules answer by what the request says, and its metadata", options, async (t) => {
    const running = await mock(t);
    assert.deepEqual((await ask(running, "Get", { id: "7" })).body, { id: "7", item: "flour", sacks: 3, state: "STATE_SHIPPED" });
    const placed = await ask(running, "Place", { item: "bran", sacks: 2 });
    assert.deepEqual([placed.body.item, placed.body.sacks, placed.headers.get("x-mill")], ["bran", 2, "north"]);
    assert.ok(Math.abs(Date.parse(placed.body.placedAt) - Date.now()) < 60_000, placed.body.placedAt);
    const closed = await ask(running, "Place", { item: "bran", sacks: 2 }, { "x-customer": "ghost" });
    assert.deepEqual([closed.status, closed.body.code], [503, "unavailable"]);
    const none = await ask(running, "Get", { id: "5" });
    assert.deepEqual([none.body.code, none.body.message, none.body.details[0].type], ["not_found", "no order 5", "google.rpc.ErrorInfo"]);
    assert.equal((await ask(running, "Place", { item: "bran", sacks: 500 })).body.code, "invalid_argument");
});

test("an order goes on from call to call", options, async (t) => {
    const running = await mock(t);
    const states = [];
    for (let number = 0; number < 4; number += 1) states.push((await ask(running, "Get", { id: "new-1" })).body.state);
    assert.deepEqual(states, ["STATE_PLACED", "STATE_MILLED", "STATE_SHIPPED", "STATE_SHIPPED"]);
});

test("a stream comes by gRPC over HTTP/2", options, async (t) => {
    const { base } = await mock(t);
    const session = http2.connect(base);
    t.after(() => session.close());
    const call = session.request({ ":method": "POST", ":path": "/shop.v1.Orders/Watch", "content-type": "application/grpc", te: "trailers" });
    // GetRequest { id: "7" } in an envelope.
    call.end(Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x37]));
    const trailers = once(call, "trailers");
    const pieces = [];
    for await (const piece of call) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const states = [];
    for (let at = 0; at < body.length; at += 5 + body.readUInt32BE(at + 1)) {
        const message = body.subarray(at + 5, at + 5 + body.readUInt32BE(at + 1));
        // Order { id: "7", state } : the enum is the last byte.
        states.push(message.at(-1));
    }
    assert.deepEqual(states, [1, 2, 3]);
    assert.equal((await trailers)[0]["grpc-status"], "0");
});

test("a test says what it expects of the calls", options, async (t) => {
    const running = await mock(t);
    await ask(running, "Get", { id: "7" });
    await ask(running, "Get", { id: "x" });
    const verify = async (expected) => {
        const reply = await fetch(`${running.admin}/mock/verify`, { method: "POST", body: JSON.stringify(expected) });
        return { status: reply.status, verdict: await reply.json() };
    };
    assert.equal((await verify({ calls: [{ rule: "flour", count: 1 }], unmatched: 1 })).status, 200);
    const { status, verdict } = await verify({ unmatched: 0 });
    assert.equal(status, 417);
    assert.match(verdict.checks[0].unmatched_calls[0].why, /nearest is/);
});
