// twin: stderr
process.on("exit", (code) => {
    console.log("exit", String(code), String(process.exitCode));
    setTimeout(() => console.log("never"));
    process.exitCode = 9;
});
let times = 0;
process.on("beforeExit", (code) => {
    console.log("beforeExit", String(code));
    if (times++ < 2) setTimeout(() => console.log("more"), 1);
});
process.exitCode = 3;
for (const wrong of ["x", 1.5, {}, true, NaN]) {
    try {
        process.exitCode = wrong;
        console.log("nothing");
    } catch (error) {
        console.log(`${error.name} ${error.code} ${error.message}`);
    }
}
