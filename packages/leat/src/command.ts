// `npx leat`: of the binary's commands it has the one that is about an app on Node.js.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AddonError } from "./native/error";
import { doctor } from "./native/doctor";

const HELP = `Leat for Node.js: import express from "leat/express", or node --import leat/register app.js

Usage: leat doctor [DIR] [--json]

Commands:
  doctor   Say of each middleware of an app whether it works on leat/express
  version  Print the version

Examples:
  npx leat doctor                    the app in this folder, and all members if it is a workspace
  npx leat doctor apps/web --json    one object for programs

All other commands (gateway, check, demo) are those of the binary \`leat\`.
`;

const DOCTOR_HELP = `Say of each middleware of an app on Node.js whether it works on leat/express

Usage: leat doctor [DIR] [--json]

Arguments:
  [DIR]   The app's folder, which has its package.json [default: .]

Options:
      --json  Print JSON
  -h, --help  Print help

Examples:
  leat doctor                        the app in this folder, and all members if it is a workspace
  leat doctor apps/web --json        one object for programs: \`supported\`, and \`apps\` with their \`packages\`

Verdicts: drop-in, needs leat/register (start it with node --import leat/register app.js), not supported, and not tested.
Exit codes: 0 nothing is in the way, 1 something is not supported, 2 bad usage or no app there.
`;

interface Outcome {
    code: number;
    stdout?: string;
    stderr?: string;
}

/** What the command line asks for. */
export function run(args: string[]): Outcome {
    let parsed;
    try {
        parsed = parseArgs({
            args,
            allowPositionals: true,
            options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "V" } },
        });
    } catch (error) {
        return usage((error as Error).message);
    }
    const { positionals, values } = parsed;
    const [command, folder = ".", ...more] = positionals;
    if (values.version === true || command === "version") return { code: 0, stdout: `leat ${version()}\n` };
    if (command === undefined) return values.help === true ? { code: 0, stdout: HELP } : { code: 2, stderr: HELP };
    if (command !== "doctor") return usage(`there is no command ${command} here; write: leat doctor [DIR]`);
    if (values.help === true) return { code: 0, stdout: DOCTOR_HELP };
    if (more.length > 0) return usage(`one folder at a time; write: leat doctor ${folder}`);
    try {
        return doctor(folder, values.json === true);
    } catch (error) {
        if (!(error instanceof AddonError)) throw error;
        return { code: 1, stderr: `leat doctor: ${error.message}\n` };
    }
}

function version(): string {
    return (JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as { version: string }).version;
}

function usage(what: string): Outcome {
    return { code: 2, stderr: `leat: ${what}\nFor more, write: leat --help\n` };
}
