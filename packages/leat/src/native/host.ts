// Which Node on which machine wants the addon, and whether there can be one for it.
import { closeSync, openSync, readSync } from "node:fs";
import { AddonError } from "./error";

/** The C library that Node itself is linked with; `unknown` where its program cannot be read. */
export type Libc = "gnu" | "musl" | "unknown";

/** What decides which addon fits. Tests fake it. */
export interface Host {
    platform: string;
    arch: string;
    /** Asked for on Linux only. */
    libc: () => Libc;
    /** `process.versions.node`, such as `20.20.2`. */
    node: string;
    /** `process.versions.napi`. */
    napi: string;
}

/** Platforms that the package brings an addon for. Elsewhere one that was built from the sources is loaded. */
const BROUGHT = ["linux-x64-gnu"];

const NODE_MAJOR_MIN = 20;
const NAPI_MIN = 9;

/** How much of a program is read to find its interpreter; the headers stand at its start. */
const PROGRAM_BYTES_MAX = 4096;

/** The host that this code runs on. */
export function thisHost(): Host {
    return {
        platform: process.platform,
        arch: process.arch,
        libc: () => libcOf(process.execPath),
        node: process.versions.node,
        napi: process.versions["napi"] ?? "0",
    };
}

/** The name of the addon's platform, such as `linux-x64-gnu`. A C library that is not known is taken to be glibc. */
export function platformOf(host: Host): string {
    const base = `${host.platform}-${host.arch}`;
    return host.platform === "linux" ? `${base}-${host.libc() === "musl" ? "musl" : "gnu"}` : base;
}

/** Throws `LEAT_UNSUPPORTED_NODE` for a Node that is too old to load the addon. */
export function requireNode(host: Host): void {
    if (Number.parseInt(host.node, 10) >= NODE_MAJOR_MIN && Number(host.napi) >= NAPI_MIN) return;
    throw new AddonError(
        "LEAT_UNSUPPORTED_NODE",
        `Leat needs Node.js 20.3 or newer, and this is ${host.node}: install a newer Node.js, or stay with node:http`,
    );
}

/** The error for a `platform` whose addon does not exist at `path`, which `LEAT_ADDON` named if it was `asked` for. */
export function missing(platform: string, path: string, asked: boolean): AddonError {
    if (asked) {
        return new AddonError("LEAT_ADDON_MISSING", `LEAT_ADDON names ${path}, which is not there: correct it, or leave it out for the package's own addon`);
    }
    if (BROUGHT.includes(platform)) {
        return new AddonError(
            "LEAT_ADDON_MISSING",
            `Leat's addon for ${platform} is not at ${path}: install the package again, or run \`make build\` in Leat's sources`,
        );
    }
    const wayOut = platform.endsWith("-musl")
        ? "this Node.js is linked with musl (as on Alpine), so use one that is linked with glibc (an image such as node:22-slim)"
        : "run Leat on one of these";
    return new AddonError(
        "LEAT_UNSUPPORTED_PLATFORM",
        `Leat has no addon for ${platform}, only for ${BROUGHT.join(", ")}: ${wayOut}, build one with \`make build\` in Leat's sources, or stay with node:http`,
    );
}

/**
 * The C library of the ELF program at `path`, told by its interpreter (`PT_INTERP`): `/lib/ld-musl-x86_64.so.1` or
 * `/lib64/ld-linux-x86-64.so.2`. Process reports say it too, but take milliseconds and look up names of peers.
 */
export function libcOf(path: string): Libc {
    const start = Buffer.alloc(PROGRAM_BYTES_MAX);
    try {
        const file = openSync(path, "r");
        try {
            readSync(file, start, 0, start.length, 0);
        } finally {
            closeSync(file);
        }
    } catch {
        // Node's permission model hides the program, for one. What cannot be read is not known.
        return "unknown";
    }
    const interpreter = /\/ld-(musl|linux)[-\w]*\.so\.\d/.exec(start.toString("latin1"));
    if (interpreter === null) return "unknown";
    return interpreter[1] === "musl" ? "musl" : "gnu";
}
