// One case's program while it runs: its app, its server and its log.
import { Record } from "../../differential/record.mjs";
import { masked } from "./masks.mjs";

/** Not 127.0.0.1: what other programs on the machine send to ports that were theirs a moment ago would be in the way. */
const HOST = "127.0.0.2";
const WAIT_MS = Number(process.env.LEAT_CASE_WAIT_MS ?? 8000);
const CLOSE_MS = 4000;

/** Told once a process, so that it belongs to whichever case came first. */
const ONCE = /^\(node\) (?:\[DEP\d+\]|ExperimentalWarning)|^\(Use `node --trace-/;

export class Program {
    #entry;
    #byNode;
    #ctx;
    #record = new Record(() => this.#touched());
    #touched = () => {};
    #server;
    #env;

    constructor(entry, { express, version, dir, require, byNode }) {
        this.#entry = entry;
        this.#byNode = byNode;
        this.#ctx = { express, version, dir, require, HOST, log: (...values) => this.log(...values) };
    }

    log(...values) {
        this.#record.add(...values.map((value) => (typeof value === "string" ? masked(value) : value)));
    }

    /** What was written to stderr. */
    printed(text) {
        for (const line of masked(text).split("\n")) if (line !== "" && !ONCE.test(line)) this.#record.add("stderr:", line);
    }

    /** Builds the app and listens; null if there is nothing to connect to. */
    async start() {
        const { app, listen = this.#byNode ? byNode : plainly, env } = this.#entry;
        this.#env = process.env.NODE_ENV;
        if (env === undefined) delete process.env.NODE_ENV;
        else process.env.NODE_ENV = env;
        try {
            const built = await app(this.#ctx.express, this.#ctx);
            if (built == null) return null;
            this.#server = await listen(built, this.#ctx);
            if (this.#server == null) return null;
            if (!this.#server.listening) await new Promise((resolve, reject) => void this.#server.once("listening", resolve).once("error", reject));
        } catch (error) {
            this.log("threw", error);
            return null;
        }
        const address = this.#server.address();
        return typeof address === "string" ? { path: address } : { port: address.port, host: /^(::|0\.0\.0\.0)$/.test(address.address) ? "127.0.0.1" : address.address };
    }

    /** Whether the log comes to hold `text` in time. */
    async until(text) {
        if (this.#record.count(text) > 0) return true;
        return new Promise((resolve) => {
            const timer = setTimeout(() => resolve(false), WAIT_MS);
            this.#touched = () => {
                if (this.#record.count(text) === 0) return;
                clearTimeout(timer);
                resolve(true);
            };
        });
    }

    /** Waits for all that is certain to come, takes the program down and gives its log. */
    async end() {
        const { ends } = this.#entry;
        if (ends !== undefined && !(await this.until(ends))) this.log(`waited in vain for ${JSON.stringify(ends)}`);
        // Closed means that every connection is over, and with it every event of its messages.
        if (this.#server?.listening) await closed(this.#server).catch((error) => this.log(error.message));
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
        this.#record.seal();
        if (this.#env === undefined) delete process.env.NODE_ENV;
        else process.env.NODE_ENV = this.#env;
        return this.#record.lines;
    }
}

/** As people do it; a Router by itself, or a function, has no listen(). */
async function plainly(app) {
    return typeof app.listen === "function" ? app.listen(0, HOST) : byNode(app);
}

async function byNode(app) {
    const { createServer } = await import("node:http");
    return createServer(app).listen(0, HOST);
}

function closed(server) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
            server.closeAllConnections?.();
            reject(new Error("the server does not close: a connection is left"));
        }, CLOSE_MS);
        server.close(() => {
            clearTimeout(timer);
            resolve();
        });
    });
}
