// The vocabulary of scripts: a script is a list of bytes to send and of the steps below. No step sleeps; each waits for
// a condition, or (`quiet`) until nothing has happened for a while.
import { replyEnd } from "./replies.mjs";

/** A request without a body; `fields` are whole lines. */
export const get = (target = "/", ...fields) => request("GET", target, ...fields);

export const request = (method, target = "/", ...fields) => `${[`${method} ${target} HTTP/1.1`, "Host: a", ...fields].join("\r\n")}\r\n\r\n`;

/** A request with a body of a known length. */
export const post = (target, body, ...fields) => request("POST", target, `Content-Length: ${Buffer.byteLength(body, "latin1")}`, ...fields) + body;

/** The head of a chunked request. */
export const chunkedPost = (target = "/", ...fields) => request("POST", target, "Transfer-Encoding: chunked", ...fields);

export const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Waits for one whole reply on the connection; a 1xx counts as one. */
export const reply = (session) => waitReply(session, false);

/** As `reply`, for HEAD: a head is all there is. */
export const headReply = (session) => waitReply(session, true);

export const replies = (count) => async (session) => {
    for (let i = 0; i < count; i += 1) await reply(session);
};

async function waitReply(session, bodiless) {
    const { peer } = session;
    const end = () => replyEnd(peer.text, peer.cursor, { bodiless, ended: peer.end !== "open" });
    await session.until(() => end() !== -1, "a whole reply");
    peer.cursor = end();
}

/** Waits until `text` was received behind what the script has already seen. */
export const until = (text) => async (session) => {
    const { peer } = session;
    await session.until(() => peer.text.includes(text, peer.cursor), `the bytes ${JSON.stringify(text)}`);
    peer.cursor = peer.text.indexOf(text, peer.cursor) + text.length;
};

/** Waits until `count` bytes have come on the connection. */
export const received = (count) => (session) => session.until(() => session.peer.text.length >= count, `${count} bytes`);

/** Waits until the server has ended the connection, with FIN or RST. */
export const ended = async (session) => {
    session.peer.endAwaited = true;
    await session.until(() => session.peer.end !== "open", "the end of the connection");
};

/** Waits until the log has `count` lines that contain `text`. */
export const logged = (text, count = 1) => (session) => session.until(() => session.record.count(text) >= count, `${count} × ${JSON.stringify(text)} in the log`);

/** Has the program do what it keeps ready under `name` (see `when`). */
export const go = (name) => async (session) => {
    await session.until(() => session.actions.has(name), `the action ${name}`);
    await session.actions.get(name)();
};

/** Half-closes, cuts off, stops and goes on reading. */
export const fin = ({ peer }) => peer.fin();
export const reset = ({ peer }) => peer.reset();
export const pause = ({ peer }) => peer.pause();
export const resume = ({ peer }) => peer.resume();

/** Waits until nothing has happened for a while: for what must not happen. */
export const quiet = (session) => session.quiet();

/** As `quiet`, where it depends on the version of Node whether the connection has ended by then. */
export const over = async (session) => {
    session.peer.endAwaited = true;
    await session.quiet();
};

/** Takes the given steps on connection `index` (0 is the one that is there from the start), which is opened if need be. */
export const via = (index, ...steps) => (session) => session.via(index, steps);
