// A program as a user starts it, with the project as its working directory. It prints a line of JSON when it listens.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { folder, major } from "./subjects.mjs";

const START_MS = 12_000;
const END_MS = 4_000;

/** How a program is started for a subject's `kind`; one that imports leat/express gets its name in LEAT_EXPRESS. */
const WAYS = {
    reference: { args: [], env: {}, leat: { server: false, express: false } },
    import: { args: [], env: { LEAT_EXPRESS: major === 5 ? "leat/express" : "leat/express4" }, leat: { express: true } },
    register: { args: ["--import", "leat/register"], env: {}, leat: { server: true, express: true } },
};

/** Starts apps/`name` and gives a `Peer` for it; the child ends with the test, by SIGTERM, with exit code 0. */
export async function startProgram(name, kind, { peer, after }, options) {
    const { args, env, leat } = WAYS[kind];
    const path = fileURLToPath(new URL(`./apps/${name}`, import.meta.url));
    const child = spawn(process.execPath, [...args, path], { cwd: folder, env: { ...process.env, NODE_ENV: "test", ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const told = [];
    child.stderr.setEncoding("utf8").on("data", (text) => told.push(text));
    const exited = once(child, "exit");
    after(async () => {
        child.kill("SIGTERM");
        const overdue = setTimeout(() => child.kill("SIGKILL"), END_MS);
        const [code, signal] = await exited;
        clearTimeout(overdue);
        assert.deepEqual({ code, signal }, { code: 0, signal: null }, `${name} did not end in order: ${told.join("")}`);
    });
    const overdue = setTimeout(() => child.kill("SIGKILL"), START_MS);
    const line = await firstLine(child.stdout);
    clearTimeout(overdue);
    assert.ok(line, `${name} ended before it listened: ${told.join("")}`);
    const announced = JSON.parse(line);
    for (const what of Object.keys(leat)) assert.equal(announced.leat[what], leat[what], `whose ${what} the program got`);
    return peer(announced.port, options);
}

async function firstLine(stream) {
    for await (const line of createInterface({ input: stream })) {
        if (line.startsWith("{")) {
            stream.resume();
            return line;
        }
    }
}
