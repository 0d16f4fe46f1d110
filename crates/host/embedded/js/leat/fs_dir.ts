// `fs.Dir`: a folder that is read entry by entry. What it lists is read when it is opened.
import { call, codedError, promised, toEntries, toPath, type Callback, type Dirent, type Listed } from "./fs";

interface Options {
    encoding?: string | null;
    recursive?: boolean;
}

const gone = () => codedError("ERR_DIR_CLOSED", "Directory handle was closed");
const made = Symbol("made");

export class Dir {
    readonly path: string;
    #left: Dirent[];
    #closed = false;

    constructor(path: string, left: Dirent[], by?: symbol) {
        if (by !== made) throw new TypeError("Illegal constructor");
        this.path = path;
        this.#left = left;
    }

    static #of(path: string | Uint8Array, listed: Listed, options: Options | undefined): Dir {
        const folder = typeof path === "string" ? path : Buffer.from(path).toString();
        const entries = toEntries(listed, folder, { withFileTypes: true, encoding: options?.encoding ?? "utf8" });
        return new Dir(folder, entries as Dirent[], made);
    }

    static openSync(path: unknown, options?: Options): Dir {
        const from = toPath(path);
        return Dir.#of(from, call("readdir", from, options?.recursive === true, false, true) as Listed, options);
    }

    static async open(path: unknown, options?: Options): Promise<Dir> {
        const from = toPath(path);
        return Dir.#of(from, await promised<Listed>("readdir", from, options?.recursive === true, false, true), options);
    }

    readSync(): Dirent | null {
        if (this.#closed) throw gone();
        return this.#left.shift() ?? null;
    }

    read(callback?: Callback): Promise<Dirent | null> | void {
        if (callback === undefined) return Promise.resolve().then(() => this.readSync());
        if (this.#closed) throw gone();
        process.nextTick(callback, null, this.readSync());
    }

    closeSync(): void {
        if (this.#closed) throw gone();
        this.#closed = true;
    }

    close(callback?: Callback): Promise<void> | void {
        if (callback === undefined) return Promise.resolve().then(() => this.closeSync());
        this.closeSync();
        process.nextTick(callback, null);
    }

    async *entries(): AsyncGenerator<Dirent, void> {
        try {
            for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry;
        } finally {
            if (!this.#closed) this.closeSync();
        }
    }

    [Symbol.asyncIterator](): AsyncGenerator<Dirent, void> {
        return this.entries();
    }
}
