console.log(process.platform, process.arch, process.pid > 1, process.ppid > 0, process.argv.length, process.argv[1] === __filename, process.cwd() === __dirname, process.title.length > 0);
console.log(Object.prototype.toString.call(process), process instanceof require("events"), typeof process.version, process.version.startsWith("v"), typeof process.versions.node, process.release.name);
process.env.A_NUMBER = 5;
process.env.AN_UNDEFINED = undefined;
console.log(typeof process.env.A_NUMBER, process.env.AN_UNDEFINED, process.env.NOT_THERE, "A_NUMBER" in process.env, delete process.env.A_NUMBER, "A_NUMBER" in process.env, Object.keys(process.env).includes("PATH"));
const [seconds, nanoseconds] = process.hrtime();
const since = process.hrtime([seconds, nanoseconds]);
console.log(typeof seconds, typeof nanoseconds, since.length, since[0] < 5, typeof process.hrtime.bigint(), process.uptime() > 0, process.uptime() < 60);
console.log(Object.keys(process.memoryUsage()).join(), process.memoryUsage.rss() > 1e6, Object.keys(process.cpuUsage()).join(), Object.keys(process.resourceUsage()).join());
console.log(process.getuid(), process.geteuid(), process.getgid(), process.getegid(), process.umask().toString(8), process.umask(0o22).toString(8), process.umask().toString(8));
process.chdir("/");
console.log(process.cwd(), process.kill(process.pid, 0), process.execArgv.length, process.exitCode, process.stdout.fd, process.stderr.fd, process.stdout.isTTY);
for (const wrong of [() => process.chdir("/not/there"), () => process.chdir(5), () => process.kill("x"), () => process.kill(process.pid, "SIGWHAT"), () => process.kill(2 ** 22 + 5, 0), () => process.hrtime(5), () => process.hrtime([1]), () => process.umask("9"), () => process.cpuUsage({ user: "x" }), () => process.emitWarning(5), () => process.nextTick()]) {
    try {
        wrong();
        console.log("nothing");
    } catch (error) {
        console.log(error.name, error.code, error.syscall, error.errno, error.message);
    }
}
process.on("warning", (warning) => console.log("warning", warning.name, warning.code, warning.detail, warning.message));
process.emitWarning("one");
process.emitWarning("two", { type: "Own", code: "C1", detail: "more" });
process.emitWarning("three", "DeprecationWarning", "DEP1");
process.emitWarning(Object.assign(new Error("four"), { name: "Mine" }));
process.on("SIGUSR2", (name, number) => {
    console.log("signal", name, number);
    clearInterval(waiting);
    process.removeAllListeners("SIGUSR2");
});
const waiting = setInterval(() => {}, 1000);
setTimeout(() => process.kill(process.pid, "SIGUSR2"), 5);
