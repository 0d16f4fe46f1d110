// One connection to a subject: sends bytes, and gathers the replies.
import { connect } from "node:net";

/** A reply longer than this is none that a subject would give. */
const HELD_BYTES_MAX = 1 << 20;

/**
 * Sends `parts` one after the other and closes its side if `eof`. Resolves to `{ replies, closed }` when the subject has
 * closed, has been silent for `quietMs`, or has given `enough` replies (which leaves `closed` undecided). A reply is
 * `{ status, seen }`, where `seen` is what the echo behind the subject says that it got.
 */
export function exchange(port, parts, { eof = false, quietMs = 300, enough = Infinity } = {}) {
    return new Promise((resolve) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
        let held = Buffer.alloc(0);
        let timer;
        const replies = [];
        const finish = (closed) => {
            clearTimeout(timer);
            socket.destroy();
            if (closed && replies.length === 0 && held.length > 0 && !isHead(held)) replies.push({ status: 200, seen: undefined });
            resolve({ replies, closed });
        };
        const quiet = () => {
            clearTimeout(timer);
            timer = setTimeout(() => finish(false), quietMs);
        };
        socket.on("connect", async () => {
            quiet();
            for (const [index, part] of parts.entries()) {
                // A part of its own reaches the subject as a read of its own, most of the time.
                if (index > 0) await new Promise((next) => setTimeout(next, 1));
                if (socket.destroyed) return;
                socket.write(part);
            }
            if (eof) socket.end();
            quiet();
        });
        socket.on("data", (data) => {
            quiet();
            held = Buffer.concat([held, data]);
            for (let reply = take(held); reply; reply = take(held)) {
                held = held.subarray(reply.end);
                if (reply.status >= 200) replies.push({ status: reply.status, seen: reply.seen });
            }
            if (replies.length >= enough) finish(undefined);
            else if (held.length > HELD_BYTES_MAX) finish(true);
        });
        socket.on("end", () => finish(true));
        socket.on("error", () => finish(true));
        socket.on("close", () => finish(true));
    });
}

const isHead = (held) => held.toString("latin1", 0, 5) === "HTTP/".slice(0, held.length);

/** The first whole reply in `held`, or undefined. */
function take(held) {
    const head = held.indexOf("\r\n\r\n");
    if (!isHead(held) || head === -1) return undefined;
    const text = held.toString("latin1", 0, head);
    const status = Number(text.slice(9, 12));
    const echo = /^x-echo: (.*)$/im.exec(text)?.[1];
    const seen = echo === undefined ? undefined : JSON.parse(echo);
    const length = seen?.method === "HEAD" || status < 200 ? 0 : Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
    // The body of a refusal is of no interest, and may be missing: nothing that follows it counts.
    const end = head + 4 + length;
    if (held.length < end && status < 400) return undefined;
    return { status, seen, end: Math.min(end, held.length) };
}
