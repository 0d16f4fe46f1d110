// What the tests of leat/rpc serve, and how they ask it.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { createServer } from "leat/rpc";
import { Note, Notes } from "./schema.mjs";

/** What the implementations saw of calls that their client left. */
export const seen = { aborted: [], asked: 0 };

export const implementation = {
    say(note, context) {
        context.responseHeader.set("x-head", context.requestHeader.get("x-ask") ?? "");
        context.responseTrailer.set("x-trail", "end");
        if (note.text === "refuse") throw new ConnectError("no, grüße 100 %", Code.PermissionDenied, { "x-why": "rule" }, [{ desc: Note, value: { text: "detail" } }]);
        if (note.text === "bug") throw new Error("secret");
        if (note.text === "protocol") return { text: `${context.protocolName} ${context.requestMethod} ${new URL(context.url).pathname}` };
        if (note.text === "slow") return waiting(context);
        return note;
    },
    async* count(note, context) {
        for (let id = 0n; id < note.id; id += 1n) {
            if (note.text === "break" && id === 2n) throw new ConnectError("broken", Code.Aborted);
            seen.asked = Number(id);
            yield { id, data: note.data };
        }
        context.responseTrailer.set("x-trail", "counted");
    },
    async join(notes) {
        const texts = [];
        for await (const { text } of notes) texts.push(text);
        return { text: texts.join(" "), id: BigInt(texts.length) };
    },
    async* talk(notes) {
        for await (const note of notes) yield { ...note, text: `re: ${note.text}` };
    },
};

async function waiting(context) {
    try {
        await pause(20_000, undefined, { signal: context.signal });
    } catch {
        seen.aborted.push(context.signal.reason);
        throw context.signal.reason;
    }
    return {};
}

/** A server on a free port, closed when the test ends. */
export async function serve(t, options = {}) {
    const server = createServer({ routes: (router) => router.service(Notes, implementation), ...options });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => { server.close(); server.closeAllConnections(); });
    return `http://127.0.0.1:${server.address().port}`;
}
