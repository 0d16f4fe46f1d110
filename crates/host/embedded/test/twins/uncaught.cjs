// twin: stderr
process.on("exit", (code) => console.log("exit", String(code)));
process.on("uncaughtExceptionMonitor", (error, origin) => console.log("monitor", error.message, origin));
setTimeout(() => console.log("never"), 50);
setTimeout(() => {
    throw Object.assign(new TypeError("bad thing"), { code: "E_BAD", extra: { a: 1 } });
}, 1);
