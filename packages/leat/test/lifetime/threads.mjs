// A process whose threads serve, led by messages of threads.test.mjs: `spawn` a thread that listens, `listen` on the main
// thread, `tell` a thread to do something, `terminate` it. What happens comes back as messages.
import { isMainThread, parentPort, threadId, Worker, workerData } from "node:worker_threads";
import { createRequire } from "node:module";
import { http } from "../subject.mjs";

/** A thread that answered so many requests says so, once. */
const BUSY = 300;
const LONG_BYTES = 8 * 1024 * 1024;
const require = createRequire(import.meta.url);

/** Listens and reports `listening` with the port, or `failed` with the error. Every reply names its thread. */
function serve(name, { module, ...options }, report) {
    const pending = [];
    let count = 0;
    const server = (module === undefined ? http : require(module)).createServer((req, res) => {
        res.setHeader("x-thread", name);
        count += 1;
        if (count === BUSY) report({ is: "busy", name });
        if (req.url === "/slow") return report({ is: "pending", name, count: pending.push(res) });
        if (req.url.startsWith("/long/")) return res.end(Buffer.alloc(LONG_BYTES, req.url.slice(6)));
        if (req.url === "/throw") throw new Error(`thrown in ${name}`);
        if (req.url === "/exit") return process.exit(5);
        return res.end(req.url.slice(1));
    });
    server.on("error", ({ code, syscall, message }) => report({ is: "failed", name, code, syscall, message }));
    server.on("close", () => report({ is: "closed", name }));
    server.listen({ host: "127.0.0.1", port: 0, ...options }, () => report({ is: "listening", name, port: server.address().port }));
    return {
        close: () => server.close(),
        unref: () => server.unref(),
        answer: () => pending.splice(0).forEach((res) => res.end("late")),
        exit: () => process.exit(6),
        throw: () => setImmediate(() => { throw new Error(`thrown in ${name}`); }),
        block(ms) {
            report({ is: "blocking", name });
            const until = performance.now() + ms;
            while (performance.now() < until);
        },
    };
}

function lead() {
    const threads = new Map();
    const report = (message) => process.connected && process.send(message);
    const acts = {
        listen: ({ name, options }) => threads.set(name, { postMessage: (() => {
            const server = serve(name, options, report);
            return ({ act, value }) => server[act](value);
        })() }),
        spawn({ name, options }) {
            const thread = new Worker(new URL(import.meta.url), { workerData: { name, options } });
            threads.set(name, thread);
            thread.on("message", report);
            thread.on("error", (error) => report({ is: "error", name, message: error.message, stack: error.stack }));
            thread.on("exit", (code) => report({ is: "exit", name, code }));
        },
        tell: ({ name, act, value }) => threads.get(name).postMessage({ act, value }),
        terminate: ({ name }) => threads.get(name).terminate(),
        leave: () => process.disconnect(),
    };
    process.on("message", (message) => acts[message.do](message));
    report({ is: "ready" });
}

if (isMainThread) lead();
else {
    const server = serve(workerData.name, workerData.options, (message) => parentPort.postMessage({ ...message, threadId }));
    // Only `listen` and connections keep this thread, so that it ends when a process would.
    parentPort.on("message", ({ act, value }) => server[act](value));
    parentPort.unref();
}
