// Starts a program on `leat run` and waits for what it prints.
import { spawn } from "node:child_process";
import { request } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leat } from "./binary.mjs";

const START_MS_MAX = 15_000;
const running = new Set();

/** A folder with these files, which goes with the test. */
export function folder(test, files) {
    const path = mkdtempSync(join(tmpdir(), "leat-run-"));
    test.after(() => rmSync(path, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    return path;
}

/** A program that runs: `line(pattern)` waits for a line of either output, `ended` is `{ code, signal, stdout, stderr }`. */
export function start(test, cwd, args, env = {}) {
    const child = spawn(leat, ["run", ...args], { cwd, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    const seen = { stdout: "", stderr: "" };
    let waiting = [];
    const look = () => {
        waiting = waiting.filter(({ pattern, resolve }) => {
            const found = pattern.exec(seen.stdout) ?? pattern.exec(seen.stderr);
            if (found) resolve(found);
            return !found;
        });
    };
    for (const name of ["stdout", "stderr"]) {
        child[name].on("data", (bytes) => {
            seen[name] += bytes;
            look();
        });
    }
    const ended = new Promise((resolve) => {
        child.on("close", (code, signal) => {
            running.delete(child);
            for (const { pattern, reject } of waiting) reject(new Error(`it ended with ${signal ?? code} before ${pattern}: ${seen.stdout}${seen.stderr}`));
            resolve({ code, signal, ...seen });
        });
    });
    test.after(async () => {
        child.kill("SIGKILL");
        await ended;
    });
    const line = (pattern) =>
        new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error(`no ${pattern} in: ${seen.stdout}${seen.stderr}`)), START_MS_MAX);
            waiting.push({ pattern, resolve: (found) => (clearTimeout(late), resolve(found)), reject: (error) => (clearTimeout(late), reject(error)) });
            look();
        });
    return { child, seen, line, ended, port: async () => Number((await line(/listening (\d+)/))[1]) };
}

/** Status and text of a reply, on a connection of its own: a lost world closes idle ones. Status 0 and the error's code where there was none. */
export function ask(port, path = "/", { body, ...options } = {}) {
    return new Promise((resolve) => {
        const asked = request({ port, host: "127.0.0.1", path, agent: false, timeout: START_MS_MAX, ...options }, (response) => {
            let text = "";
            response.setEncoding("utf8");
            response.on("data", (part) => void (text += part));
            response.on("end", () => resolve({ status: response.statusCode, text }));
            response.on("error", (error) => resolve({ status: 0, text: error.code }));
        });
        asked.on("timeout", () => asked.destroy());
        asked.on("error", (error) => resolve({ status: 0, text: error.code }));
        asked.end(body);
    });
}

/** The value of a series of the metrics. */
export async function metric(port, series) {
    const { text } = await ask(port, "/metrics");
    const found = text.split("\n").find((line) => line.startsWith(`${series} `));
    return found === undefined ? undefined : Number(found.slice(series.length + 1));
}
