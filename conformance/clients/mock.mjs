// `leat mock` with the rules of this folder, and other commands, on a free port.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));
const START_MS_MAX = 20_000;

/** The binary that the tests run: LEAT_BIN, or what was built last for them. */
function binary() {
    const found = [process.env.LEAT_BIN, join(root, "target", "debug", "leat"), join(root, "target", "release", "leat")].find((path) => path && existsSync(path));
    if (found === undefined) throw new Error("there is no leat: cargo build -p leat-cli");
    return found;
}

/** Starts the mock; `address` is host and port, `log` what it has said so far, `stop` ends it. */
export function start(...more) {
    return launch("mock", "--proto", join(here, "notes.proto"), "--rules", join(here, "rules.yaml"), "--listen", "127.0.0.1:0", ...more);
}

/** Starts a command that listens on a port of 127.0.0.1. */
export async function launch(...args) {
    const child = spawn(binary(), args, { stdio: ["ignore", "inherit", "pipe"] });
    child.stderr.setEncoding("utf8");
    let text = "";
    const address = await new Promise((resolve, reject) => {
        const timer = setTimeout(() => { reject(new Error(`leat ${args[0]} does not say where it listens: ${text}`)); }, START_MS_MAX);
        child.once("exit", (code) => { reject(new Error(`leat ${args[0]} ended with ${code}: ${text}`)); });
        child.stderr.on("data", (piece) => {
            text += piece;
            const found = /127\.0\.0\.1:[1-9]\d*/.exec(text);
            if (found === null) return;
            clearTimeout(timer);
            resolve(found[0]);
        });
    });
    return { address, log: () => text, stop: () => child.kill() };
}
