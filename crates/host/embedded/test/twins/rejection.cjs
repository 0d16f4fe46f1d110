// twin: stderr
process.on("exit", (code) => console.log("exit", String(code)));
setTimeout(() => console.log("never"), 20);
const late = Promise.reject(new Error("handled in a microtask"));
Promise.resolve().then(() => late.catch((error) => console.log(error.message)));
setTimeout(() => {
    process.nextTick(() => console.log("tick"));
    Promise.reject(new Error("nobody"));
}, 1);
