// Replies off the wire, in a form in which only what can be relied on differs: fields in the order of their names, chunks
// joined, stacks without frames.
import { normalised } from "../../differential/record.mjs";
import { chunksJoined, replyEnd } from "../../differential/replies.mjs";
import { masked } from "./masks.mjs";

const INTERIM = /^HTTP\/1\.1 1(?!01)/;

/** How far the replies on a connection have come, without reading what came before again and again. */
export class Progress {
    /** How many final replies are whole. */
    count = 0;
    #at = 0;
    #needed = 0;

    /** `text` is all that was received, `methods` what was asked. */
    advance(text, methods) {
        while (this.#at < text.length && text.length >= this.#needed) {
            const end = replyEnd(text, this.#at, { bodiless: methods[this.count] === "HEAD" });
            if (end === -1) {
                this.#needed = lengthNeeded(text, this.#at);
                return;
            }
            if (!INTERIM.test(text.slice(this.#at, this.#at + 12))) this.count += 1;
            this.#at = end;
        }
    }
}

/** Where the reply at `at` ends at the least. */
function lengthNeeded(text, at) {
    const body = text.indexOf("\r\n\r\n", at) + 4;
    const length = body < 4 ? null : /\r\ncontent-length: *(\d+)/i.exec(text.slice(at, body));
    return length === null ? 0 : body + Number(length[1]);
}

/** All of `text` as the replies to `methods`, to be compared; `mask` names fields whose values are left out. */
export function canonical(text, methods, { ended = true, mask = [], headOnly = false } = {}) {
    return [...each(text, methods, ended)].map((one) => shown(one, mask, headOnly)).join("");
}

function* each(text, methods, ended) {
    let at = 0;
    for (let index = 0; at < text.length; ) {
        const bodiless = methods[index] === "HEAD";
        const end = text.startsWith("HTTP/", at) ? replyEnd(text, at, { bodiless, ended }) : -1;
        const piece = text.slice(at, end === -1 ? undefined : end);
        const interim = INTERIM.test(piece);
        yield { piece, interim, cut: end === -1 };
        at = end === -1 ? text.length : end;
        if (!interim) index += 1;
    }
}

function shown({ piece, cut }, mask, headOnly) {
    const headEnd = piece.indexOf("\r\n\r\n");
    if (headEnd === -1) return `${piece}\r\n(cut in its head)\r\n`;
    const chunked = /\r\ntransfer-encoding:[^\r]*chunked/i.test(piece.slice(0, headEnd + 2));
    const [status, ...fields] = piece.slice(0, headEnd).split("\r\n");
    const sent = chunked && !cut ? dechunked(piece) : { body: piece.slice(headEnd + 4), trailers: "" };
    const body = masked(readable(sent.body));
    const changed = body !== readable(sent.body);
    const head = fields.map((field) => value(field, mask, changed ? sent.body.length : undefined)).sort(byName);
    const rest = headOnly ? "(its body is a matter of luck)\r\n" : `${body}${cut ? "\r\n(cut)" : ""}\r\n${sent.trailers}`;
    return normalised(`${[status, ...head].join("\r\n")}\r\n\r\n${rest}`);
}

/** The sort is stable: fields of one name stay in their order. */
function byName(left, right) {
    const [a, b] = [left, right].map((field) => field.slice(0, field.indexOf(":")).toLowerCase());
    return a < b ? -1 : a > b ? 1 : 0;
}

/** `length` is that of a body out of which something was masked: its own length and ETag say nothing any more. */
function value(field, mask, length) {
    const name = field.slice(0, field.indexOf(":"));
    const lower = name.toLowerCase();
    if (mask.includes(lower)) return `${name}: <masked>`;
    if (length !== undefined && lower === "content-length" && field.endsWith(` ${length}`)) return `${name}: <right>`;
    if (length !== undefined && lower === "etag") return field.replace(/".*"/, '"<masked>"');
    if (lower === "set-cookie" && mask.includes("cookie expires")) return field.replace(/(Expires=)[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT/, "$1<date>");
    return field;
}

function dechunked(piece) {
    const joined = chunksJoined(piece);
    const all = joined.slice(joined.indexOf("\r\n\r\n") + 4);
    const [line, length] = /^\(chunks of (\d+) bytes\)\r\n/.exec(all);
    const body = all.slice(line.length, line.length + Number(length));
    return { body, trailers: all.slice(line.length + Number(length) + 2).replace(/^0\r\n\r\n$/, "") };
}

/** UTF-8 as text where it is that, else one char a byte. */
function readable(body) {
    const buffer = Buffer.from(body, "latin1");
    const text = buffer.toString("utf8");
    return Buffer.from(text, "utf8").equals(buffer) ? text : body;
}
