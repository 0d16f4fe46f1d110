// node:worker_threads as the main thread sees it. There are no other threads of JavaScript: `--workers` gives each core a world.
import { missing } from "../leat/coded";

const refused = (name: string): (new () => never) =>
    class {
        constructor() {
            throw missing(`worker_threads.${name}`);
        }
    } as unknown as new () => never;

const global = globalThis as unknown as Record<string, unknown>;

module.exports = {
    isMainThread: true,
    parentPort: null,
    resourceLimits: {},
    threadId: 0,
    workerData: null,
    SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"),
    Worker: refused("Worker"),
    BroadcastChannel: refused("BroadcastChannel"),
    get MessageChannel() {
        return global["MessageChannel"] ?? refused("MessageChannel");
    },
    get MessagePort() {
        return global["MessagePort"] ?? refused("MessagePort");
    },
    getEnvironmentData: () => undefined,
    setEnvironmentData() {
        throw missing("worker_threads.setEnvironmentData");
    },
    markAsUntransferable() {},
    moveMessagePortToContext() {
        throw missing("worker_threads.moveMessagePortToContext");
    },
    receiveMessageOnPort() {
        throw missing("worker_threads.receiveMessageOnPort");
    },
};
