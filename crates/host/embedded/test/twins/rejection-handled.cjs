process.on("unhandledRejection", (reason, promise) => {
    console.log("unhandled", String(reason), promise instanceof Promise);
    setTimeout(() => promise.catch(() => console.log("caught late")), 1);
});
process.on("rejectionHandled", (promise) => console.log("handled", promise instanceof Promise));
process.on("exit", (code) => console.log("exit", String(code)));
Promise.reject(new Error("one"));
(async () => {
    await null;
    throw "two";
})();
