// Plays one case on one target and returns what it showed.
import { Session } from "./session.mjs";
import { get, reply } from "./script.mjs";

/**
 * A case:
 * - `name`
 * - one of `handle(req, res, ctx)`, `server(ctx)` → server, `program(ctx)` (listens, or not, by itself)
 * - `options` for createServer, as they are or as a function of ctx; `setup(server, ctx)` before it listens
 * - `script`: bytes and steps (script.mjs); left out: one GET and its reply
 * - `listen`: arguments for listen() in place of port 0 on a loopback address
 * - `secure`: an https server; `client`: TLS options of the client
 * - `joined`: where a reply's body is cut into chunks depends on how reads fall, and is not compared
 * - `serial`: touches what the process shares (uncaught exceptions, diagnostics channels): runs by itself
 * - `dies`: ends the process; `node`: the least major version of Node that has what it shows
 */
export async function play(entry, target) {
    const session = new Session();
    const ctx = context(entry, target, session);
    let server;
    try {
        if (entry.program !== undefined) {
            await bounded(entry.program(ctx));
            await session.quiet();
        } else {
            server = entry.server === undefined ? made(entry, ctx) : await entry.server(ctx);
            await entry.setup?.(server, ctx);
            ctx.opened.push(server);
            session.target(await listening(server, entry.listen), entry.secure ? (entry.client ?? {}) : undefined);
            await session.run(entry.script ?? [get("/"), reply]);
        }
    } catch (error) {
        session.record.add("the case threw", error);
    }
    const result = session.result(entry);
    session.close();
    for (const opened of ctx.opened) takeDown(opened);
    return result;
}

const PROGRAM_MS = 15_000;

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

function context(entry, target, session) {
    const log = (...values) => session.record.add(...values);
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
        when: (name, act) => void session.actions.set(name, act),
        /** For programs: listens, and plays `steps` against it. */
        listening,
        async play(where, ...steps) {
            session.target(where, entry.secure ? (entry.client ?? {}) : undefined);
            await session.run(steps);
        },
        session,
    };
}

/** Not 127.0.0.1: what other programs on the machine send to ports that were theirs a moment ago would be in the way. */
const HOST = "127.0.0.2";

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

function takeDown(server) {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections?.();
}
