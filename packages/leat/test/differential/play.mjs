// Plays one case on one target, all of it in this process, and returns what it showed.
import { Program } from "./program.mjs";
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
 *
 * A script and its program meet on the wire, in the log and by `when`, never in a variable: they may be in two processes.
 */
export async function play(entry, target) {
    const session = new Session();
    const log = (...values) => session.record.add(...values);
    const program = new Program(entry, target, {
        log,
        when: (name, act) => void session.keep(name, async () => {
            try {
                await act();
            } catch (error) {
                log(`${name} threw`, error);
            }
        }),
        play: (where, steps) => session.play(where, entry, steps),
        quiet: () => session.quiet(),
    });
    try {
        await scripted(session, entry, await program.start());
    } catch (error) {
        log("the case threw", error);
    }
    const result = session.result(entry);
    session.close();
    program.close();
    return result;
}

/** The client's part, once the program listens at `where`; if it played by itself, waiting for the rest is all. */
export async function scripted(session, entry, where) {
    if (where === undefined) await session.quiet();
    else await session.play(where, entry, entry.script ?? [get("/"), reply]);
}
