// node:os, from Linux's own files.
import { dlopen, errnos, priority } from "../leat/errnos";
import { signals } from "../leat/signals";
import { validateInt32 } from "../leat/validate";

interface Native {
    /** Name, node, release, version and machine of the system. */
    uname(): string[];
    /** Load of 1, 5 and 15 minutes, seconds since the start, bytes in all, free, available. */
    system(): number[];
    file(name: string): string | undefined;
    priority(pid: number): number;
    setPriority(pid: number, priority: number): number;
    processors(): number;
}

const { uname, system, file, processors, ...natives } = native("os") as Native;
const named = uname();

function homedir(): string {
    return process.env["HOME"] ?? userInfo().homedir;
}

function tmpdir(): string {
    const { TMPDIR, TMP, TEMP } = process.env as Record<string, string | undefined>;
    const path = TMPDIR || TMP || TEMP || "/tmp";
    return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

interface User {
    readonly uid: number;
    readonly gid: number;
    readonly username: string;
    readonly homedir: string;
    readonly shell: string | null;
}

function userInfo(): User {
    const uid = process.getuid?.() ?? -1;
    const line = (file("passwd") ?? "").split("\n").map((text) => text.split(":")).find((fields) => Number(fields[2]) === uid);
    if (line === undefined) {
        const error = new Error("A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)");
        throw Object.assign(error, { name: "SystemError", code: "ERR_SYSTEM_ERROR", errno: -2, syscall: "uv_os_get_passwd" });
    }
    return { uid, gid: Number(line[3]), username: line[0] ?? "", homedir: line[5] ?? "", shell: line[6] ?? null };
}

/** Milliseconds of a tick of the system's processor times. */
const TICK_MS = 10;

function cpus(): object[] {
    const info = file("cpuinfo") ?? "";
    const models = [...info.matchAll(/^model name\s*:\s*(.*)$/gm)].map((match) => match[1] as string);
    const speeds = [...info.matchAll(/^cpu MHz\s*:\s*(.*)$/gm)].map((match) => Math.trunc(Number(match[1])));
    const times = [...(file("stat") ?? "").matchAll(/^cpu\d+ (.*)$/gm)].map((match) => (match[1] as string).split(" ").map((text) => Number(text) * TICK_MS));
    return times.map(([user = 0, nice = 0, sys = 0, idle = 0, , irq = 0], at) => ({
        model: models[at] ?? "unknown",
        speed: speeds[at] ?? 0,
        times: { user, nice, sys, idle, irq },
    }));
}

function networkInterfaces(): never {
    const error = new Error("leat run has no os.networkInterfaces()");
    throw Object.assign(error, { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
}

function failed(errno: number, syscall: string): void {
    if (errno === 0) return;
    const code = Object.keys(errnos).find((name) => errnos[name] === errno) ?? "EIO";
    const error = new Error(`A system error occurred: ${syscall} returned ${code}`);
    throw Object.assign(error, { name: "SystemError", code: "ERR_SYSTEM_ERROR", errno: -errno, syscall });
}

const os = {
    arch: () => process.arch,
    availableParallelism: processors,
    cpus,
    endianness: () => "LE",
    freemem: () => system()[5],
    getPriority(pid = 0): number {
        validateInt32(pid, "pid");
        return natives.priority(pid);
    },
    homedir,
    hostname: () => named[1],
    loadavg: () => system().slice(0, 3),
    machine: () => named[4],
    networkInterfaces,
    platform: () => "linux",
    release: () => named[2],
    setPriority(pid: number, level?: number): void {
        if (level === undefined) [pid, level] = [0, pid];
        validateInt32(pid, "pid");
        validateInt32(level, "priority", -20, 19);
        failed(natives.setPriority(pid, level), "uv_os_setpriority");
    },
    tmpdir,
    totalmem: () => system()[4],
    type: () => named[0],
    userInfo,
    uptime: () => system()[3],
    version: () => named[3],
    constants: Object.assign(Object.create(null) as object, {
        UV_UDP_REUSEADDR: 4,
        dlopen: Object.assign(Object.create(null) as object, dlopen),
        errno: Object.assign(Object.create(null) as object, errnos),
        signals: Object.assign(Object.create(null) as object, signals),
        priority: Object.assign(Object.create(null) as object, priority),
    }),
    EOL: "\n",
    devNull: "/dev/null",
};

/** As Node's: they are their own values where a text is wanted. */
for (const name of ["arch", "endianness", "hostname", "homedir", "release", "tmpdir", "type", "version", "platform", "machine", "uptime", "totalmem", "freemem"] as const) {
    const run = os[name] as (() => unknown) & { [Symbol.toPrimitive]?: () => unknown };
    if (name !== "platform") run[Symbol.toPrimitive] = () => run();
}

module.exports = os;
