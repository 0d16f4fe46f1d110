// The server of handlers.test.mjs, in a process of its own: /N runs handler N, and what it noted comes as a message when
// its exchange is over. /idle says whether anything is still open.
import { setImmediate as turn } from "node:timers/promises";
import { http, openInEngine } from "../subject.mjs";
import { cases } from "./handlers.mjs";
import { worded } from "./tried.mjs";

// Notes may come a few turns after the reply's 'close'.
const TURNS_AFTER_CLOSE = 3;
const SEEN_MAX = 100;

process.on("uncaughtException", (error) => process.send({ is: "uncaught", error: worded(error) }));
process.on("unhandledRejection", (error) => process.send({ is: "unhandled", error: worded(error) }));

function run(number, req, res) {
    const seen = [];
    // First of all listeners, yet it reports after all of them.
    res.once("close", async () => {
        for (let i = 0; i < TURNS_AFTER_CLOSE; i += 1) await turn();
        process.send({ is: "seen", number, seen });
    });
    process.send({ is: "begun", number });
    return cases[number].handle(req, res, (line) => seen.length < SEEN_MAX && seen.push(line));
}

const server = http.createServer((req, res) => run(Number(req.headers["x-case"] ?? req.url.slice(1)), req, res));
process.on("message", () => server.getConnections((error, count) => process.send({ is: "open", count, engine: openInEngine() })));
server.listen(0, "127.0.0.1", () => process.send({ is: "port", port: server.address().port }));
