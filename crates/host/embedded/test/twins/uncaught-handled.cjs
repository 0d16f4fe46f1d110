process.on("uncaughtException", (error, origin) => console.log("caught", error instanceof Error ? error.message : String(error), origin));
process.on("exit", (code) => console.log("exit", String(code)));
setTimeout(() => {
    throw new Error("in a timer");
}, 200);
setTimeout(() => console.log("the next timer"), 200);
setImmediate(() => {
    throw new Error("in an immediate");
});
setImmediate(() => console.log("the next immediate"));
process.nextTick(() => {
    throw new Error("in a tick");
});
process.nextTick(() => console.log("the next tick"));
queueMicrotask(() => {
    throw new Error("in a microtask");
});
queueMicrotask(() => console.log("the next microtask"));
Promise.reject(new Error("rejected"));
Promise.reject(7).catch(() => console.log("handled"));
setTimeout(() => {
    Promise.reject(8);
}, 300);
setTimeout(() => {
    throw 9;
}, 400);
throw new Error("in main");
