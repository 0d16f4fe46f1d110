// Which of the queues comes first: ticks, microtasks, timers, immediates, and what each adds while it runs.
const say = (...words) => console.log(words.join(" "));
const queues = (depth, name) => {
    if (depth === 0) return;
    process.nextTick(() => { say(name, "tick", depth); if (depth === 2) queues(1, `${name}>tick`); });
    Promise.resolve().then(() => { say(name, "then", depth); if (depth === 2) queues(1, `${name}>then`); });
    queueMicrotask(() => say(name, "microtask", depth));
    (async () => { await null; say(name, "await", depth); await null; say(name, "await twice", depth); })();
};
setTimeout(() => { say("timer"); queues(2, "timer"); setImmediate(() => { say("immediate of a timer"); repeat(); }); }, 1);
setTimeout(() => say("timer behind it"), 1);
queues(2, "main");
const thenable = { then(resolve) { say("then of a thenable"); resolve("thenable"); } };
Promise.resolve(thenable).then((value) => say(value));
(async () => { say("returns", await (async () => thenable)()); })();
Promise.race([new Promise((resolve) => setTimeout(resolve, 5, "slow")), Promise.reject(new Error("quick"))]).catch((error) => say("race", error.message));
Promise.allSettled([1, Promise.reject(new Error("no"))]).then((all) => say(all.map(({ status }) => status)));
Promise.any([Promise.reject(new Error("one")), Promise.reject(new Error("two"))]).catch((error) => say(error.name, error.errors.length));
// One begins the next: which of two that are due together comes first depends on the machine.
const repeat = () => { const interval = setInterval(() => { say("interval"); clearInterval(interval); withArguments(); }, 2); };
const withArguments = () => void setTimeout((...values) => { say("arguments", values); immediates(); }, 3, 1, 2);
const immediates = () => {
    setImmediate(() => { say("immediate 1"); process.nextTick(() => say("tick between immediates")); Promise.resolve().then(() => say("then between immediates")); });
    setImmediate(() => say("immediate 2"));
};
const never = setTimeout(() => say("never"), 1);
clearTimeout(never);
const cancelled = setImmediate(() => say("never either"));
clearImmediate(cancelled);
process.on("exit", (code) => { say("exit", code); Promise.resolve().then(() => say("never after exit")); });
process.on("beforeExit", () => say("beforeExit"));
