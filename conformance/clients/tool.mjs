// Programs that others wrote, as far as they are installed (tools/install.sh test).
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const tools = fileURLToPath(new URL("../../target/tools/", import.meta.url));
const RUN_MS_MAX = 60_000;

/** Python with grpcio and its compiler of .proto files. */
export const python = join(tools, "python", "bin", "python");

/** The path of a program, or `undefined`. */
export function find(name) {
    if (name.includes("/")) return existsSync(name) ? name : undefined;
    return [join(tools, "bin"), ...(process.env.PATH ?? "").split(delimiter)].map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** For node:test: runs unless `name` is missing, and says so then. */
export const needs = (name) => ({ skip: find(name) === undefined && `${name} is not installed: tools/install.sh test` });

/** What a program prints and its exit code; `input` goes to its standard input. */
export function run(name, args, input = "") {
    return new Promise((resolve) => {
        const child = execFile(find(name), args, { timeout: RUN_MS_MAX, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
            resolve({ code: error === null ? 0 : (error.code ?? 1), stdout, stderr });
        });
        child.stdin.end(input);
    });
}
