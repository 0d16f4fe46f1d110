// Plays the requests of a case against a server: what came back on each connection, and what was waited for in vain.
import { Peer } from "../../differential/peer.mjs";
import { Progress, canonical } from "./reply.mjs";
import { compiled } from "./request.mjs";

const WAIT_MS = Number(process.env.LEAT_CASE_WAIT_MS ?? 8000);

class Unmet extends Error {}

/** `until(text)` resolves to whether the program's log holds it in time. */
export async function exchange(where, entry, requests, until) {
    const connections = [];
    const unmet = [];
    const kept = new Map();
    try {
        for (const [index, request] of requests.entries()) {
            const last = request.connection === undefined || !requests.slice(index + 1).some(({ connection }) => connection === request.connection);
            const line = kept.get(request.connection) ?? (await opened(where));
            if (request.connection !== undefined && !kept.has(request.connection)) kept.set(request.connection, line);
            if (!connections.includes(line)) connections.push(line);
            await play(line, compiled(request, last), last, until);
        }
    } catch (error) {
        if (!(error instanceof Unmet)) throw error;
        unmet.push(error.message);
    }
    const seen = connections.map(({ peer, methods, cut }) => ({ bytes: cut === "asking" ? "(cut)" : canonical(peer.text, methods, { mask: entry.mask, headOnly: cut === "answered" }), end: "" }));
    for (const { peer } of connections) peer.destroy();
    return { connections: seen, unmet };
}

async function opened(where) {
    // `cut`: the client cut it off while it was `asking`, or being `answered`; how much came by then is a matter of luck.
    const line = { methods: [], progress: new Progress(), cut: undefined, touched: () => {} };
    line.peer = await Peer.connect(where, undefined, () => line.touched());
    return line;
}

async function play(line, { parts, methods, given }, last, until) {
    const { peer } = line;
    const { abortAfter, abortAfterReply, wait, replies = methods.length } = given;
    const logged = async (text) => {
        if (!(await until(text))) throw new Unmet(`waited in vain for ${JSON.stringify(text)} in the log`);
    };
    if (abortAfter !== undefined) {
        peer.send(Buffer.concat(parts.filter(Buffer.isBuffer)).subarray(0, abortAfter));
        if (wait !== undefined) await logged(wait);
        line.cut = "asking";
        peer.destroy();
        return;
    }
    if (wait !== undefined && abortAfterReply === undefined) await logged(wait);
    const expected = line.progress.count + replies;
    line.methods.push(...methods);
    for (const part of parts) {
        if (Buffer.isBuffer(part)) peer.send(part);
        else if (part.reply !== undefined) await met(line, () => peer.text.includes(part.reply), JSON.stringify(part.reply));
        else await logged(part.log);
    }
    if (abortAfterReply !== undefined) {
        await met(line, () => peer.text.length >= abortAfterReply, `${abortAfterReply} bytes`);
        if (wait !== undefined) await logged(wait);
        line.cut = "answered";
        peer.destroy();
        return;
    }
    const answered = () => {
        line.progress.advance(peer.text, line.methods);
        return line.progress.count >= expected;
    };
    await met(line, () => answered() || peer.end !== "open", "a reply");
    if (!last) return;
    // A connection that the server keeps is ended here, and then by the server too.
    if (peer.end === "open" && !closes(parts)) peer.fin();
    await met(line, () => peer.end !== "open", "the end of the connection");
}

const closes = (parts) => parts.some((part) => Buffer.isBuffer(part) && /\r\nconnection: *close\r\n/i.test(part.toString("latin1")));

async function met(line, holds, what) {
    if (holds()) return;
    await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Unmet(`waited in vain for ${what}`)), WAIT_MS);
        line.touched = () => {
            if (!holds()) return;
            clearTimeout(timer);
            line.touched = () => {};
            resolve();
        };
    });
}
