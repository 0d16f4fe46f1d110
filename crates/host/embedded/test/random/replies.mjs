// Random calls on replies against `leat run` (replies.cjs): the process lives through all of them, and answers plainly between them.
// As a program it goes on for --seconds, with --memcheck under valgrind, which finds reads and writes of memory that is not there.
// usage: node replies.mjs [--seconds N] [--seed N] [--memcheck]
import { spawn, spawnSync } from "node:child_process";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { leat } from "../binary.mjs";

const APP = fileURLToPath(new URL("replies.cjs", import.meta.url));
const AT_ONCE = 64;
const STEPS_MAX = 6;
/** A reply that a broken note keeps back is not waited for. */
const REPLY_MS_MAX = 250;
const START_MS_MAX = 120_000;
const MEMCHECK_CODE = 99;

/** Numbers below `max` that are the same for a seed. */
function numbers(seed) {
    let state = seed >>> 0;
    return (max) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * max);
    };
}

function requestOf(below) {
    const steps = Array.from({ length: 2 * (1 + below(STEPS_MAX)) }, () => below(256).toString(16).padStart(2, "0")).join("");
    const body = ["", '{"a":1}', "[1,2]", "x", "{"][below(5)];
    const method = body === "" ? ["GET", "HEAD", "POST"][below(3)] : "POST";
    const fields = ["", "Connection: close\r\n", 'If-None-Match: "a"\r\n', "Expect: 100-continue\r\n", "Content-Encoding: gzip\r\n"][below(5)];
    return `${method} /do/${steps} HTTP/1.${below(10) === 0 ? 0 : 1}\r\nHost: a\r\n${fields}${body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`}\r\n${body}`;
}

/** What comes back until the connection ends, for so long at most. What a broken note makes of a reply is nobody's promise. */
function exchange(port, text, ms) {
    return new Promise((resolve) => {
        let got = "";
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        const late = setTimeout(() => socket.destroy(), ms);
        socket.setEncoding("latin1").on("data", (part) => void (got += part));
        socket.on("error", () => undefined).on("close", () => (clearTimeout(late), resolve(got)));
        socket.write(text);
    });
}

/** Runs the app until `isOver(requests)`; what went wrong is thrown, with the seed to see it again. */
export async function hammer({ seed, isOver, memcheck = false }) {
    const run = [leat, "run", "--expose-gc", APP];
    const [command, ...args] = memcheck ? ["valgrind", "--quiet", `--error-exitcode=${MEMCHECK_CODE}`, "--exit-on-first-error=yes", ...run] : run;
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    let code;
    const ended = new Promise((resolve) => child.on("close", (status, signal) => resolve((code = signal ?? status))));
    const port = await new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`it does not listen: ${said}`)), START_MS_MAX);
        child.stderr.on("data", (bytes) => (said = `${said}${bytes}`.slice(-20_000)));
        child.stdout.on("data", (bytes) => {
            const found = /listening (\d+)/.exec(String(bytes));
            if (found) resolve(Number(found[1]), clearTimeout(late));
        });
        void ended.then(() => reject(new Error(`it ended: ${said}`)));
    });
    const below = numbers(seed);
    let requests = 0;
    const wrong = (what) => new Error(`${what}, seed ${seed}, within ${AT_ONCE} requests before ${requests}: ${said}`);
    try {
        while (!isOver(requests)) {
            const sent = Array.from({ length: AT_ONCE }, () => requestOf(below));
            requests += sent.length;
            await Promise.all(sent.map((text) => exchange(port, text, memcheck ? REPLY_MS_MAX * 4 : REPLY_MS_MAX)));
            const alive = await exchange(port, "GET /alive HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", START_MS_MAX);
            if (!alive.endsWith('{"alive":true}')) throw wrong(code === undefined ? `it answers ${JSON.stringify(alive)}` : `it ended with ${code}`);
        }
        child.kill("SIGTERM");
        const last = await ended;
        if (last !== 0) throw wrong(`it ended with ${last}`);
        return requests;
    } finally {
        child.kill("SIGKILL");
    }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" }, seed: { type: "string", default: String(Date.now() % 1e9) }, memcheck: { type: "boolean", default: false } } });
    const memcheck = values.memcheck && spawnSync("valgrind", ["--version"]).status === 0;
    if (values.memcheck && !memcheck) console.log("SKIP memcheck: valgrind is missing (apt-get install valgrind)");
    const until = Date.now() + Number(values.seconds) * 1000;
    const requests = await hammer({ seed: Number(values.seed), memcheck, isOver: () => Date.now() >= until });
    console.log(`${requests} requests, seed ${values.seed}${memcheck ? ", memory checked" : ""}`);
}
