// The server of errors.test.mjs, in a process of its own. Arguments: what listens for failures
// (listener | capture | monitor | none). Paths: /ok/N answers, /throw/N throws, /reject/N rejects, /late/N throws from a
// timer, /emit/N from an event of its own, /odd/N throws what is no Error.
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { http } from "../subject.mjs";
import { hold, Turns } from "./turns.mjs";

const mode = process.argv[2];
const odds = [undefined, null, 0, "text", Symbol("odd"), Object.freeze({ code: "ODD" }), Object.create(null)];
const storage = new AsyncLocalStorage();
const turns = new Turns();
const made = new Map();
const report = { uncaught: [], unhandled: [], odd: [], monitored: 0, strangers: 0 };

function fail(kind, id) {
    const error = new Error(`${kind} ${id}`);
    made.set(error, 0);
    return error;
}

function seen(list, error) {
    if (!(error instanceof Error)) return void report.odd.push(inspect(error));
    if (!made.has(error)) report.strangers += 1;
    made.set(error, (made.get(error) ?? 0) + 1);
    list.push(error.message);
}

if (mode === "listener") process.on("uncaughtException", (error, origin) => {
    if (origin !== "uncaughtException") report.strangers += 1;
    seen(report.uncaught, error);
});
if (mode === "capture") process.setUncaughtExceptionCaptureCallback((error) => seen(report.uncaught, error));
if (mode === "monitor") {
    process.on("uncaughtExceptionMonitor", () => (report.monitored += 1));
    process.on("uncaughtException", (error) => seen(report.uncaught, error));
}
if (mode !== "none") process.on("unhandledRejection", (error, promise) => {
    if (!(promise instanceof Promise)) report.strangers += 1;
    seen(report.unhandled, error);
});

const handlers = {
    ok(req, res, id) {
        setImmediate(() => res.end(id));
    },
    throw(req, res, id) {
        throw fail("throw", id);
    },
    async reject(req, res, id) {
        await null;
        throw fail("reject", id);
    },
    late(req, res, id) {
        setTimeout(() => { throw fail("late", id); }, 1);
    },
    emit(req, res, id) {
        req.on("mine", () => { throw fail("emit", id); });
        req.emit("mine");
    },
    odd(req, res, id) {
        throw odds[id];
    },
};

const server = http.createServer((req, res) => {
    turns.count();
    const [, kind, id] = req.url.split("/");
    if (kind === "report") {
        const once = [...made.values()].every((times) => times === 1);
        return res.end(JSON.stringify({ ...report, once, most: turns.most, shared: turns.shared }));
    }
    if (storage.getStore() !== undefined) report.strangers += 1;
    if (Number(id) % 50 === 0) hold(3);
    return storage.run({ id }, () => handlers[kind](req, res, id));
});
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
