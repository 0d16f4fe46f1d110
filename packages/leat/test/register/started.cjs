// Started with a flag that names leat/register, by register.test.mjs: prints for itself, a worker and a forked process
// whether their servers are Leat's.
const { fork } = require("node:child_process");
const { once } = require("node:events");
const http = require("node:http");
const { isMainThread, parentPort, Worker } = require("node:worker_threads");

const mapped = http.Server === require("leat/http").Server;

async function main() {
    const [worker] = await once(new Worker(__filename), "message");
    const [forked] = await once(fork(__filename), "message");
    console.log(JSON.stringify({ parent: mapped, worker, forked }));
}

if (!isMainThread) parentPort.postMessage(mapped);
else if (process.send) process.send(mapped);
else main();
