// `res.sendFile`, `res.download` and `res.attachment`.
import { basename, isAbsolute, resolve } from "node:path";
import { type Dialect } from "./dialect";
import { type SentFile } from "./libraries";
import { type Next, type Response } from "./types";

type Done = (error?: unknown) => void;

interface FileOptions {
    root?: string;
    headers?: Record<string, string>;
    etag?: boolean;
}

interface Failure extends Error {
    code?: string;
    syscall?: string;
}

/** The methods that send a file. */
export function fileMethods(dialect: Dialect): object {
    const { contentDisposition, send } = dialect.libraries;

    const methods: ThisType<Response> & object = {
        sendFile(path: unknown, options?: unknown, callback?: Done): void {
            const { req } = this;
            const { next } = req;
            if (!path) throw new TypeError("path argument is required to res.sendFile");
            if (typeof path !== "string") throw new TypeError("path must be a string to res.sendFile");
            const { given, done } = optionsAndCallback(options, callback);
            if (!given.root && !isAbsolute(path)) throw new TypeError("path must be absolute or specify root to res.sendFile");
            const encoded = encodeURI(path);
            if (dialect.version === 5) given.etag = this.app.enabled("etag");
            transfer(dialect, this, send()(req, encoded, given), given, (error) => settle(error, done, next));
        },

        download(path: string, filename?: unknown, options?: unknown, callback?: Done): unknown {
            let done = callback;
            let name = filename as string | null | undefined;
            let given: FileOptions | null = options || null;
            if (typeof filename === "function") {
                done = filename as Done;
                name = null;
                given = null;
            } else if (typeof options === "function") {
                done = options as Done;
                given = null;
            }
            if (typeof filename === "object" && (typeof options === "function" || options === undefined)) {
                name = null;
                given = filename;
            }
            const headers: Record<string, string> = { "Content-Disposition": contentDisposition()(dialect.version === 5 ? basename(name || path) : name || path) };
            if (given?.headers) {
                for (const key of Object.keys(given.headers)) {
                    if (key.toLowerCase() !== "content-disposition") headers[key] = given.headers[key] as string;
                }
            }
            const merged = Object.create(given) as FileOptions;
            merged.headers = headers;
            return this.sendFile(merged.root ? path : resolve(path), merged, done);
        },
    };
    return methods;
}

/** Options may be left out. */
export function optionsAndCallback(options: unknown, callback: Done | undefined): { given: FileOptions; done: Done | undefined } {
    if (typeof options === "function") return { given: {}, done: options as Done };
    return { given: options || {}, done: callback };
}

/** What comes after a transfer: the program's callback, or the next middleware for what can still be answered. */
export function settle(error: unknown, done: Done | undefined, next: Next): void {
    if (done) {
        done(error);
        return;
    }
    const failure = error as Failure | undefined;
    if (failure?.code === "EISDIR") next();
    else if (failure && failure.code !== "ECONNABORTED" && failure.syscall !== "write") next(failure);
}

/** Pipes `file` into `res`, and calls back once. */
export function transfer(dialect: Dialect, res: Response, file: SentFile, options: FileOptions, callback: Done): void {
    let over = false;
    let streaming: boolean | undefined;
    const finish = (error?: unknown): void => {
        if (over) return;
        over = true;
        if (error === undefined) callback();
        else callback(error);
    };
    const abort = (): void => finish(Object.assign(new Error("Request aborted"), { code: "ECONNABORTED" }));
    file.on("directory", () => finish(Object.assign(new Error("EISDIR, read"), { code: "EISDIR" })));
    file.on("end", () => finish());
    file.on("error", finish);
    file.on("file", () => (streaming = false));
    file.on("stream", () => (streaming = true));
    dialect.libraries.onFinished()(res, (error) => {
        if (error?.code === "ECONNRESET") {
            abort();
        } else if (error) {
            finish(error);
        } else if (!over) {
            // The stream's own end may come a turn later than that of the response.
            setImmediate(() => {
                if (streaming !== false && !over) abort();
                else finish();
            });
        }
    });
    const { headers } = options;
    if (headers) {
        file.on("headers", (sending: Response) => {
            for (const name of Object.keys(headers)) sending.setHeader(name, headers[name] as string);
        });
    }
    file.pipe(res);
}
