// The order in which ticks, microtasks, timers and immediates run.
const log = (text) => console.log(text);
setTimeout(() => {
    log("timeout 1");
    process.nextTick(() => log("tick of timeout 1"));
    Promise.resolve().then(() => log("microtask of timeout 1"));
}, 1);
setTimeout(() => log("timeout 2"), 1);
setTimeout((...args) => log(`timeout with ${args}`), 1, "a", 2);
process.nextTick((a, b) => {
    log(`tick 1 ${a} ${b}`);
    process.nextTick(() => log("tick of tick 1"));
    Promise.resolve().then(() => {
        log("microtask of tick 1");
        process.nextTick(() => log("tick of a microtask"));
        queueMicrotask(() => log("queued in a microtask"));
    });
}, "x", 1);
queueMicrotask(() => log("queueMicrotask"));
Promise.resolve().then(() => log("microtask 1")).then(() => log("microtask 2"));
process.nextTick(() => log("tick 2"));
(async () => {
    log("async starts");
    await null;
    log("async after null");
    await new Promise((resolve) => process.nextTick(resolve));
    log("async after a tick");
})();
log("main");
setTimeout(() => {
    setImmediate(() => {
        log("immediate 1");
        process.nextTick(() => log("tick of immediate 1"));
        setImmediate(() => log("immediate of immediate"));
    });
    setImmediate(() => log("immediate 2"));
    const cleared = setImmediate(() => log("never"));
    clearImmediate(cleared);
}, 5);
setTimeout(() => log("never"), 30).close();
setTimeout(() => log("unref'd, never"), 100000).unref();
const a = setTimeout(() => log("by number"), 60);
const b = setTimeout(() => log("never"), 60);
clearTimeout(+b);
clearTimeout(String(12345678));
clearTimeout(undefined);
clearTimeout(null);
log(typeof +a + a.hasRef() + a.unref().hasRef() + a.ref().hasRef());
setTimeout(() => log("one"), 2 ** 31);
setTimeout(() => log("negative"), -5);
setTimeout(() => log("text"), "1");
for (const wrong of [undefined, null, "x", 5, {}]) {
    for (const set of [setTimeout, setInterval, setImmediate, process.nextTick, queueMicrotask]) {
        try {
            set(wrong);
            log("nothing");
        } catch (error) {
            log(`${error.name} ${error.code} ${error.message}`);
        }
    }
}
let times = 0;
const interval = setInterval(() => {
    log(`interval ${++times}`);
    if (times < 3) return;
    clearInterval(interval);
    const refreshed = setTimeout(() => {
        log(`refreshed ${times++}`);
        if (times < 6) refreshed.refresh();
    }, 5);
}, 150);
