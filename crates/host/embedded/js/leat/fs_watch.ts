// Watching files: by looking again and again (`watchFile`), which works on every file system.
import { EventEmitter } from "node:events";
import { missing } from "./coded";
import { checkCallback, later, toOptions, toPath, toStats, type Facts, type Stats } from "./fs";

const INTERVAL_MS = 5007;
const nothing = (): Stats => toStats(new Array<number>(18).fill(0));

/** One file that is watched. */
export class StatWatcher extends EventEmitter {
    #timer: ReturnType<typeof setTimeout> | undefined;
    #before: Stats | undefined;
    #stopped = false;
    readonly #path: string | Uint8Array;
    readonly #interval: number;
    #persistent: boolean;

    constructor(path: string | Uint8Array, interval: number, persistent: boolean) {
        super();
        this.#path = path;
        this.#interval = interval;
        this.#persistent = persistent;
        this.#look();
    }

    #look(): void {
        later("stat", this.#path, (error: Error | null, facts: Facts) => {
            if (this.#stopped) return;
            const now = error ? nothing() : toStats(facts);
            const before = this.#before;
            this.#before = now;
            // A file that is not there at first is told of, as in Node.
            const changed = before === undefined ? error !== null : now.mtimeMs !== before.mtimeMs || now.ctimeMs !== before.ctimeMs || now.size !== before.size || now.ino !== before.ino;
            if (changed) this.emit("change", now, before ?? nothing());
            if (this.#stopped) return;
            this.#timer = setTimeout(() => this.#look(), this.#interval);
            if (!this.#persistent) this.#timer.unref();
        });
    }

    stop(): void {
        this.#stopped = true;
        clearTimeout(this.#timer);
        process.nextTick(() => this.emit("stop"));
    }
    ref(): this {
        this.#persistent = true;
        this.#timer?.ref();
        return this;
    }
    unref(): this {
        this.#persistent = false;
        this.#timer?.unref();
        return this;
    }
}

const watchers = new Map<string, StatWatcher>();
const keyOf = (path: unknown): [string | Uint8Array, string] => {
    const from = toPath(path);
    return [from, (require("node:path") as typeof import("node:path")).resolve(typeof from === "string" ? from : Buffer.from(from).toString())];
};

export function watchFile(path: unknown, ...rest: unknown[]): StatWatcher {
    const [from, key] = keyOf(path);
    const listener = checkCallback<(...given: unknown[]) => void>(rest.pop(), "listener");
    const { interval = INTERVAL_MS, persistent = true } = (rest[0] ?? {}) as { interval?: number; persistent?: boolean };
    let watcher = watchers.get(key);
    if (watcher === undefined) watchers.set(key, (watcher = new StatWatcher(from, interval, persistent)));
    watcher.on("change", listener);
    return watcher;
}

export function unwatchFile(path: unknown, listener?: (...given: unknown[]) => void): void {
    const [, key] = keyOf(path);
    const watcher = watchers.get(key);
    if (watcher === undefined) return;
    if (listener === undefined) watcher.removeAllListeners("change");
    else watcher.removeListener("change", listener);
    if (watcher.listenerCount("change") > 0) return;
    watcher.stop();
    watchers.delete(key);
}

const refused = (): Error => missing("fs.watch", "use fs.watchFile, or run the program with `node --import leat/register`");

export function watch(path: unknown, options?: unknown): never {
    toPath(path, "filename");
    toOptions(typeof options === "function" ? {} : options, {});
    throw refused();
}

export function changes(_path: unknown, _options: unknown): never {
    throw refused();
}
