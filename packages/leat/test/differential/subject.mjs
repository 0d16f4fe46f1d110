// A process that has the programs of cases and no client: `subject.mjs TARGET CERT KEY [guarded]`. It is led by led.mjs: orders
// come as HTTP requests, one JSON object each, and what there is to tell goes to stdout, one JSON object a line behind a mark.
// Whoever runs JavaScript and has node:http can be a subject.
import http from "node:http";
import { Program } from "./program.mjs";
import { line } from "./record.mjs";
import { rested } from "./rest.mjs";
import * as words from "./script.mjs";
import { MARK, entryOf } from "./told.mjs";
import { target } from "./targets.mjs";

const [, , name, cert, key, guarded] = process.argv;
const UNLED_MS = 30_000;
// Taken before a case may change it.
const { createServer } = http;
const chosen = await target(name, { cert, key });
const tell = (message) => console.log(`${MARK}${JSON.stringify(message)}`);

/** The cases that run, by name. */
const running = new Map();

class Running {
    #name;
    #program;
    #actions = new Map();
    #met = new Map();

    constructor(name) {
        this.#name = name;
    }

    log = (...values) => this.#tell({ log: line(...values) });

    async begin() {
        let where;
        try {
            this.#program = new Program(await entryOf(this.#name), chosen, {
                log: this.log,
                when: (action, act) => {
                    this.#actions.set(action, act);
                    this.#tell({ when: action });
                },
                play: (where, steps) => this.#asked({ play: { where, steps: steps.map(wordOf) } }),
                quiet: () => this.#asked({ quiet: true }),
            });
            where = await this.#program.start();
        } catch (error) {
            this.log("the case threw", error);
            this.#tell({ threw: true });
            return;
        }
        this.#tell({ began: true, where });
    }

    async go({ action, id }) {
        try {
            await this.#actions.get(action)();
        } catch (error) {
            this.log(`${action} threw`, error);
        }
        this.#tell({ met: id });
    }

    async rest({ id }) {
        await rested();
        this.#tell({ met: id });
    }

    met({ id }) {
        this.#met.get(id)();
    }

    end() {
        this.#program?.close();
        running.delete(this.#name);
    }

    #tell(message) {
        tell({ name: this.#name, ...message });
    }

    #asked(what) {
        const id = this.#met.size;
        return new Promise((resolve) => {
            this.#met.set(id, resolve);
            this.#tell({ ...what, id });
        });
    }
}

/** Bytes as they are, a word of script.mjs by its name. */
function wordOf(step) {
    if (typeof step === "string") return { bytes: step };
    const found = Object.entries(words).find(([, word]) => word === step);
    if (found === undefined) throw new Error("a program plays bytes and words that take no argument");
    return { word: found[0] };
}

if (guarded === "guarded") process.on("uncaughtException", (error, origin) => running.values().next().value?.log(`uncaught (${origin})`, error));

const control = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk) => void (body += chunk));
    req.on("end", () => {
        const { order, name: of, ...rest } = JSON.parse(body);
        if (order === "begin") running.set(of, new Running(of));
        void running.get(of)?.[order](rest);
        res.setHeader("Content-Length", 0);
        res.end();
    });
});
// A case may wait in vain for longer than that.
control.keepAliveTimeout = UNLED_MS;
// Cases replace that of all servers.
Object.defineProperty(control, "emit", { value: control.emit });
// Who leads this process has one connection; without it there is nobody to end it.
let led = false;
control.on("connection", (socket) => {
    led = true;
    socket.on("close", () => process.exit(0));
});
setTimeout(() => led || process.exit(1), UNLED_MS).unref();
control.listen(0, "127.0.0.1", () => tell({ control: control.address().port }));
