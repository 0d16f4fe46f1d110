// Runs one stage of `make test` as a child process: its output goes through unchanged and is counted on the way.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { close, count, tally } from "./counts.mjs";

/**
 * Runs `stage.command` with no stdin in a process group of its own, which ends with it or after `stage.minutes`.
 * Resolves to the tally with `name` and `seconds`; never rejects.
 */
export async function run(stage, { cwd, env }) {
    console.log(`\n== ${stage.name}: ${stage.command.join(" ")}`);
    const start = performance.now();
    const into = tally();
    const [program, ...args] = stage.command;
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const stop = () => endGroup(child.pid);
    const timer = setTimeout(() => {
        console.error(`${stage.name}: not done after ${stage.minutes} minutes, stopped`);
        stop();
    }, stage.minutes * 60_000);
    process.once("exit", stop);

    const ended = new Promise((resolve) => {
        child.once("error", (error) => {
            console.error(`${stage.name}: ${program} cannot be started: ${error.message}`);
            resolve(127);
        });
        child.once("exit", (code) => {
            // Whatever the stage left behind would keep the pipes open.
            stop();
            resolve(code ?? 1);
        });
    });
    const [code] = await Promise.all([ended, ...[[child.stdout, process.stdout], [child.stderr, process.stderr]].map(([from, to]) => copy(from, to, into))]);
    clearTimeout(timer);
    process.off("exit", stop);
    return { name: stage.name, seconds: (performance.now() - start) / 1000, ...close(into, code, stage.setup) };
}

async function copy(from, to, into) {
    for await (const line of createInterface({ input: from, crlfDelay: Infinity })) {
        count(into, line);
        to.write(`${line}\n`);
    }
}

function endGroup(pid) {
    try {
        if (pid) process.kill(-pid, "SIGKILL");
    } catch {
        // It is gone already.
    }
}
