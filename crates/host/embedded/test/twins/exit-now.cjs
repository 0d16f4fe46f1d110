process.on("exit", (code) => console.log("exit", String(code), String(process.exitCode)));
function leave() {
    try {
        process.exit(5);
    } catch {
        console.log("never");
    } finally {
        console.log("never");
    }
}
setTimeout(() => {
    [1].forEach(leave);
    console.log("never");
}, 1);
setTimeout(() => console.log("never"), 1);
process.nextTick(() => console.log("tick"));
