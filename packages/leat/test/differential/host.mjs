// A process that plays cases on one target: `host.mjs TARGET`, names in and results out over IPC.
//
// `{ names, width }` has up to `width` cases played at once; at a width of 1 an uncaught exception belongs to the case
// that runs, and is logged there. At a greater width it can't be told whose it is, and the process ends; the runner then plays
// what was under way one by one. A case that `dies` gets a process without any such listener.
import { play } from "./play.mjs";
import { table } from "./table.mjs";
import { target } from "./targets.mjs";

const [, , name, cert, key] = process.argv;
const chosen = await target(name, { cert, key });

process.once("message", async ({ names, width, guarded }) => {
    let current = null;
    if (guarded && width === 1) {
        process.on("uncaughtException", (error, origin) => current?.(`uncaught (${origin})`, error));
    }
    const queue = [...names];
    const worker = async () => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
            process.send({ began: next });
            const entry = table.get(next);
            const watched = (log) => void (current = log);
            process.send({ name: next, result: await play(width === 1 ? watching(entry, watched) : entry, chosen) });
            current = null;
        }
    };
    await Promise.all(Array.from({ length: width }, worker));
    process.send({ done: true }, () => process.exit(0));
});

/** The same case, giving its log away as soon as it has one. */
function watching(entry, watched) {
    const given = (make) => make && ((ctx) => (watched(ctx.log), make(ctx)));
    if (entry.program) return { ...entry, program: given(entry.program) };
    if (entry.server) return { ...entry, server: given(entry.server) };
    return { ...entry, setup: (server, ctx) => (watched(ctx.log), entry.setup?.(server, ctx)) };
}
