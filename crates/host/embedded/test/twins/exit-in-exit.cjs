process.on("exit", (code) => {
    console.log("first", String(code));
    process.exit(4);
});
process.on("exit", (code) => console.log("second", String(code)));
Promise.resolve().then(() => process.exit());
