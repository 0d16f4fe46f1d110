// An app as a user starts it: `node app.mjs`, or `node --import leat/register app.mjs`. It prints its port when it listens.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { folder } from "./targets.mjs";

const START_MS = 10_000;
const END_MS = 4_000;

/** Starts `path` below this folder and gives a `Peer` for it; the child ends with the test, by SIGTERM, with exit code 0. */
export async function startApp({ server: expected, args }, path, { peer, after }) {
    const child = spawn(process.execPath, [...args, join(folder, path)], { cwd: folder, env: { ...process.env, NODE_ENV: "production" }, stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    after(async () => {
        child.kill("SIGTERM");
        const overdue = setTimeout(() => child.kill("SIGKILL"), END_MS);
        const [code, signal] = await exited;
        clearTimeout(overdue);
        assert.deepEqual({ code, signal }, { code: 0, signal: null }, `${path} did not end in order`);
    });
    const overdue = setTimeout(() => child.kill("SIGKILL"), START_MS);
    const line = await firstLine(child.stdout);
    clearTimeout(overdue);
    assert.ok(line, `${path} ended before it listened`);
    const { port, server } = JSON.parse(line);
    assert.equal(server, expected, "whose server the app got");
    return peer(port);
}

async function firstLine(stream) {
    for await (const line of createInterface({ input: stream })) {
        if (line.startsWith("{")) {
            stream.resume();
            return line;
        }
    }
}
