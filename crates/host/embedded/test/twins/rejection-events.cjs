process.on("unhandledRejection", () => {
    throw new Error("in the listener");
});
process.on("uncaughtException", (error, origin) => console.log(error.message, origin));
process.on("exit", (code) => console.log("exit", String(code)));
Promise.reject(1);
setTimeout(() => console.log("goes on"), 1);
