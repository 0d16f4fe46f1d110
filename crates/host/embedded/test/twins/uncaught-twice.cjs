process.on("exit", (code) => console.log("exit", String(code)));
process.on("uncaughtException", () => {
    throw new Error("two");
});
setTimeout(() => {
    throw new Error("one");
});
