// Programs with calls under way, each run in a process of its own: `node programs.mjs NAME PORT`. They print what happens.
import { Worker } from "node:worker_threads";
import { leat, Transport } from "leat/transport";

const [, , name, port] = process.argv;
const say = (...words) => console.log(words.join(" "));
const transport = () => new Transport({ nodes: `http://127.0.0.1:${port}`, connection: leat(), timeoutMs: Infinity });
const told = ({ code }) => say("failed", code);

/** Calls that are never answered, that are answered for ever, and whose bodies never end. */
async function* endless() {
    for (;;) yield Buffer.alloc(100_000);
}
function busy(on) {
    on.request({ path: "/silent" }).catch(told);
    on.request({ path: "/endless", as: "bytes" }).catch(told);
    on.request({ path: "/endless", as: "stream" }).then(({ body }) => body.on("data", () => undefined), told);
    on.request({ path: "/silent", method: "POST", body: endless() }).catch(told);
}

const programs = {
    "makes none"() {
        transport();
    },

    async "has made some"() {
        const { status } = await transport().request({ path: "/" });
        say("status", status);
    },

    async "waits for one"() {
        transport().request({ path: "/late" }).then(({ status }) => say("status", status));
    },

    async exits() {
        const on = transport();
        busy(on);
        await on.request({ path: "/" });
        process.exit(3);
    },

    async closes() {
        const on = transport();
        busy(on);
        await on.request({ path: "/" });
        await on.close();
        say("closed");
    },

    async "ends a thread"() {
        for (let round = 0; round < 5; round++) {
            const worker = new Worker(new URL(import.meta.url), { argv: ["is a thread", port] });
            await new Promise((resolve) => worker.once("message", resolve));
            await worker.terminate();
        }
        const { status } = await transport().request({ path: "/" });
        say("status", status);
    },

    async "is a thread"() {
        const { parentPort } = await import("node:worker_threads");
        const on = transport();
        busy(on);
        await on.request({ path: "/" });
        parentPort.postMessage("busy");
    },

    async "throws in a stream"() {
        process.on("uncaughtException", (error) => say("uncaught", error.message));
        const on = transport();
        const { body } = await on.request({ path: "/", as: "stream" });
        body.on("data", () => {
            throw new Error("mine");
        });
        await new Promise((resolve) => setTimeout(resolve, 50));
        say("status", (await on.request({ path: "/" })).status);
    },
};

await programs[name]();
