// Starts an example as its users do, and asks it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
/** Where `leat` is found without an installation. */
const packages = fileURLToPath(new URL("../../../packages", import.meta.url));
const START_MS_MAX = 20_000;
const STOP_MS_MAX = 5_000;

/**
 * The example in `folder` (this one) on a free port until the test `t` ends: `base`, its `child`, and all that it `said`. Packages are
 * also found in the folders of `more`.
 */
export async function started(t, folder = here, more = []) {
    const child = spawn(process.execPath, ["server.js"], { cwd: folder, env: { ...process.env, NODE_PATH: [packages, ...more].join(delimiter), PORT: "0" }, stdio: ["ignore", "pipe", "pipe"] });
    t.after(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        // It removes its files, if it is given the time.
        const over = once(child, "exit");
        child.kill("SIGTERM");
        const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
        await over;
        clearTimeout(timer);
    });
    const said = [];
    createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
    const lines = createInterface({ input: child.stdout });
    const signal = AbortSignal.timeout(START_MS_MAX);
    const ended = once(child, "exit", { signal }).then(() => Promise.reject(new Error(`ended before it listened:\n${said.join("\n")}`)));
    const [line] = await Promise.race([once(lines, "line", { signal }), ended]);
    ended.catch(() => {});
    const [base] = /http:\S+/.exec(line);
    return { base, child, said };
}

/** Reads server-sent events: `next()` is the next block of lines, `stop()` ends it. */
export async function events(url) {
    const control = new AbortController();
    const response = await fetch(url, { signal: control.signal });
    const parts = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = "";
    const next = async () => {
        while (!text.includes("\n\n")) {
            const { value, done } = await parts.next();
            if (done) return undefined;
            text += value;
        }
        const end = text.indexOf("\n\n");
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
    };
    return { response, next, stop: () => control.abort() };
}
