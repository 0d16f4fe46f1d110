// A cluster led by messages of cluster.test.mjs: `fork` a worker, `tell` one to do something, `disconnect`, `kill`.
// What happens comes back as messages; workers are named by their id.
import cluster from "node:cluster";
import { http } from "../subject.mjs";

function lead() {
    const report = (message) => process.connected && process.send(message);
    // cluster.workers forgets one that is told to disconnect.
    const workers = new Map();
    const acts = {
        fork({ options = {} }) {
            const worker = cluster.fork({ LISTEN: JSON.stringify(options) });
            workers.set(worker.id, worker);
            worker.on("message", (message) => report({ ...message, name: worker.id }));
        },
        tell: ({ name, act }) => workers.get(name).send({ act }),
        disconnect: ({ name }) => workers.get(name).disconnect(),
        kill: ({ name, signal }) => workers.get(name).process.kill(signal),
        leave() {
            process.disconnect();
            cluster.disconnect();
        },
    };
    cluster.on("listening", ({ id }, address) => report({ is: "cluster listening", name: id, port: address.port, address: address.address, addressType: address.addressType }));
    cluster.on("disconnect", ({ id }) => report({ is: "disconnect", name: id }));
    cluster.on("exit", ({ id, exitedAfterDisconnect }, code, signal) => report({ is: "exit", name: id, code, signal, voluntary: exitedAfterDisconnect }));
    process.on("message", (message) => acts[message.do](message));
    report({ is: "ready" });
}

function work() {
    const report = (message) => process.connected && process.send(message);
    const pending = [];
    const server = http.createServer((req, res) => {
        res.setHeader("x-thread", cluster.worker.id);
        if (req.url === "/slow") return report({ is: "pending", count: pending.push(res) });
        if (req.url === "/exit") return process.exit(5);
        return res.end(req.url.slice(1));
    });
    server.on("error", ({ code, syscall, message }) => report({ is: "failed", code, syscall, message }));
    server.on("close", () => report({ is: "closed" }));
    server.listen({ host: "127.0.0.1", port: 0, ...JSON.parse(process.env.LISTEN) }, () => report({ is: "listening", ...server.address() }));
    const acts = {
        close: () => server.close(),
        answer: () => pending.splice(0).forEach((res) => res.end("late")),
    };
    process.on("message", ({ act }) => acts[act]());
}

if (cluster.isPrimary) lead();
else work();
