// The program of one case on one target: what stands behind the connections that a session opens. It needs no client, so it can
// live in another process than the session (led.mjs).

const PROGRAM_MS = 15_000;
/** Not 127.0.0.1: what other programs on the machine send to ports that were theirs a moment ago would be in the way. */
const HOST = "127.0.0.2";

export class Program {
    #entry;
    #context;

    /** `client` has `log(...values)`, `when(name, act)`, `play(where, steps)` and `quiet()`, which a session gives. */
    constructor(entry, target, client) {
        this.#entry = entry;
        this.#context = context(entry, target, client);
    }

    /** Runs a program that does all by itself, or begins to listen and tells where. */
    async start() {
        const [entry, ctx] = [this.#entry, this.#context];
        if (entry.program !== undefined) {
            await bounded(entry.program(ctx));
            return undefined;
        }
        const server = entry.server === undefined ? made(entry, ctx) : await entry.server(ctx);
        await entry.setup?.(server, ctx);
        ctx.opened.push(server);
        return listening(server, entry.listen);
    }

    close() {
        for (const server of this.#context.opened) {
            if (!server.listening) continue;
            server.close();
            server.closeAllConnections?.();
        }
    }
}

function bounded(program) {
    let timer;
    const limit = new Promise((_, reject) => void (timer = setTimeout(() => reject(new Error("it does not come to an end")), PROGRAM_MS)));
    return Promise.race([program, limit]).finally(() => clearTimeout(timer));
}

function made(entry, ctx) {
    const options = typeof entry.options === "function" ? entry.options(ctx) : entry.options;
    const listener = entry.handle === undefined ? undefined : (req, res) => entry.handle(req, res, ctx);
    return options === undefined && !entry.secure ? ctx.http.createServer(listener) : ctx.createServer(options ?? {}, listener);
}

function context(entry, target, { log, when, play, quiet }) {
    const createServer = entry.secure
        ? (options, listener) => target.createSecureServer({ ...target.certificate, ...options }, listener)
        : (options, listener) => target.http.createServer(options, listener);
    return {
        http: target.http,
        certificate: target.certificate,
        createServer,
        log,
        opened: [],
        /** Logs what `act` returns or throws. */
        attempt(label, act) {
            let value;
            try {
                value = act();
            } catch (error) {
                log(label, "threw", error);
                return;
            }
            log(label, "->", value === undefined || ["string", "number", "boolean"].includes(typeof value) ? value : Array.isArray(value) ? value : typeof value);
        },
        /** Logs the named events of `emitter`; an error is logged with its code. */
        spy(label, emitter, ...events) {
            for (const event of events) emitter.on(event, (value) => log(label, event, ...(value instanceof Error ? [value] : [])));
        },
        /** Keeps `act` ready for the script's `go(name)`. */
        when,
        /** For programs: listens, and plays `steps` (bytes, and words of script.mjs that take no argument) against it. */
        listening,
        play: (where, ...steps) => play(where, steps),
        quiet,
    };
}

/** Listens and returns where. */
export async function listening(server, args = [0, HOST]) {
    await new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(...args, () => {
            server.removeListener("error", reject);
            resolve();
        });
    });
    const address = server.address();
    return typeof address === "string" ? { path: address } : { port: address.port, host: address.family === "IPv6" ? "::1" : address.address };
}
