// Plays cases against programs that live in another process (subject.mjs): the clients and the scripts are here.
import { spawn } from "node:child_process";
import net from "node:net";
import { fileURLToPath } from "node:url";
import { leat } from "../../../../crates/host/embedded/test/binary.mjs";
import { scripted } from "./play.mjs";
import * as words from "./script.mjs";
import { Session } from "./session.mjs";
import { table } from "./table.mjs";
import { MARK } from "./told.mjs";

const SUBJECT = fileURLToPath(new URL("subject.mjs", import.meta.url));
const HOST_MS = 90_000;
const STDERR_MAX = 64 * 1024;

/** What starts a subject's process, by the name of the subject: `led` is node:http, `embedded` is `leat run`. */
const PROGRAMS = { led: [process.execPath, SUBJECT, "node"], embedded: [leat, "run", SUBJECT, "embedded"] };

export const isLed = (target) => Object.hasOwn(PROGRAMS, target);

/** As `host` of run.mjs: plays up to `width` of `share` at once; gives how the process `died`, or null, and what was `under` way then. */
export async function led(share, { width, guarded }, target, certificate, results) {
    const subject = new Subject(target, certificate, guarded);
    const under = new Set();
    const queue = [...share];
    const worker = async () => {
        for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
            under.add(name);
            const result = await Promise.race([play(subject, name), subject.over]);
            if (result === undefined) return;
            results.set(name, result);
            under.delete(name);
        }
    };
    await Promise.race([subject.ready, subject.over]);
    await Promise.all(Array.from({ length: width }, worker));
    return { died: await subject.stop(under.size === 0 && share.every((name) => results.has(name))), under: [...under] };
}

async function play(subject, name) {
    const entry = table.get(name);
    const session = new Session(() => subject.answered(name, "rest"));
    const began = new Promise((resolve) => {
        const heard = {
            log: ({ log }) => session.record.take(log),
            when: ({ when }) => session.keep(when, () => subject.answered(name, "go", { action: when })),
            play: async ({ play: { where, steps }, id }) => {
                await session.play(where, entry, steps.map(({ bytes, word }) => bytes ?? words[word]));
                subject.order({ order: "met", name, id });
            },
            quiet: async ({ id }) => {
                await session.quiet();
                subject.order({ order: "met", name, id });
            },
            began: resolve,
            threw: resolve,
        };
        subject.hear(name, heard);
    });
    subject.order({ order: "begin", name });
    const { threw, where } = await began;
    try {
        if (!threw) await scripted(session, entry, where);
    } catch (error) {
        session.record.add("the case threw", error);
    }
    const result = session.result(entry);
    session.close();
    subject.deaf(name);
    subject.order({ order: "end", name });
    return result;
}

/** A subject's process. */
class Subject {
    /** Resolves to undefined once the process is gone. */
    over;
    /** Resolves once it takes orders. */
    ready;
    #child;
    #socket;
    #stderr = "";
    #heard = new Map();
    #waiting = new Map();
    #ids = 0;
    #code;

    constructor(target, { cert, key }, guarded) {
        const [program, ...args] = PROGRAMS[target];
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
        this.#child = spawn(program, [...args, cert, key, ...(guarded ? ["guarded"] : [])], { stdio: ["ignore", "pipe", "pipe"], env });
        const limit = setTimeout(() => this.#child.kill("SIGKILL"), HOST_MS);
        this.#child.stderr.on("data", (bytes) => void (this.#stderr = (this.#stderr + bytes).slice(-STDERR_MAX)));
        this.ready = new Promise((resolve) => this.#listen((message) => {
            if (message.control === undefined) this.#told(message);
            else this.#connect(message.control, resolve);
        }));
        this.over = new Promise((resolve) => void this.#child.on("close", (code, signal) => {
            clearTimeout(limit);
            this.#code = signal ?? code;
            resolve(undefined);
        }));
    }

    /** `heard` has a function for each kind of message about the case `name`. */
    hear(name, heard) {
        this.#heard.set(name, heard);
    }

    deaf(name) {
        this.#heard.delete(name);
    }

    /** Nobody waits for the reply; what comes of an order is told. */
    order(what) {
        const body = JSON.stringify(what);
        this.#socket?.write(`POST / HTTP/1.1\r\nHost: subject\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    }

    /** Resolves once the subject says that it is done. */
    answered(name, order, more = {}) {
        const id = (this.#ids += 1);
        return new Promise((resolve) => {
            this.#waiting.set(id, resolve);
            this.order({ order, name, id, ...more });
        });
    }

    /** Ends the process; gives how it ended by itself, or null if that was not before. */
    async stop(done) {
        this.#socket?.destroy();
        if (done) this.#child.kill("SIGKILL");
        await this.over;
        return done ? null : `${this.#code}; ${lastWords(this.#stderr)}`;
    }

    #listen(take) {
        let rest = "";
        this.#child.stdout.setEncoding("utf8");
        this.#child.stdout.on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            for (const line of lines) if (line.startsWith(MARK)) take(JSON.parse(line.slice(MARK.length)));
        });
    }

    #connect(port, connected) {
        this.#socket = net.connect({ host: "127.0.0.1", port, noDelay: true }, connected);
        this.#socket.resume();
        // The end of the process says it all.
        this.#socket.on("error", () => {});
    }

    #told({ name, ...message }) {
        if (message.met !== undefined) {
            this.#waiting.get(message.met)?.();
            this.#waiting.delete(message.met);
            return;
        }
        const heard = this.#heard.get(name);
        for (const kind of Object.keys(message)) heard?.[kind]?.(message);
    }
}

/** The line of a stack trace that names the error. */
export function lastWords(stderr) {
    return stderr.split("\n").find((line) => /^(Uncaught )?\w*(Error|\[\w+\])[^\n]*: /.test(line)) ?? stderr.trim().split("\n").at(-1);
}
