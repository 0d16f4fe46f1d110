const { AsyncLocalStorage, AsyncResource } = require("async_hooks");
const early = Promise.resolve("early");
const als = new AsyncLocalStorage();
const other = new AsyncLocalStorage();
const show = (where) => console.log(where, als.getStore(), other.getStore());
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
show("outside");
const returned = als.run({ id: 1 }, () => {
    show("in run");
    process.nextTick(() => show("tick"));
    queueMicrotask(() => show("microtask"));
    setTimeout(() => show("timer"), 60);
    setImmediate(() => show("immediate"));
    Promise.resolve().then(() => show("then")).finally(() => show("finally"));
    early.then(() => show("then of an early promise"));
    Promise.reject(new Error("x")).catch(() => show("catch"));
    other.run("inner", () => setTimeout(() => show("both"), 70));
    als.exit(() => show("exit"));
    show("after inner");
    return "value";
});
console.log(returned);
show("outside again");
async function work(id) {
    await als.run(id, async () => {
        show(`start ${id}`);
        await null;
        show(`after null ${id}`);
        await sleep(1);
        show(`after sleep ${id}`);
        await { then: (resolve) => setTimeout(resolve, 1) };
        show(`after a thenable ${id}`);
        await Promise.all([sleep(1), 5, early]);
        show(`after all ${id}`);
        try {
            await Promise.reject(new Error("no"));
        } catch {
            show(`caught ${id}`);
        }
        for await (const value of [1, 2]) show(`loop ${value} ${id}`);
        await (async () => {
            await null;
            show(`nested ${id}`);
        })();
        await new Promise((resolve) => setImmediate(() => resolve(process.nextTick(() => show(`deep ${id}`)))));
        show(`end ${id}`);
    });
    show(`out of run ${id}`);
}
let resource;
let bound;
als.run("resource", () => {
    resource = new AsyncResource("MINE");
    bound = AsyncResource.bind(function (a, b) {
        show(`bound ${this.x} ${a} ${b}`);
    });
});
const snapshot = als.run("snapshot", () => AsyncLocalStorage.snapshot());
setTimeout(async () => {
    await work("a");
    console.log("--");
    resource.runInAsyncScope((a) => show(`resource ${a}`), null, 1);
    bound.call({ x: 1 }, 2, 3);
    snapshot((text) => show(text), "snapshot");
    show("after");
    als.enterWith("entered");
    show("entered");
    await null;
    show("still entered");
    setTimeout(() => show("in the timer"), 1);
}, 150);
setTimeout(() => show("not entered"), 600);
