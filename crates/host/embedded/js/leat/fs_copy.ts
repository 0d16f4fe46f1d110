// `fs.cp`: a file or a whole folder.
import { call, checkCallback, codedError, invalidType, promised, toPath, toStats, type Callback, type Facts, type Listed, type Stats } from "./fs";

interface Options {
    dereference?: boolean;
    errorOnExist?: boolean;
    filter?: (from: string, to: string) => boolean | Promise<boolean>;
    force?: boolean;
    mode?: number;
    preserveTimestamps?: boolean;
    recursive?: boolean;
    verbatimSymlinks?: boolean;
}

/** Folders below each other. */
const DEPTH_MAX = 1000;

type Step = { name: string; given: unknown[] };
/** One description for both forms: it yields what it wants done, and is given what came of it. */
type Work = Generator<Step | Promise<boolean>, void, never>;

const step = (name: string, ...given: unknown[]): Step => ({ name, given });
/** An error as of a call of the system: Node's SystemError. */
function failure(code: string, message: string, errno = 22): Error {
    const error = codedError(code, message) as Error & { errno?: number; syscall?: string; path?: string };
    error.name = "SystemError";
    error.errno = errno;
    error.syscall = "cp";
    error.path = message.slice(message.lastIndexOf(" ") + 1);
    return error;
}

function* look(path: string, follow: boolean): Generator<Step, Stats | undefined, never> {
    const facts = (yield step(follow ? "stat" : "lstat", path)) as Facts | Error;
    if (!(facts instanceof Error)) return toStats(facts);
    if ((facts as { code?: string }).code === "ENOENT") return undefined;
    throw facts;
}

function* must(work: Step): Generator<Step, unknown, never> {
    const value = (yield work) as unknown;
    if (value instanceof Error) throw value;
    return value;
}

function* copy(from: string, to: string, options: Options, depth: number): Work {
    if (options.filter !== undefined) {
        const wanted = (yield options.filter(from, to) as Promise<boolean>) as boolean;
        if (!wanted) return;
    }
    const found = (yield* look(from, options.dereference === true)) as Stats | undefined;
    if (found === undefined) return void (yield* must(step(options.dereference === true ? "stat" : "lstat", from)));
    const there = (yield* look(to, false)) as Stats | undefined;
    if (there !== undefined && there.ino === found.ino && there.dev === found.dev) throw failure("ERR_FS_CP_EINVAL", `Invalid src or dest: cp returned EINVAL (src and dest cannot be the same) ${to}`);
    if (found.isDirectory()) {
        if (options.recursive !== true) throw failure("ERR_FS_EISDIR", `Path is a directory: cp returned EISDIR (${from} is a directory (not copied)) ${from}`);
        if (there !== undefined && !there.isDirectory()) throw failure("ERR_FS_CP_DIR_TO_NON_DIR", `Cannot overwrite non-directory with directory: cp returned EISDIR (cannot overwrite non-directory ${to} with directory ${from}) ${to}`);
        if (`${to}/`.startsWith(`${from}/`)) throw failure("ERR_FS_CP_EINVAL", `Cannot copy a directory to a subdirectory of self: cp returned EINVAL (cannot copy ${from} to a subdirectory of self ${to}) ${to}`);
        if (depth > DEPTH_MAX) throw failure("ELOOP", `ELOOP: too many folders below each other, cp '${from}' -> '${to}'`);
        if (there === undefined) yield* must(step("mkdir", to, found.mode & 0o7777, true));
        const [names] = (yield* must(step("readdir", from, false, false, false))) as Listed;
        for (const name of names) yield* copy(`${from}/${String(name)}`, `${to}/${String(name)}`, options, depth + 1);
        return;
    }
    if (there?.isDirectory()) throw failure("ERR_FS_CP_NON_DIR_TO_DIR", `Cannot overwrite directory with non-directory: cp returned ENOTDIR (cannot overwrite directory ${to} with non-directory ${from}) ${to}`);
    if (there !== undefined && options.force === false) {
        if (options.errorOnExist === true) throw failure("ERR_FS_CP_EEXIST", `Target already exists: cp returned EEXIST (${to} already exists) ${to}`);
        return;
    }
    if (there === undefined) yield* must(step("mkdir", to.slice(0, Math.max(1, to.lastIndexOf("/"))) || ".", 0o777, true));
    if (found.isSymbolicLink()) {
        const target = (yield* must(step("readlink", from, false))) as string;
        if (there !== undefined) yield* must(step("unlink", to));
        const resolved = options.verbatimSymlinks === true || target.startsWith("/") ? target : (require("node:path") as typeof import("node:path")).resolve(from, "..", target);
        return void (yield* must(step("symlink", resolved, to)));
    }
    if (!found.isFile()) throw failure("ERR_FS_CP_SOCKET", `Cannot copy a file of this kind: cp returned EINVAL (cannot copy ${from}) ${to}`);
    yield* must(step("copyFile", from, to, options.mode ?? 0));
    if (options.preserveTimestamps === true) yield* must(step("utimes", to, found.atimeMs / 1000, found.mtimeMs / 1000));
}

function begin(from: unknown, to: unknown, options: unknown): Work {
    if (options !== undefined && options !== null && typeof options !== "object") throw invalidType("options", "of type object", options);
    const text = (path: string | Uint8Array): string => (require("node:path") as typeof import("node:path")).resolve(typeof path === "string" ? path : Buffer.from(path).toString());
    return copy(text(toPath(from, "src")), text(toPath(to, "dest")), (options ?? {}) as Options, 0);
}

export function cpSync(from: unknown, to: unknown, options?: unknown): void {
    const work = begin(from, to, options);
    for (let next = work.next(); !next.done; ) {
        const wanted = next.value;
        if (!("name" in (wanted as object))) {
            next = work.next(wanted as never);
            continue;
        }
        let value: unknown;
        try {
            value = call((wanted as Step).name, ...(wanted as Step).given);
        } catch (error) {
            value = error;
        }
        next = work.next(value as never);
    }
}

export async function cpPromise(from: unknown, to: unknown, options?: unknown): Promise<void> {
    const work = begin(from, to, options);
    for (let next = work.next(); !next.done; ) {
        const wanted = next.value as Step | Promise<boolean> | boolean;
        if (typeof wanted === "object" && "name" in wanted) next = work.next((await promised(wanted.name, ...wanted.given).catch((error: unknown) => error)) as never);
        else next = work.next((await wanted) as never);
    }
}

export function cp(from: unknown, to: unknown, ...rest: unknown[]): void {
    const callback = checkCallback<Callback>(rest.pop());
    cpPromise(from, to, rest[0]).then(() => process.nextTick(callback, null), (error: unknown) => process.nextTick(callback, error));
}
